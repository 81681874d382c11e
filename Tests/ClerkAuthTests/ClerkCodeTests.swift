import HTTPRecovery
import Testing

/// What a code of Clerk's must lead to.
struct CodeRow: Sendable, CustomTestStringConvertible {
    var code: String
    var status: Int
    var kind: Outcome.Kind
    var remedies: [Outcome.Remedy]
    var credential: Outcome.CredentialKind?
    var path = "/v1/client/sign_ins"

    init(
        _ code: String,
        _ status: Int,
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy],
        _ credential: Outcome.CredentialKind? = nil,
        at path: String = "/v1/client/sign_ins"
    ) {
        self.code = code
        self.status = status
        self.kind = kind
        self.remedies = remedies
        self.credential = credential
        self.path = path
    }

    var testDescription: String { "\(code) \(status) at \(path)" }
}

@Suite("Clerk's error codes")
struct ClerkCodeTests {
    static let passwords: [CodeRow] = [
        CodeRow("user_locked", 403, .accountLocked, [.contactAdmin]),
        CodeRow("account_lockout_warning", 422, .invalidCredentials, [.askUser, .switchFactor]),
        CodeRow(
            "account_lockout_warning",
            422,
            .challengeIncorrect,
            [.askUser],
            at: "/v1/client/sign_ins/sia_1/attempt_second_factor"
        ),
        CodeRow("form_password_incorrect", 422, .invalidCredentials, [.askUser, .switchFactor]),
        CodeRow("form_password_or_identifier_incorrect", 422, .invalidCredentials, [.askUser, .switchFactor]),
        CodeRow("form_password_validation_failed", 422, .invalidCredentials, [.askUser, .switchFactor]),
        CodeRow("form_password_compromised", 422, .passwordCompromised, [.switchFactor]),
        CodeRow("form_password_pwned", 422, .passwordCompromised, [.switchFactor]),
        CodeRow("form_password_pwned", 422, .passwordRejected, [.askUser], at: "/v1/client/sign_ups"),
        CodeRow(
            "form_password_pwned",
            422,
            .passwordRejected,
            [.askUser],
            at: "/v1/client/sign_ins/sia_1/reset_password"
        ),
        CodeRow("form_password_length_too_short", 422, .passwordRejected, [.askUser]),
        CodeRow("form_password_no_number", 422, .passwordRejected, [.askUser]),
        CodeRow("form_password_not_strong_enough", 422, .passwordRejected, [.askUser]),
        CodeRow("form_password_matches_identifier", 422, .passwordRejected, [.askUser]),
        CodeRow("form_password_of_tomorrow", 422, .passwordRejected, [.askUser]),
        CodeRow("password_reset_required", 422, .passwordExpired, [.switchFactor]),
        CodeRow("password_too_long_needs_reset", 422, .passwordExpired, [.switchFactor]),
        CodeRow("form_identifier_not_found", 422, .invalidCredentials, [.askUser, .switchFactor]),
        CodeRow("form_identifier_exists", 422, .conflict, [.askUser]),
        CodeRow("form_code_incorrect", 422, .challengeIncorrect, [.askUser]),
        CodeRow("totp_incorrect_code", 422, .challengeIncorrect, [.askUser]),
        CodeRow("form_param_missing", 422, .invalidRequest, [.fixRequest]),
        CodeRow("form_param_nil", 422, .invalidRequest, [.fixRequest]),
        CodeRow("form_param_format_invalid", 422, .invalidRequest, [.fixRequest]),
        CodeRow("form_param_value_invalid", 422, .invalidRequest, [.fixRequest]),
        CodeRow("form_param_unknown", 422, .invalidRequest, [.fixRequest]),
        CodeRow("form_conditional_param_missing", 422, .invalidRequest, [.fixRequest]),
    ]

