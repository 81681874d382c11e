import AuthRecovery
import HTTPRecovery
import HTTPTypes
import Testing

@testable import Auth0Auth

@Suite struct Auth0ClassifierTests {
    typealias Case = (
        status: Int, body: String, presented: Outcome.CredentialKind?, kind: Outcome.Kind, remedies: [Outcome.Remedy]
    )

    private func classify(
        _ status: Int,
        _ body: String,
        presented: Outcome.CredentialKind? = nil,
        path: String = "/oauth/token",
        fields: HTTPFields = [:]
    ) -> Outcome {
        Auth0Classifier().classify(
            Exchange(
                method: .post,
                path: path,
                presented: presented,
                result: .response(
                    HTTPResponse(status: .init(code: status), headerFields: fields),
                    body: Array(body.utf8)
                ),
                now: Timestamp(secondsSinceEpoch: 1_700_000_000)
            )
        )
    }

    private static func error(_ code: String, _ text: String = "") -> String {
        #"{"error":"\#(code)","error_description":"\#(text)"}"#
    }

    static let passwords: [Case] = [
        (403, error("invalid_grant", "Wrong email or password."), nil, .invalidCredentials, [.askUser]),
        (401, #"{"code":"invalid_user_password","description":"Wrong."}"#, nil, .invalidCredentials, [.askUser]),
        (
            403, error("invalid_grant", "Wrong email or verification code."), nil, .challengeIncorrect,
            [.askUser, .newChallenge]
        ),
        (
            403, error("invalid_grant", "You've reached the maximum number of attempts."), nil, .challengeExpired,
            [.newChallenge]
        ),
        (
            429, error("too_many_attempts", "Your account has been blocked after multiple consecutive login attempts."),
            nil, .accountLocked, [.unlock, .changePassword, .contactAdmin]
        ),
        (
            429, error("too_many_attempts", "We have detected suspicious login behavior."), nil, .policyBlocked,
            [.wait, .contactAdmin]
        ),
        (429, error("too_many_logins"), nil, .rateLimited, [.wait]),
        (
            401, error("password_leaked", "This login has been blocked because your password has been leaked."), nil,
            .passwordCompromised, [.changePassword, .visitProvider]
        ),
        (401, error("requires_verification"), nil, .challengeRequired, [.solveChallenge, .visitProvider]),
        (401, error("unauthorized", "user is blocked"), nil, .accountBlocked, [.contactAdmin]),
        (403, error("access_denied", "user is blocked."), nil, .accountBlocked, [.contactAdmin]),
        (401, error("unauthorized", "Not on weekends."), nil, .permissionDenied, [.contactAdmin]),
        (403, error("access_denied", "Not on weekends."), nil, .permissionDenied, [.contactAdmin]),
        (403, error("access_denied", "Service not found: https://x"), nil, .misconfigured, [.fixRequest]),
        (400, error("sms_provider_error"), nil, .factorUnavailable, [.switchFactor, .askUser]),
    ]

    static let factors: [Case] = [
        (403, #"{"error":"mfa_required","mfa_token":"m"}"#, nil, .continue, [.askUser, .switchFactor]),
        (403, error("mfa_required"), .refresh, .stepUpRequired, [.stepUp]),
        (403, error("invalid_grant", "Invalid otp_code."), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (403, error("invalid_grant", "Invalid binding_code."), .state, .challengeIncorrect, [.askUser, .switchFactor]),
        (400, error("authorization_pending"), .state, .challengePending, [.poll]),
        (429, error("slow_down"), .state, .challengePending, [.poll]),
        (400, error("access_denied", "MFA Authorization rejected."), .state, .declined, [.switchFactor, .restartFlow]),
        (
            200, error("access_denied", "MFA Authorization rejected."), .state, .declined,
            [.switchFactor, .restartFlow]
        ),
        (
            403, error("invalid_grant", "MFA Authorization rejected."), .state, .challengeIncorrect,
            [.askUser, .switchFactor]
        ),
        (401, error("expired_token", "mfa_token is expired"), .state, .flowExpired, [.restartFlow]),
        (403, error("invalid_grant", "Malformed mfa_token"), .state, .flowExpired, [.restartFlow]),
        (403, error("expired_token", "oob_code is expired"), .state, .challengeExpired, [.newChallenge]),
        (
            400, error("invalid_request", "Missing required parameter: binding_code"), .state, .invalidRequest,
            [.askUser, .fixRequest]
        ),
        (
            403, error("invalid_request", "mfa_token not issued to this client"), .state, .stateConflict,
            [.restartFlow]
        ),
        (400, error("unsupported_challenge_type"), .state, .factorUnavailable, [.switchFactor]),
        (
            429, error("too_many_attempts", "Too many failed codes. Wait for some minutes before retrying."), .state,
            .rateLimited, [.switchFactor, .wait]
        ),
    ]

    static let tokens: [Case] = [
        (
            403, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate]
        ),
        (
            403, error("access_denied", "Unknown or invalid refresh token."), .refresh, .credentialRejected,
            [.reauthenticate]
        ),
        (403, error("invalid_grant", "Invalid authorization code"), .code, .credentialRejected, [.restartFlow]),
        (403, error("authorization_pending"), .device, .challengePending, [.poll]),
        (403, error("access_denied", "User cancelled"), .device, .declined, [.restartFlow]),
        (403, error("expired_token"), .device, .flowExpired, [.restartFlow]),
        (403, error("invalid_grant", "Invalid or expired device code"), .device, .flowExpired, [.restartFlow]),
        (401, "Unauthorized", .access, .credentialRejected, [.refreshCredential, .reauthenticate]),
        (403, error("insufficient_scope"), .access, .permissionDenied, [.fixRequest]),
        (401, error("unauthorized"), .access, .credentialRejected, [.refreshCredential]),
        (401, error("expired_token"), .access, .credentialRejected, [.refreshCredential]),
        (401, error("invalid_token"), .state, .flowExpired, [.restartFlow]),
        (401, "Unauthorized", .state, .flowExpired, [.restartFlow]),
        (403, error("mfa_required"), .access, .stepUpRequired, [.stepUp]),
        (401, error("a0.mfa_required"), .refresh, .stepUpRequired, [.stepUp]),
    ]

    static let others: [Case] = [
        (401, error("invalid_client"), nil, .misconfigured, [.fixRequest]),
        (403, error("unauthorized_client"), nil, .misconfigured, [.fixRequest]),
        (501, error("unsupported_grant_type"), .refresh, .misconfigured, [.fixRequest]),
        (400, error("invalid_request", "the connection was not found"), nil, .misconfigured, [.fixRequest]),
        (400, #"{"error":"public signup is disabled"}"#, nil, .permissionDenied, [.contactAdmin]),
        (
            400, #"{"error":"missing username for Username-Password connection with requires_username enabled"}"#, nil,
            .invalidRequest, [.askUser, .fixRequest]
        ),
        (400, error("bad.email", "error in email"), nil, .invalidRequest, [.askUser]),
        (500, error("access_denied", "Global limit has been reached"), nil, .rateLimited, [.wait]),
        (429, error("access_denied", "Client quota exceeded"), .client, .quotaExhausted, [.wait]),
        (
            400,
            #"{"name":"BadRequestError","code":"user_exists","description":"The user already exists.","statusCode":400}"#,
            nil, .conflict, [.askUser, .reauthenticate]
        ),
    ]

    @Test(arguments: passwords + factors + tokens + others)
    func everyCodeHasItsMeaning(row: Case) {
        let outcome = classify(row.status, row.body, presented: row.presented)
        #expect(outcome.kind == row.kind && outcome.remedies == row.remedies, "\(row.body) \(outcome)")
        let isCounted = row.body.contains("too_many_attempts") && row.kind != .accountLocked
        let processed: Outcome.Processed = isCounted ? .yes : row.status == 500 ? .unknown : .no
        #expect(outcome.kind == .continue || outcome.processed == processed)
    }

    /// Which answers take a credential away: those that say so, and none of an outage.
    @Test(arguments: [
        (403, error("invalid_grant", "Unknown or invalid refresh token."), Outcome.CredentialKind.refresh, true),
        (500, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, false),
        (429, error("invalid_grant", "Unknown or invalid refresh token."), .refresh, false),
        (403, error("mfa_required"), .refresh, false),
        (501, error("unsupported_grant_type"), .refresh, false),
        (401, "Unauthorized", .access, true),
        (503, "", .access, false),
        (403, error("invalid_grant", "Invalid otp_code."), .state, false),
        (401, error("expired_token", "mfa_token is expired"), .state, true),
    ])
    func tokensAreClearedByADefiniteWordAlone(
        status: Int,
        body: String,
        presented: Outcome.CredentialKind,
        clears: Bool
    ) {
        #expect((classify(status, body, presented: presented).tokenAction == .clear) == clears)
    }

    @Test func aLockoutHasNoTimeWhateverTheHeadersSay() {
        let fields: HTTPFields = [.init("x-ratelimit-reset")!: "1700000100", .init("x-ratelimit-remaining")!: "9"]
        let locked = classify(429, Self.error("too_many_attempts"), fields: fields)
        #expect(locked.lockout == .indefinite && locked.retryAfter == nil && locked.scope == .account)
        let throttled = classify(429, Self.error("too_many_requests"), fields: [.retryAfter: "7"])
        #expect(throttled.kind == .rateLimited && throttled.retryAfter == .seconds(7))
        let blocks: [(String, Outcome.CredentialKind?)] = [
            ("suspicious login behavior", nil), ("Too many failed codes", .state),
        ]
        for (text, presented) in blocks {
            let body = Self.error("too_many_attempts", text)
            let blocked = classify(429, body, presented: presented, fields: [.retryAfter: "1"])
            #expect(blocked.retryAfter == nil && blocked.processed == .yes, "\(text)")
        }
        let person = classify(429, Self.error("too_many_logins"), fields: [.retryAfter: "60"])
        #expect(person.scope == .account && person.retryAfter == .seconds(60))
    }

    /// Beside a throttle the bucket's reset counts where the bucket is empty; a custom policy shows the tenant's, which is not.
    @Test(
        arguments: [
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000030"], Duration.seconds(30)),
            (["x-ratelimit-remaining": "0", "x-ratelimit-reset": "1699999000"], .zero),
            (["x-ratelimit-remaining": "9", "x-ratelimit-reset": "1700000030"], nil),
            (["x-ratelimit-remaining": "9", "x-ratelimit-reset": "1700000030", "retry-after": "5"], .seconds(5)),
        ] as [([String: String], Duration?)]
    )
    func throttlesSayHowLong(fields: [String: String], wait: Duration?) {
        var all: HTTPFields = [.date: "Tue, 14 Nov 2023 22:13:20 GMT"]
        for (name, value) in fields { all[HTTPField.Name(name)!] = value }
        let outcome = classify(429, Self.error("too_many_requests", "Rate limit reached."), fields: all)
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == wait, "\(outcome)")
    }

    @Test func weakPasswordsSayWhichRulesAreUnmet() {
        let body = """
            {"code":"invalid_password","name":"PasswordStrengthError","description":{"verified":false,"rules":[
            {"message":"At least %d characters in length","format":[8],"code":"lengthAtLeast","verified":false},
            {"message":"Contain letters","format":[],"code":"x","verified":true}]}}
            """
        let outcome = classify(400, body, path: "/dbconnections/signup")
        #expect(outcome.kind == .passwordRejected && outcome.subcode == "PasswordStrengthError")
        #expect(outcome.userMessage == "At least 8 characters in length")
        #expect(outcome.parameter == "password")
    }

    @Test func textsOfTheTenantAreForThePerson() {
        #expect(classify(403, Self.error("access_denied", "Not on weekends.")).userMessage == "Not on weekends.")
        #expect(classify(403, Self.error("invalid_grant", "Wrong email or password.")).userMessage == nil)
    }

    @Test func aSuccessWithoutATokenIsNone() {
        #expect(classify(200, "<html></html>").kind == .unreadable)
        #expect(classify(200, "{}").kind == .unreadable)
        #expect(classify(200, Self.error("none")).kind == .unreadable)
        #expect(classify(403, Self.error("a\u{1B}b")).code == nil)
        #expect(classify(200, #"{"access_token":"a","expires_in":1}"#).kind == .ok)
        #expect(classify(200, "We've just sent you an email", path: "/dbconnections/change_password").kind == .ok)
    }

    /// Bytes that no server should send lead to an outcome all the same.
    @Test func anyBytesLeadToAnOutcome() {
        var random = SystemRandomNumberGenerator()
        let words = ["{", "}", "\"error\"", ":", "\"invalid_grant\"", "[", "]", "null", "\u{0}", "é", "1e999", ","]
        for _ in 0..<2_000 {
            let body = (0..<Int.random(in: 0...12, using: &random)).map { _ in words.randomElement(using: &random) ?? ""
            }
            let status = [200, 400, 401, 403, 429, 500, 501].randomElement(using: &random) ?? 200
            let outcome = classify(status, body.joined(), presented: .refresh)
            #expect(status < 400 || outcome.isFailure || outcome.kind == .continue)
        }
    }
}
