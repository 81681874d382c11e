import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// Refusals without a code.
extension OktaAnswerTests {
    static let refusals: [Row] = [
        quiet("/api/v1/authn", "", .invalidCredentials, [.askUser], status: 401, presenting: nil),
        quiet("/api/v1/authn", "{}", .invalidCredentials, [.askUser], status: 401, presenting: nil),
        quiet("/api/v1/authn/skip", "{}", .flowExpired, [.restartFlow], .clear, status: 401),
        quiet("/api/v1/authn", "Internal Server Error", .unreadable, status: 401),
        quiet("/api/v1/authn", "Internal Server Error", .unavailable, [.retry], status: 500),
        quiet("/api/v1/authn", "<html>", .unavailable, [.retry], status: 502),
        quiet("/api/v1/authn", "", .unavailable, [.retry], status: 503),
        quiet("/api/v1/authn", "{}", .unavailable, [.retry], status: 504),
        quiet("/oauth2/v1/token", #"{"error":"access_denied"}"#, .unavailable, [.retry], status: 500, presenting: nil),
        quiet("/oauth2/v1/token", #"{"error":"mfa_required","mfa_token":"t"}"#, .unavailable, [.retry], status: 502),
        quiet("/oauth2/v1/token", #"{"error":"too_many_requests"}"#, .unavailable, [.retry], status: 500),
        quiet("/oauth2/v1/token", #"{"error":"invalid_grant"}"#, .unavailable, [.retry], status: 500),
        quiet("/api/v1/authn", "<html>", .unreadable, status: 403),
        quiet(
            "/oauth2/v1/authorize",
            "",
            .unknown,
            status: 302,
            presenting: .code,
            .get,
            lines: [("location", "app:/cb?error=word_of_tomorrow&state=s")]
        ),
        // Behind another page the flow goes on: where it stands is read.
        quiet(
            "/login/token/redirect",
            "",
            .userActionRequired,
            [.resync],
            status: 302,
            presenting: .state,
            .get,
            lines: [("location", "app:/cb?error=interaction_required&state=s")]
        ),
        quiet(
            "/api/v1/users/me",
            #"{"error":"Forbidden","message":"m"}"#,
            .permissionDenied,
            [.contactAdmin],
            status: 403,
            presenting: .access
        ),
        quiet(
            "/api/v1/users/me",
            #"{"message":"m"}"#,
            .invalidRequest,
            [.fixRequest],
            status: 400,
            presenting: .access
        ),
        quiet(
            "/api/v1/users/me",
            "{}",
            .credentialRejected,
            [.refreshCredential, .reauthenticate],
            .clear,
            status: 401,
            presenting: .access,
            .get,
            lines: [("www-authenticate", #"Bearer error="invalid_token""#)],
            .access
        ),
        quiet(
            "/api/v1/users/me",
            "",
            .permissionDenied,
            [.contactAdmin],
            status: 403,
            presenting: .access,
            .get,
            lines: [("www-authenticate", #"Bearer error="insufficient_scope""#)]
        ),
        quiet(
            "/api/v1/users/me",
            "",
            .stepUpRequired,
            [.stepUp],
            status: 403,
            presenting: .access,
            .get,
            lines: [
                ("www-authenticate", #"Bearer error="insufficient_authentication_context", max_age=60, acr_values="a""#)
            ]
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#,
            .credentialRejected,
            [.reauthenticate],
            .clear,
            status: 400,
            presenting: .refresh,
            .post,
            .refresh
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"invalid_grant","error_description":"The refresh token is invalid or expired."}"#,
            .unavailable,
            [.retry],
            status: 503,
            presenting: .refresh
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"invalid_grant","error_description":"The credentials provided were invalid."}"#,
            .invalidCredentials,
            [.askUser],
            status: 400,
            presenting: nil
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"invalid_client"}"#,
            .misconfigured,
            [.fixRequest],
            status: 401,
            presenting: .client
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"errorCode":"invalid_client","errorSummary":"s","errorId":"oae1","errorCauses":[]}"#,
            .misconfigured,
            [.fixRequest],
            status: 401,
            presenting: .client
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"temporarily_unavailable"}"#,
            .unavailable,
            [.retry],
            status: 400,
            presenting: .refresh
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"server_error"}"#,
            .unavailable,
            [.retry],
            status: 403,
            presenting: .refresh
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"use_dpop_nonce"}"#,
            .nonceRequired,
            [.newNonce],
            status: 400,
            presenting: .refresh,
            .post,
            lines: [("dpop-nonce", "n1")]
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"authorization_pending"}"#,
            .challengePending,
            [.poll],
            status: 400,
            presenting: .device
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"slow_down"}"#,
            .challengePending,
            [.poll],
            status: 400,
            presenting: .device
        ),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"expired_token"}"#,
            .flowExpired,
            [.restartFlow],
            .clear,
            status: 400,
            presenting: .device
        ),
        quiet("/oauth2/v1/token", #"{"error":"access_denied"}"#, .declined, status: 400, presenting: .code),
        quiet(
            "/oauth2/v1/device/authorize",
            #"{"error":"too_many_user_codes"}"#,
            .rateLimited,
            [.wait],
            status: 429,
            presenting: nil
        ),
        quiet("/oauth2/v1/token", #"{"error":"invalid_scope"}"#, .invalidRequest, [.fixRequest], status: 400),
        quiet(
            "/oauth2/v1/token",
            #"{"error":"mfa_required","mfa_token":"t"}"#,
            .continue,
            [.switchFactor, .askUser],
            status: 403,
            presenting: nil
        ),
        quiet(
            "/idp/idx/introspect",
            #"{"messages":{"value":[{"message":"You have been logged out due to inactivity.","i18n":{"key":"idx.session.expired"},"class":"ERROR"}]}}"#,
            .flowExpired,
            [.restartFlow],
            .clear,
            status: 401
        ),
        quiet(
            "/idp/idx/identify",
            #"{"messages":{"value":[{"message":"Authentication failed","i18n":{"key":"errors.E0000004"},"class":"ERROR"}]}}"#,
            .invalidCredentials,
            [.askUser],
            status: 401
        ),
        quiet(
            "/idp/idx/challenge/answer",
            #"{"remediation":{"value":[{"name":"c","value":[{"name":"credentials","form":{"value":[{"name":"passcode","messages":{"value":[{"message":"Invalid code. Try again.","i18n":{"key":"api.authn.error.PASSCODE_INVALID"},"class":"ERROR"}]}}]}}]}]}}"#,
            .challengeIncorrect,
            [.askUser],
            status: 200
        ),
    ]

    @Test(arguments: refusals)
    func refusalsWithoutACodeAreReadToo(row: Row) {
        _ = row.check()
    }

    /// A long answer says no less than a short one; where no state can be read, no step has gone well.
    @Test func aLongAnswerIsReadToo() {
        let locked = Recorded.state("LOCKED_OUT", #""x":"\#(String(repeating: "x", count: 1_100_000))""#, token: nil)
        let whole = Recorded(status: 200, body: locked, presented: nil, path: Self.authn).outcome
        #expect(whole.kind == .accountLocked && whole.statusType == "LOCKED_OUT")
        let cut = String(locked.dropLast(2))
        for path in [Self.authn, "/api/v1/authn/factors/1/verify", "/idp/idx/introspect"] {
            let outcome = Recorded(status: 200, body: cut, path: path).outcome
            #expect(outcome.kind == .unreadable && outcome.tokenAction == .keep, "\(path)")
        }
        // Of what is only fetched the rest streams on.
        let list = Recorded(status: 200, body: cut, presented: .access, method: .get, path: "/api/v1/users/me").outcome
        #expect(list.kind == .ok)
    }
}