    static let flows: [CodeRow] = [
        CodeRow("verification_expired", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_failed", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_missing", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_not_sent", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_already_verified", 400, .stateConflict, [.resync]),
        CodeRow("verification_strategy_invalid", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_link_token_expired", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_link_token_invalid", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_link_token_stale", 400, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("verification_code_too_many_requests", 429, .rateLimited, [.wait]),
        CodeRow("strategy_for_user_invalid", 400, .factorUnavailable, [.switchFactor]),
        CodeRow("no_second_factors", 400, .factorUnavailable, [.switchFactor]),
        CodeRow("sign_in_token_already_used_code", 400, .flowExpired, [.restartFlow]),
        CodeRow("sign_in_token_revoked_code", 400, .flowExpired, [.restartFlow]),
        CodeRow("ticket_expired_code", 400, .flowExpired, [.restartFlow]),
        CodeRow("ticket_invalid_code", 400, .flowExpired, [.restartFlow]),
        CodeRow("approval_token_consumed", 422, .flowExpired, [.restartFlow]),
        CodeRow("approval_token_expired", 422, .flowExpired, [.restartFlow]),
        CodeRow("approval_token_invalid", 422, .flowExpired, [.restartFlow]),
        CodeRow("pkce_verification_failed", 422, .flowExpired, [.restartFlow]),
        CodeRow("flow_not_approved", 422, .flowExpired, [.restartFlow]),
        CodeRow("sign_up_outdated_verification", 410, .challengeExpired, [.newChallenge, .switchFactor]),
        CodeRow("session_exists", 400, .alreadySignedIn, [.useExistingSession]),
        CodeRow("session_exists", 422, .alreadySignedIn, [.useExistingSession]),
        CodeRow("identifier_already_signed_in", 400, .alreadySignedIn, [.useExistingSession]),
        CodeRow("client_state_invalid", 400, .stateConflict, [.resync]),
        CodeRow("account_transfer_invalid", 400, .flowExpired, [.restartFlow]),
        CodeRow("resource_forbidden", 403, .flowExpired, [.restartFlow], at: "/v1/client/sign_ins/sia_1"),
        CodeRow("resource_forbidden", 403, .permissionDenied, [.contactAdmin], at: "/v1/me"),
        CodeRow("sign_in_identification_or_user_deleted", 400, .flowExpired, [.restartFlow]),
        CodeRow("resource_not_found", 404, .notFound, [.resync], at: "/v1/client/sign_ins/sia_1"),
        CodeRow("resource_not_found", 404, .notFound, [.resync], at: "/proxy/v1/client"),
        CodeRow("resource_not_found", 404, .notFound, [.fixRequest], at: "/v1/organizations/org_1"),
        CodeRow("client_not_found", 400, .stateConflict, [.resync]),
        CodeRow("missing_expired_token", 422, .invalidRequest, [.seedToken], at: "/v1/client/sessions/sess_1/tokens"),
        CodeRow("resource_locked", 409, .unavailable, [.retry]),
    ]

    static let sessions: [CodeRow] = [
        "authentication_invalid", "signed_out", "session_revoked", "session_expired", "session_ended",
        "session_removed", "session_replaced", "session_not_found", "session_invalid",
        "action_for_session_not_authorized",
    ].map { CodeRow($0, 401, .credentialRejected, [.resync, .reauthenticate], .session) }

    static let policies: [CodeRow] = [
        CodeRow("deprovisioned", 401, .accountBlocked, [.contactAdmin]),
        CodeRow("user_banned", 403, .accountBlocked, [.contactAdmin]),
        CodeRow("user_deactivated", 403, .accountBlocked, [.contactAdmin]),
        CodeRow("session_reverification_required", 403, .stepUpRequired, [.stepUp]),
        CodeRow("requires_captcha", 401, .challengeRequired, [.solveChallenge]),
        CodeRow("requires_protect_check", 403, .challengeRequired, [.solveChallenge]),
        CodeRow("captcha_invalid", 400, .policyBlocked, [.contactAdmin]),
        CodeRow("captcha_missing_token", 400, .challengeRequired, [.solveChallenge]),
        CodeRow("captcha_not_enabled", 400, .misconfigured, [.fixRequest]),
        CodeRow("requires_assertion", 401, .challengeRequired, [.solveChallenge]),
        CodeRow("requires_device_attestation", 401, .challengeRequired, [.solveChallenge]),
        CodeRow("action_blocked", 403, .policyBlocked, [.contactAdmin]),
        CodeRow("device_blocked", 403, .policyBlocked, [.contactAdmin]),
        CodeRow("authorization_invalid", 403, .permissionDenied, [.contactAdmin]),
        CodeRow("not_allowed_access", 403, .permissionDenied, [.contactAdmin]),
        CodeRow("sign_up_mode_restricted", 403, .permissionDenied, [.contactAdmin]),
        CodeRow("sign_up_restricted_waitlist", 403, .permissionDenied, [.contactAdmin]),
        CodeRow("unsupported_country_code", 403, .factorUnavailable, [.switchFactor]),
        CodeRow("too_many_requests", 429, .rateLimited, [.wait]),
        CodeRow("signup_rate_limit_exceeded", 429, .rateLimited, [.wait]),
        CodeRow("rate_limit_exceeded", 429, .rateLimited, [.wait]),
        CodeRow("too_many_requests", 400, .rateLimited, [.wait]),
        CodeRow("unsupported_content_type", 415, .misconfigured, [.fixRequest]),
        CodeRow("internal_clerk_error", 500, .unavailable, [.retry]),
        CodeRow("service_unavailable", 503, .unavailable, [.retry]),
        CodeRow("gateway_timeout", 504, .unavailable, [.retry]),
    ]

    static let setUp: [CodeRow] = [
        ("dev_browser_unauthenticated", 401), ("native_api_disabled", 400), ("origin_invalid", 400),
        ("origin_authorization_headers_conflict", 400), ("host_invalid", 400),
        ("request_invalid_for_environment", 400), ("api_version_invalid", 400),
    ].map { CodeRow($0.0, $0.1, .misconfigured, [.fixRequest]) }

    static let unknown: [CodeRow] = [
        CodeRow("brand_new_code", 400, .invalidRequest, [.fixRequest]),
        CodeRow("brand_new_code", 401, .unknown, [.resync]),
        CodeRow("brand_new_code", 403, .permissionDenied, [.contactAdmin]),
        CodeRow("brand_new_code", 404, .notFound, [.resync]), CodeRow("brand_new_code", 409, .conflict, [.resync]),
        CodeRow("brand_new_code", 422, .invalidRequest, []), CodeRow("brand_new_code", 429, .rateLimited, [.wait]),
        CodeRow("brand_new_code", 500, .unavailable, [.retry]), CodeRow("brand_new_code", 503, .unavailable, [.retry]),
    ]

    @Test(arguments: passwords + flows + sessions + policies + setUp + unknown)
    func code(row: CodeRow) {
        let outcome = Clerked(status: row.status, body: Clerked.error(row.code), path: row.path).outcome
        #expect(outcome.kind == row.kind)
        #expect(outcome.remedies == row.remedies)
        #expect(outcome.credential == row.credential)
        #expect(outcome.code == row.code)
        #expect(outcome.tokenAction == .keep)
        #expect(outcome.processed == (row.status < 500 ? .no : .unknown))
        #expect(outcome.traceID == "t1")
        #expect(outcome.status == row.status)
    }

    @Test func anUnknownCodeAboutAFieldIsForThePerson() {
        let body = Clerked.error("brand_new_code", meta: #"{"param_name":"nickname"}"#)
        let outcome = Clerked(body: body).outcome
        #expect(outcome.kind == .invalidRequest && outcome.remedies == [.askUser] && outcome.parameter == "nickname")
    }

    /// What locks the account need not be what states the time.
    @Test(
        arguments: [
            (#"{"errors":[{"code":"user_locked"}],"meta":{"lockout_expires_in_seconds":1800}}"#, 1800.0),
            (#"{"errors":[{"code":"user_locked"}],"meta":{"duration_in_seconds":"90"}}"#, 90),
            (#"{"error":{"code":"user_locked"},"meta":{"lockout_expires_in_seconds":7}}"#, 7),
            (
                #"{"errors":[{"code":"user_locked","meta":{"lockout_expires_in_seconds":5}}],"meta":{"lockout_expires_in_seconds":9}}"#,
                5
            ),
            (
                #"{"errors":[{"code":"user_locked","meta":{"param_name":"x"}},{"code":"n","meta":{"lockout_expires_in_seconds":60}}]}"#,
                60
            ),
            (
                #"{"errors":[{"code":"n","meta":{"lockout_expires_in_seconds":61}},{"code":"user_locked","meta":{"lockout_expires_in_seconds":"soon"}}]}"#,
                61
            ),
            (
                #"{"errors":[{"code":"user_locked"},{"code":"user_locked","meta":{"duration_in_seconds":62}}],"meta":{"lockout_expires_in_seconds":9}}"#,
                62
            ),
            // That may be the duration of anything.
            (#"{"errors":[{"code":"user_locked"},{"code":"n","meta":{"duration_in_seconds":62}}]}"#, nil),
            (#"{"errors":[{"code":"user_locked"}],"meta":{"lockout_expires_in_seconds":"nan"}}"#, nil),
            (#"{"errors":[{"code":"user_locked"}],"meta":[1]}"#, nil),
        ] as [(String, Double?)]
    )
    func theTimeOfALockoutIsReadWhereverItStands(body: String, seconds: Double?) {
        let outcome = Clerked(status: 403, body: body).outcome
        #expect(outcome.kind == .accountLocked && outcome.scope == .account && outcome.retryAfter == nil)
        #expect(outcome.lockout == seconds.map { .remaining(.seconds($0)) } ?? .indefinite)
        #expect(outcome.remedies == (seconds == nil ? [.contactAdmin] : [.wait]))
    }

    @Test func aTimeOfALockoutLocksNothingByItself() {
        let wrong =
            #"{"errors":[{"code":"form_password_incorrect"}],"meta":{"lockout_expires_in_seconds":1800}}"#
        let outcome = Clerked(body: wrong).outcome
        #expect(outcome.kind == .invalidCredentials && outcome.lockout == nil && outcome.retryAfter == nil)
        let throttled = #"{"errors":[{"code":"too_many_requests"}],"meta":{"lockout_expires_in_seconds":1800}}"#
        let limit = Clerked(status: 429, body: throttled).outcome
        #expect(limit.kind == .rateLimited && limit.lockout == nil && limit.retryAfter == nil)
    }

    @Test(
        arguments: [
            (#"{"lockout_expires_in_seconds":1800}"#, 1800.0), (#"{"lockout_expires_in_seconds":"1800"}"#, 1800),
            (#"{"duration_in_seconds":60}"#, 60), (#"{"duration_in_seconds":1,"lockout_expires_in_seconds":2}"#, 2),
            (#"{"lockout_expires_in_seconds":12.5}"#, 12.5), (#"{"lockout_expires_in_seconds":0}"#, 0),
            (#"{"lockout_expires_in_seconds":-5}"#, 0),
            (#"{"lockout_expires_in_seconds":1e400}"#, 9_223_372_036_854_776),
            (#"{"lockout_expires_in_seconds":"99999999999999999999"}"#, 9_223_372_036_854_776),
            (#"{"lockout_expires_in_seconds":null,"duration_in_seconds":60}"#, 60),
            (#"{"lockout_expires_in_seconds":"nan"}"#, nil), (#"{"lockout_expires_in_seconds":""}"#, nil),
            (#"{"lockout_expires_in_seconds":true}"#, nil), (#"{"lockout_expires_in_seconds":{}}"#, nil),
            ("{}", nil), ("null", nil), ("7", nil),
        ] as [(String, Double?)]
    )
    func lockouts(meta: String, seconds: Double?) {
        let body = Clerked.error("user_locked", meta: meta)
        let outcome = Clerked(status: 403, body: body, lines: [("Retry-After", "7")]).outcome
        #expect(outcome.kind == .accountLocked && outcome.scope == .account)
        #expect(outcome.retryAfter == nil)
        if let seconds {
            guard case .remaining(let time) = outcome.lockout else {
                Issue.record("no time")
                return
            }
            #expect(time.inSeconds == seconds)
            #expect(outcome.remedies == [.wait])
        } else {
            #expect(outcome.lockout == .indefinite)
            #expect(outcome.remedies == [.contactAdmin])
        }
    }

    @Test func throttlesHoldForTheEndpointAndStateTheirTime() {
        let body = Clerked.error("too_many_requests")
        let outcome = Clerked(status: 429, body: body, lines: [("Retry-After", "9")]).outcome
        #expect(outcome.scope == .endpoint && outcome.retryAfter == .seconds(9) && outcome.userMessage == "l")
        let long = Clerked(status: 429, body: body, lines: [("Retry-After", "86400")]).outcome
        #expect(long.kind == .quotaExhausted)
        let resend = Clerked.error("verification_code_too_many_requests")
        #expect(Clerked(status: 429, body: resend).outcome.retryAfter == .seconds(30))
        #expect(Clerked(status: 429, body: resend, lines: [("Retry-After", "5")]).outcome.retryAfter == .seconds(5))
        for body in [
            "", "<html>", Clerked.error("signed_out"), #"{"error":"invalid_grant"}"#, Clerked.error("user_locked"),
        ] {
            let outcome = Clerked(status: 429, body: body, presented: .refresh).outcome
            #expect(outcome.kind == .rateLimited && outcome.tokenAction == .keep && outcome.lockout == nil)
        }
    }

    @Test func aStatedDelayIsWaitedOut() {
        let body = Clerked.error("service_unavailable")
        let outcome = Clerked(status: 503, body: body, lines: [("Retry-After", "5")]).outcome
        #expect(outcome.remedies == [.wait] && outcome.processed == .no && outcome.retryAfter == .seconds(5))
    }

    @Test func textsAreForThePersonWhereTheyAreMeantForOne() {
        #expect(Clerked(body: Clerked.error("form_code_incorrect")).outcome.userMessage == "l")
        let short = #"{"errors":[{"code":"form_code_incorrect","message":"is incorrect","long_message":""}]}"#
        #expect(Clerked(body: short).outcome.userMessage == "is incorrect")
        for code in ["native_api_disabled", "signed_out", "internal_clerk_error", "missing_expired_token"] {
            let outcome = Clerked(status: 400, body: Clerked.error(code)).outcome
            #expect(outcome.userMessage == nil && outcome.message == "m")
        }
    }
}
