import ClerkAuth
import HTTPRecovery
import HTTPTypes
import Testing

/// Answers of rarer forms, as they occur beside the tables of codes.
@Suite("Clerk's odd answers")
struct ClerkOddAnswerTests {
    private static let attempt = "/v1/client/sign_ins/sia_1/attempt_first_factor"
    private static let tokens = "/v1/client/sessions/sess_1/tokens"

    // MARK: Delays

    @Test(
        arguments: [
            ([("Retry-After", "9")], 9), ([("Retry-After", "Thu, 01 Jan 2026 00:00:12 GMT")], 12),
            ([("Date", "Thu, 01 Jan 2026 01:00:00 GMT"), ("Retry-After", "Thu, 01 Jan 2026 01:00:12 GMT")], 12),
            ([("X-RateLimit-Reset", "1767225615")], 15), ([("X-RateLimit-Reset", "15")], 15),
            ([("Retry-After", "3"), ("X-RateLimit-Reset", "1767225615")], 3), ([("Retry-After", "0")], 0),
            ([("Retry-After", "soon")], nil), ([("Retry-After", "nan")], nil), ([], nil),
        ] as [([(String, String)], Int?)]
    )
    func aThrottleStatesItsTimeInAnyForm(lines: [(String, String)], seconds: Int?) {
        for body in [Clerked.error("too_many_requests"), "", "<html>", "{}"] {
            let outcome = Clerked(status: 429, body: body, lines: lines, path: Self.attempt).outcome
            #expect(outcome.kind == .rateLimited && outcome.scope == .endpoint)
            #expect(outcome.retryAfter == seconds.map { .seconds($0) })
            #expect(outcome.processed == .no && outcome.remedies == [.wait])
        }
    }

    @Test(arguments: [408, 425, 500, 502, 503, 504, 520, 522, 599])
    func outagesAreOutages(status: Int) {
        for path in [Self.attempt, Self.tokens, "/v1/client", "/v1/me", "/oauth/token"] {
            for body in ["", "{}", "null", #"{"errors":[]}"#, "<html>", Clerked.error("internal_clerk_error")] {
                let outcome = Clerked(status: status, body: body, path: path).outcome
                #expect(outcome.kind == .unavailable && outcome.tokenAction == .keep, "\(status) \(path) \(body)")
                #expect(outcome.remedies == [.retry])
            }
        }
    }

    // MARK: Several errors

