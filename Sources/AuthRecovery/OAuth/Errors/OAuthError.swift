public import HTTPRecovery

/// An error by the words of OAuth 2 (RFC 6749 section 5.2 and the specifications that add to it).
public struct OAuthError: Sendable, Hashable {
    /// The word, such as `invalid_grant`.
    public var word: String
    /// The description for developers.
    public var detail: String?

    /// Creates an error.
    public init(word: String, detail: String? = nil) {
        self.word = word
        self.detail = detail
    }

    /// Reads the error of a body such as `{"error":"invalid_grant","error_description":"…"}`; nil where `error` is no
    /// text.
    public init?(_ body: JSONValue) {
        guard let word = body["error"]?.string, !word.isEmpty else { return nil }
        self.word = String(word.prefix(256))
        self.detail = body["error_description"]?.string.map { String($0.prefix(1024)) }
    }

    /// What the word means for the credential that was presented; nil where the word is not known.
    ///
    /// A throttle has to be recognised before: some servers answer a 429 with `invalid_grant`, and a throttle refuses
    /// nothing. Kind, remedies, credential and token action are set; processed, delay and status are the caller's.
    ///
    /// - Parameter presented: The sort of credential that was presented, such as `refresh` in a refresh.
    public func outcome(presented: Outcome.CredentialKind?) -> Outcome? {
        var outcome: Outcome
        switch word {
        case "invalid_grant":
            outcome = Self.refused(presented ?? .refresh)
            if let presented, presented != .client { outcome.tokenAction = .clear }
        case "invalid_token":
            outcome = Self.refused(presented ?? .access)
            if let presented, presented != .client { outcome.tokenAction = .clear }
        case "expired_token" where presented != .access && presented != .session:
            // Of the device flow (RFC 8628 section 3.5); on a resource the word stands for a dead access token.
            outcome = Outcome(.flowExpired, remedies: [.restartFlow])
            outcome.tokenAction = presented == .device ? .clear : .keep
        case "expired_token":
            outcome = Self.refused(presented ?? .access)
            outcome.tokenAction = .clear
        default:
            guard let known = Self.table[word] else { return nil }
            outcome = Outcome(known.kind, remedies: known.remedies)
            outcome.parameter = known.parameter
        }
        outcome.code = word
        outcome.message = detail
        return outcome
    }

    private static func refused(_ credential: Outcome.CredentialKind) -> Outcome {
        // A flow's proof is not a credential to renew.
        if credential == .state { return Outcome(.flowExpired, remedies: [.restartFlow]) }
        var outcome = Outcome(.credentialRejected, scope: .credential)
        outcome.credential = credential
        switch credential {
        case .access, .session, .id: outcome.remedies = [.refreshCredential, .reauthenticate]
        case .code, .device: outcome.remedies = [.restartFlow]
        case .client: outcome.remedies = [.fixRequest]
        case .refresh, .state: outcome.remedies = [.reauthenticate]
        }
        return outcome
    }

    private struct Meaning {
        var kind: Outcome.Kind
        var remedies: [Remedy]
        var parameter: String?
    }

    /// The words that do not depend on the credential; configuration errors keep every token.
    private static let table: [String: Meaning] = [
        "invalid_request": Meaning(kind: .invalidRequest, remedies: [.fixRequest]),
        "invalid_scope": Meaning(kind: .invalidRequest, remedies: [.fixRequest], parameter: "scope"),
        "unsupported_token_type": Meaning(kind: .invalidRequest, remedies: [.fixRequest]),
        "invalid_dpop_proof": Meaning(kind: .invalidRequest, remedies: [.fixRequest]),
        "invalid_client": Meaning(kind: .misconfigured, remedies: [.fixRequest]),
        "unauthorized_client": Meaning(kind: .misconfigured, remedies: [.fixRequest]),
        "unsupported_grant_type": Meaning(kind: .misconfigured, remedies: [.fixRequest]),
        "unsupported_response_type": Meaning(kind: .misconfigured, remedies: [.fixRequest]),
        "access_denied": Meaning(kind: .declined, remedies: []),
        "server_error": Meaning(kind: .unavailable, remedies: [.retry]),
        "temporarily_unavailable": Meaning(kind: .unavailable, remedies: [.retry]),
        "authorization_pending": Meaning(kind: .challengePending, remedies: [.poll]),
        "slow_down": Meaning(kind: .challengePending, remedies: [.poll]),
        "insufficient_scope": Meaning(kind: .permissionDenied, remedies: [.contactAdmin]),
        "insufficient_user_authentication": Meaning(kind: .stepUpRequired, remedies: [.stepUp]),
        "use_dpop_nonce": Meaning(kind: .nonceRequired, remedies: [.newNonce]),
        "consent_required": Meaning(kind: .userActionRequired, remedies: [.visitProvider]),
        "interaction_required": Meaning(kind: .userActionRequired, remedies: [.visitProvider]),
    ]
}
