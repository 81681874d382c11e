import AuthRecovery
import HTTPRecovery
import Testing

@Suite("OAuth's error words")
struct OAuthErrorTests {
    @Test(
        arguments: [
            (
                "invalid_grant", Outcome.CredentialKind.refresh, Outcome.Kind.credentialRejected,
                Outcome.TokenAction.clear
            ),
            ("invalid_grant", .code, .credentialRejected, .clear), ("invalid_grant", nil, .credentialRejected, .keep),
            ("invalid_grant", .client, .credentialRejected, .keep), ("invalid_grant", .state, .flowExpired, .clear),
            ("invalid_token", .access, .credentialRejected, .clear), ("invalid_token", nil, .credentialRejected, .keep),
            ("expired_token", .access, .credentialRejected, .clear), ("expired_token", .device, .flowExpired, .clear),
            ("expired_token", nil, .flowExpired, .keep),
            ("invalid_client", .refresh, .misconfigured, .keep),
            ("unauthorized_client", .refresh, .misconfigured, .keep),
            ("unsupported_grant_type", .refresh, .misconfigured, .keep),
            ("invalid_scope", .refresh, .invalidRequest, .keep),
            ("invalid_request", .refresh, .invalidRequest, .keep), ("access_denied", .device, .declined, .clear),
            ("server_error", .refresh, .unavailable, .keep), ("temporarily_unavailable", .refresh, .unavailable, .keep),
            ("authorization_pending", .device, .challengePending, .keep),
            ("slow_down", .device, .challengePending, .keep),
            ("use_dpop_nonce", .refresh, .nonceRequired, .keep),
            ("insufficient_scope", .access, .permissionDenied, .keep),
            ("consent_required", .session, .userActionRequired, .keep), ("made_up", .refresh, nil, .keep),
        ] as [(String, Outcome.CredentialKind?, Outcome.Kind?, Outcome.TokenAction)]
    )
    func word(
        word: String,
        presented: Outcome.CredentialKind?,
        kind: Outcome.Kind?,
        action: Outcome.TokenAction
    ) {
        let outcome = OAuthError(word: OAuthError.Word(rawValue: word), detail: "why").outcome(presented: presented)
        #expect(outcome?.kind == kind)
        if let outcome {
            #expect(outcome.tokenAction == action && outcome.code == word && outcome.message == "why")
        }
    }

    @Test(arguments: [
        (#"{"error":"invalid_grant","error_description":"d"}"#, OAuthError(word: "invalid_grant", detail: "d")),
        (#"{"error":"invalid_grant","error_description":7}"#, OAuthError(word: "invalid_grant")),
        (#"{"error":{}}"#, nil), (#"{"error":""}"#, nil), ("[]", nil), ("null", nil),
    ])
    func bodies(text: String, error: OAuthError?) throws {
        #expect(OAuthError(try JSONValue(parsing: text)) == error)
    }
}