    @Test(
        arguments: [
            (
                ["form_password_incorrect", "account_lockout_warning"], "form_password_incorrect",
                Outcome.Kind.invalidCredentials
            ),
            (["account_lockout_warning", "form_password_incorrect"], "account_lockout_warning", .invalidCredentials),
            (["account_lockout_warning", "form_code_incorrect"], "account_lockout_warning", .challengeIncorrect),
            (["form_code_incorrect", "account_lockout_warning"], "form_code_incorrect", .challengeIncorrect),
            (
                ["form_password_length_too_short", "form_password_pwned"], "form_password_length_too_short",
                .passwordRejected
            ),
            (["unheard_of", "user_locked"], "user_locked", .accountLocked),
        ] as [([String], String, Outcome.Kind)]
    )
    func severalErrors(codes: [String], code: String, kind: Outcome.Kind) {
        let items = codes.map { #"{"code":"\#($0)","message":"m"}"# }.joined(separator: ",")
        let outcome = Clerked(body: "{\"errors\":[\(items)]}", path: Self.attempt).outcome
        #expect(outcome.code == code && outcome.kind == kind)
    }

    @Test(arguments: [403, 422])
    func aLockAmongSeveralErrorsIsNotLost(status: Int) {
        let wrong = #"{"code":"form_password_incorrect","message":"m","meta":{"param_name":"password"}}"#
        func outcome(_ meta: String) -> Outcome {
            let locked = #"{"code":"user_locked","message":"n","long_message":"Locked.","meta":\#(meta)}"#
            return Clerked(status: status, body: "{\"errors\":[\(wrong),\(locked)]}", path: Self.attempt).outcome
        }
        let timed = outcome(#"{"lockout_expires_in_seconds":5}"#)
        #expect(timed.kind == .accountLocked && timed.lockout == .remaining(.seconds(5)) && timed.scope == .account)
        #expect(timed.code == "form_password_incorrect" && timed.remedies == [.wait] && timed.retryAfter == nil)
        #expect(timed.userMessage == "Locked." && timed.processed == .no)
        let endless = outcome("{}")
        #expect(endless.kind == .accountLocked && endless.lockout == .indefinite)
        #expect(endless.remedies == [.contactAdmin])
    }

    @Test func aWarningTellsByItsFieldWhatWasWrong() {
        let code = Clerked.error("account_lockout_warning", meta: #"{"param_name":"code"}"#)
        #expect(Clerked(body: code, path: Self.attempt).outcome.kind == .challengeIncorrect)
        let password = Clerked.error("account_lockout_warning", meta: #"{"param_name":"password"}"#)
        #expect(Clerked(body: password, path: Self.attempt).outcome.kind == .invalidCredentials)
    }

    @Test func theAttemptsThatAreLeftAreToldToThePerson() {
        let wrong = #"{"code":"form_password_incorrect","long_message":"Password is incorrect."}"#
        let warning = #"{"code":"account_lockout_warning","long_message":"You have 2 attempts left."}"#
        for errors in ["\(wrong),\(warning)", "\(warning),\(wrong)"] {
            let outcome = Clerked(body: "{\"errors\":[\(errors)]}", path: Self.attempt).outcome
            #expect(outcome.userMessage?.contains("You have 2 attempts left.") == true)
        }
        let same = wrong.replacing("form_password_incorrect", with: "account_lockout_warning")
        let twice = Clerked(body: "{\"errors\":[\(wrong),\(same)]}", path: Self.attempt).outcome
        #expect(twice.userMessage == "Password is incorrect.")
        let alone = Clerked(body: "{\"errors\":[\(wrong)]}", path: Self.attempt).outcome
        #expect(alone.userMessage == "Password is incorrect.")
    }

    @Test func theClientBesideAnErrorChangesNothing() {
        let client = #"{"client":{"object":"client","id":"c","sessions":[],"sign_in":{"status":"complete"}}}"#
        let body = #"{"errors":[{"code":"form_code_incorrect","meta":{"client":7}}],"meta":\#(client)}"#
        let outcome = Clerked(body: body, path: Self.attempt).outcome
        #expect(outcome.kind == .challengeIncorrect && outcome.details?["client"] == 7)
        #expect(outcome.statusType == nil)
    }

    @Test(arguments: [#""code":7"#, #""code":7.5"#, #""code":true"#, #""code":{}"#, #""code":["a"]"#])
    func aCodeOfAnyType(member: String) {
        let outcome = Clerked(status: 403, body: "{\"errors\":[{\(member),\"message\":\"m\"}]}").outcome
        #expect(outcome.kind == .permissionDenied && outcome.message == "m")
    }

    @Test func aBareCodeIsNoTextForThePerson() {
        for (status, body) in [
            (429, #"{"errors":["signed_out"]}"#), (429, #"{"errors":[{"message":"too_many_requests"}]}"#),
            (403, #"{"errors":[{"code":"user_locked","message":"user_locked"}]}"#),
            (422, #"{"errors":[{"code":"form_code_incorrect","long_message":"formCodeIncorrect"}]}"#),
        ] {
            #expect(Clerked(status: status, body: body).outcome.userMessage == nil, "\(body)")
        }
        let short = #"{"errors":[{"code":"user_locked","message":"Locked","long_message":"user_locked"}]}"#
        #expect(Clerked(status: 403, body: short).outcome.userMessage == "Locked")
    }

    @Test func theProofOfAFlowIsNoCredentialThatIsRefused() {
        for path in ["/v1/client/sign_ins", "/v1/me"] {
            let outcome = Clerked(status: 401, body: "", presented: .state, path: path).outcome
            #expect(outcome.credential == nil && outcome.tokenAction == .keep)
            #expect(outcome.remedies == [.resync, .reauthenticate])
        }
    }

    // MARK: Re-verification

    @Test func aSessionsVerificationIsAFlow() {
        func outcome(_ status: String, _ members: String = "") -> Outcome {
            let body = #"{"response":{"object":"session_verification","status":"\#(status)"\#(members)},"client":null}"#
            return Clerked(status: 200, body: body, path: "/v1/client/sessions/sess_1/verify").outcome
        }
        let codes = #","supported_first_factors":[{"strategy":"email_code"}]"#
        #expect(outcome("needs_first_factor", codes).remedies == [.newChallenge, .askUser])
        #expect(outcome("needs_second_factor", #","supported_second_factors":[{"strategy":"totp"}]"#).kind == .continue)
        #expect(outcome("complete").kind == .ok && outcome("complete").statusType == "complete")
        let pwned = Clerked(
            body: Clerked.error("form_password_pwned"),
            path: "/v1/client/sessions/sess_1/verify/attempt_first_factor"
        ).outcome
        #expect(pwned.kind == .passwordCompromised)
        let gone = Clerked(
            status: 404,
            body: Clerked.error("resource_not_found"),
            path: "/v1/client/sessions/sess_1/verify"
        ).outcome
        #expect(gone.kind == .notFound && gone.remedies == [.resync])
    }

    @Test(arguments: [
        #"{"level":"second_factor","afterMinutes":10}"#, #""strict_mfa""#,
    ])
    func theHintOfABackendIsKeptAsAdvice(advice: String) throws {
        let body =
            #"{"clerk_error":{"type":"forbidden","reason":"reverification-error","metadata":{"reverification":\#(advice)}}}"#
        let outcome = Clerked(status: 403, body: body, path: "/api/pay").outcome
        #expect(outcome.kind == .stepUpRequired && outcome.remedies == [.stepUp])
        #expect(outcome.advice == (try JSONValue(parsing: advice)))
        let meta = #"{"reverification":\#(advice)}"#
        let own = Clerked(status: 403, body: Clerked.error("session_reverification_required", meta: meta)).outcome
        #expect(own.kind == .stepUpRequired && own.advice == outcome.advice)
    }

    // MARK: Failures within successes

    @Test func theSecondFactorsErrorCountsToo() {
        let body = #"""
            {"response":{"object":"sign_in_attempt","status":"needs_second_factor","second_factor_verification":
            {"status":"failed","error":{"code":"verification_failed","long_message":"l"}}}}
            """#
        let outcome = Clerked(status: 200, body: body, path: Self.attempt).outcome
        #expect(outcome.kind == .challengeExpired && outcome.code == "verification_failed")
        #expect(outcome.processed == .yes && outcome.remedies == [.newChallenge, .switchFactor])
    }

    @Test func theFirstFactorsErrorIsOverOnceTheSecondIsDue() {
        let body = #"""
            {"response":{"object":"sign_in_attempt","status":"needs_client_trust","first_factor_verification":
            {"status":"verified","error":null},"second_factor_verification":null,
            "supported_second_factors":[{"strategy":"email_code"}],"client_trust_state":"new"}}
            """#
        let outcome = Clerked(status: 200, body: body, path: Self.attempt).outcome
        #expect(outcome.kind == .continue && outcome.statusType == "needs_client_trust")
    }

    @Test func whatTheLinkLedToIsASuccess() {
        let body = #"{"response":{"flow_id":"f","ticket":"t"},"client":null}"#
        #expect(Clerked(status: 200, body: body, path: "/v1/client/magic_links/complete").outcome.kind == .ok)
    }

    // MARK: Tokens

    @Test(
        arguments: [
            ("session_revoked", 401, Outcome.Kind.credentialRejected, [Outcome.Remedy.resync, .reauthenticate]),
            ("session_not_found", 404, .credentialRejected, [.resync, .reauthenticate]),
            ("resource_not_found", 404, .notFound, [.resync]),
            ("client_not_found", 400, .stateConflict, [.resync]),
            ("missing_expired_token", 422, .invalidRequest, [.seedToken]),
            ("signed_out", 401, .credentialRejected, [.resync, .reauthenticate]),
            ("requires_assertion", 401, .challengeRequired, [.solveChallenge]),
            ("user_banned", 403, .accountBlocked, [.contactAdmin]),
        ] as [(String, Int, Outcome.Kind, [Outcome.Remedy])]
    )
    func refusalsOfASessionToken(code: String, status: Int, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        for path in [Self.tokens, Self.tokens + "/hasura", "/proxy" + Self.tokens] {
            let outcome = Clerked(status: status, body: Clerked.error(code), path: path).outcome
            #expect(outcome.kind == kind && outcome.remedies == remedies && outcome.tokenAction == .keep)
        }
    }

    @Test func aRotationOnARefusalIsARotation() {
        let body = Clerked.error("authentication_invalid")
        let outcome = Clerked(status: 401, body: body, lines: [("Authorization", "T2")], path: "/v1/me").outcome
        #expect(outcome.kind == .credentialRejected && outcome.tokenAction == .rotate)
    }

    // MARK: No answer

    @Test(arguments: [
        (TransportError.Certainty.neverSent, Outcome.Processed.no), (.notProcessed, .no), (.unknown, .unknown),
        (.answered, .yes),
    ])
    func noAnswer(certainty: TransportError.Certainty, processed: Outcome.Processed) {
        let outcome = ClerkClassifier().classify(
            Exchange(
                method: .post,
                path: Self.attempt,
                presented: .client,
                result: .failure(TransportError(.connectionLost, certainty)),
                now: Timestamp(secondsSinceEpoch: 0)
            )
        )
        #expect(outcome.kind == .transport && outcome.processed == processed && outcome.tokenAction == .keep)
    }
}
