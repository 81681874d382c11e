import ClerkAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Clerk's answers")
struct ClerkAnswerTests {
    // MARK: Envelopes

    @Test func formA() {
        let body = #"""
            {"errors":[{"code":"form_code_incorrect","message":"wrong","long_message":"Wrong code",
            "meta":{"param_name":"code","extra":1}}],"meta":{"client":{}},"clerk_trace_id":"t1"}
            """#
        let outcome = Clerked(body: body, lines: [("cf-ray", "ray")]).outcome
        #expect(outcome.kind == .challengeIncorrect && outcome.code == "form_code_incorrect")
        #expect(outcome.parameter == "code" && outcome.userMessage == "Wrong code" && outcome.message == "wrong")
        #expect(outcome.traceID == "t1" && outcome.details?["extra"] == 1)
    }

    @Test func theFirstKnownOfSeveralErrorsDecides() {
        let body =
            #"{"errors":[{"code":"new_one"},{"message":"x"},{"code":"form_password_incorrect"},{"code":"user_locked"}]}"#
        #expect(Clerked(body: body).outcome.code == "form_password_incorrect")
        let none = #"{"errors":[{"code":"new_one","meta":{"param_name":"a"}},{"code":"new_two"}]}"#
        #expect(Clerked(body: none).outcome.code == "new_one")
        let locked = #"{"errors":[{"code":"new_one"},{"code":"user_locked","meta":{"lockout_expires_in_seconds":5}}]}"#
        #expect(Clerked(status: 403, body: locked).outcome.lockout == .remaining(.seconds(5)))
    }

    @Test(arguments: [
        #"{"errors":[{"message":"x"}]}"#, #"{"errors":[{"code":"","message":"x"}]}"#, #"{"errors":["x"]}"#,
        #"{"errors":{"message":"x"}}"#, #"{"errors":[{"code":null,"message":"x","meta":[]}]}"#,
        #"{"errors":[null,7,{"message":"x"}]}"#,
    ])
    func entriesMayLackAnything(body: String) {
        let outcome = Clerked(body: body).outcome
        #expect(outcome.kind == .invalidRequest && outcome.code == nil && outcome.message == "x")
    }

    @Test func formB() {
        let body =
            #"{"error":{"code":"form_password_compromised","message":"m","long_message":"l","meta":{"name":"password"}}}"#
        let outcome = Clerked(body: body).outcome
        #expect(outcome.kind == .passwordCompromised && outcome.parameter == "password" && outcome.userMessage == "l")
    }

    @Test(
        arguments: [
            (
                400, "invalid_grant", Outcome.CredentialKind.refresh, Outcome.Kind.credentialRejected,
                Outcome.TokenAction.clear
            ),
            (401, "invalid_grant", .code, .credentialRejected, .clear),
            (400, "invalid_grant", nil, .credentialRejected, .keep),
            (401, "invalid_client", .refresh, .misconfigured, .keep),
            (400, "invalid_request", .refresh, .invalidRequest, .keep),
            (400, "unsupported_token_type", .refresh, .invalidRequest, .keep),
            (401, "unsupported_grant_type", .refresh, .misconfigured, .keep),
            (400, "server_error", .refresh, .unavailable, .keep),
            (429, "invalid_grant", .refresh, .rateLimited, .keep),
            (503, "temporarily_unavailable", .refresh, .unavailable, .keep),
            // An outage refuses nothing, whatever it says.
            (500, "invalid_grant", .refresh, .unavailable, .keep),
            (408, "invalid_grant", .refresh, .unavailable, .keep),
            (425, "invalid_grant", .code, .unavailable, .keep), (502, "expired_token", .device, .unavailable, .keep),
            (400, "too_many_requests", .refresh, .rateLimited, .keep),
        ] as [(Int, String, Outcome.CredentialKind?, Outcome.Kind, Outcome.TokenAction)]
    )
    func formC(
        status: Int,
        word: String,
        presented: Outcome.CredentialKind?,
        kind: Outcome.Kind,
        action: Outcome.TokenAction
    ) {
        let body = #"{"error":"\#(word)","error_description":"why"}"#
        let outcome = Clerked(status: status, body: body, presented: presented, path: "/oauth/token").outcome
        #expect(outcome.kind == kind && outcome.tokenAction == action)
        #expect(outcome.code == word && outcome.message == "why" && outcome.userMessage == nil)
        if kind == .credentialRejected { #expect(outcome.credential == presented ?? .refresh) }
    }

    @Test func anOutageOfTheTokenEndpointStatesItsTime() {
        let outcome = Clerked(
            status: 503,
            body: #"{"error":"invalid_grant"}"#,
            lines: [("Retry-After", "5")],
            presented: .refresh,
            path: "/oauth/token"
        ).outcome
        #expect(outcome.kind == .unavailable && outcome.tokenAction == .keep && outcome.remedies == [.wait])
        #expect(outcome.retryAfter == .seconds(5) && outcome.processed == .no && outcome.credential == nil)
    }

    @Test(
        arguments: [
            (Outcome.CredentialKind.refresh, "/oauth/token", Outcome.TokenAction.rotate),
            (.refresh, "/v1/oauth/token", .rotate), (.refresh, "/proxy/v1/oauth/token?x=1", .rotate),
            (.code, "/oauth/token", .clear), (.device, "/oauth/token", .clear), (.client, "/oauth/token", .keep),
            // No endpoint of OAuth's.
            (.refresh, "/v1/client/token", .keep),
        ] as [(Outcome.CredentialKind, String, Outcome.TokenAction)]
    )
    func tokensThatAreIssuedUseUpWhatWasPresented(
        presented: Outcome.CredentialKind,
        path: String,
        action: Outcome.TokenAction
    ) {
        let body = #"{"access_token":"a","refresh_token":"r2","token_type":"bearer","expires_in":60}"#
        let outcome = Clerked(status: 200, body: body, presented: presented, path: path).outcome
        #expect(outcome.kind == .ok && outcome.tokenAction == action && outcome.processed == .yes)
    }

    @Test func otherSuccessesOfTheOAuthEndpoints() {
        func outcome(_ body: String, _ presented: Outcome.CredentialKind, _ path: String = "/oauth/token") -> Outcome {
            Clerked(status: 200, body: body, presented: presented, path: path).outcome
        }
        #expect(outcome(#"{"access_token":"a"}"#, .refresh).tokenAction == .keep)
        #expect(outcome("{}", .refresh).kind == .unreadable)
        #expect(outcome("", .refresh, "/oauth/token/revoke").tokenAction == .clear)
        // A session that is revoked leaves the client token.
        #expect(outcome("{}", .client, "/v1/me/sessions/sess_1/revoke").tokenAction == .keep)
        #expect(outcome("{}", .access, "/v1/me/sessions/sess_1/revoke").tokenAction == .keep)
    }

    @Test func formD() {
        let body = #"""
            {"clerk_error":{"type":"forbidden","reason":"reverification-error","metadata":{"reverification":
            {"level":"second_factor","afterMinutes":10}}}}
            """#
        let outcome = Clerked(status: 403, body: body, path: "/api/transfer").outcome
        #expect(outcome.kind == .stepUpRequired && outcome.remedies == [.stepUp])
        #expect(outcome.code == "reverification-error" && outcome.subcode == "forbidden")
        #expect(outcome.advice?["level"] == "second_factor")
        let other = Clerked(status: 403, body: #"{"clerk_error":{"type":"forbidden"}}"#).outcome
        #expect(other.kind == .permissionDenied && other.code == "forbidden")
    }

    @Test(arguments: ["", " \n", "{}", #"{"errors":[]}"#, "null", "42", #"{"errors":null}"#, "[]", #"{"errors":[{}]}"#])
    func formESaysNothingAndTheStatusDecides(body: String) {
        func kind(_ status: Int) -> Outcome.Kind { Clerked(status: status, body: body).outcome.kind }
        #expect(kind(400) == .invalidRequest && kind(401) == .credentialRejected && kind(403) == .permissionDenied)
        #expect(kind(404) == .notFound && kind(409) == .conflict && kind(422) == .invalidRequest)
        #expect(kind(429) == .rateLimited && kind(500) == .unavailable && kind(503) == .unavailable)
        #expect(Clerked(status: 401, body: body).outcome.tokenAction == .keep)
    }

    @Test(arguments: ["<html>Bad gateway</html>", "\u{FEFF}<!DOCTYPE html>", "Bad Gateway", #"{"errors":[{"#])
    func anAnswerOfSomebodyElseIsUnreadable(body: String) {
        for status in [200, 201, 400, 401, 403, 404, 422] {
            let outcome = Clerked(status: status, body: body).outcome
            #expect(outcome.kind == .unreadable && outcome.remedies == [] && outcome.tokenAction == .keep)
        }
        for status in [408, 500, 502, 503, 504, 520] {
            #expect(Clerked(status: status, body: body).outcome.kind == .unavailable)
        }
        #expect(Clerked(status: 429, body: body).outcome.kind == .rateLimited)
    }

    @Test func theTraceIDComesFromTheBodyElseFromTheEdge() {
        #expect(Clerked(status: 500, body: "{}", lines: [("CF-RAY", "ray-1")]).outcome.traceID == "ray-1")
        #expect(Clerked(status: 500, body: "{}").outcome.traceID == nil)
    }

    // MARK: The client token

    @Test(
        arguments: [
            (nil, Outcome.TokenAction.keep), ("", .clear), ("   ", .clear), ("Bearer", .clear), ("bEARER ", .clear),
            ("Bearer abc", .rotate), ("abc", .rotate), ("bearerish", .rotate),
        ] as [(String?, Outcome.TokenAction)]
    )
    func theAuthorizationFieldAloneDecidesAboutTheToken(value: String?, action: Outcome.TokenAction) {
        let lines = value.map { [("Authorization", $0)] } ?? []
        for (status, body) in [
            (200, #"{"response":null,"client":null}"#), (200, ""), (204, ""), (401, Clerked.error("signed_out")),
            (422, Clerked.error("form_code_incorrect")),
        ] {
            let outcome = Clerked(status: status, body: body, lines: lines, path: "/v1/client").outcome
            #expect(outcome.tokenAction == action)
        }
        // An outage, a limit and somebody else's answer take nothing away; a token that they carry is one all the same.
        for (status, body) in [
            (408, ""), (421, "{}"), (425, "{}"), (429, ""), (429, Clerked.error("too_many_requests")), (500, ""),
            (500, Clerked.error("internal_clerk_error")), (502, "<html>"), (503, "{}"), (200, "<html>"),
            (401, "<html>"), (403, "Forbidden"), (200, #"{"response":{"#), (302, ""),
        ] {
            let outcome = Clerked(status: status, body: body, lines: lines, path: "/v1/client").outcome
            #expect(outcome.tokenAction == (action == .rotate ? .rotate : .keep), "\(status) \(body)")
        }
    }

    @Test func endingSessionsKeepsTheClientToken() {
        for path in ["/v1/client/sessions", "/v1/client/sessions/sess_1/remove"] {
            let body = #"{"response":{"object":"session","id":"sess_1","status":"removed"},"client":null}"#
            let outcome = Clerked(status: 200, body: body, method: .delete, path: path).outcome
            #expect(outcome.kind == .ok && outcome.tokenAction == .keep)
        }
    }

    // MARK: States

    @Test(
        arguments: [
            (#""status":"needs_identifier""#, Outcome.Kind.continue, [Outcome.Remedy.askUser]),
            (#""status":"needs_first_factor""#, .continue, [.askUser]),
            (
                #""status":"needs_first_factor","supported_first_factors":[{"strategy":"email_code"}]"#, .continue,
                [.newChallenge, .askUser]
            ),
            (
                #""status":"needs_first_factor","supported_first_factors":[{"strategy":"email_code"},{"strategy":"password"}]"#,
                .continue, [.askUser]
            ),
            (
                #""status":"needs_first_factor","supported_first_factors":[{"strategy":"email_code"}],"first_factor_verification":{"status":"unverified","strategy":"email_code","error":null}"#,
                .continue, [.askUser]
            ),
            (
                #""status":"needs_first_factor","first_factor_verification":{"status":"unverified","strategy":"oauth_x","external_verification_redirect_url":"https://x"}"#,
                .continue, [.visitProvider]
            ),
            (
                #""status":"needs_second_factor","supported_second_factors":[{"strategy":"totp"}]"#, .continue,
                [.askUser]
            ),
            (
                #""status":"needs_second_factor","supported_second_factors":[{"strategy":"phone_code"}]"#, .continue,
                [.newChallenge, .askUser]
            ),
            (
                #""status":"needs_client_trust","supported_second_factors":[{"strategy":"email_code"}]"#, .continue,
                [.newChallenge, .askUser]
            ),
            (
                #""status":"needs_client_trust","second_factor_verification":{"status":"unverified","strategy":"email_code"}"#,
                .continue, [.askUser]
            ),
            (#""status":"needs_new_password""#, .continue, [.changePassword]),
            (#""status":"needs_protect_check""#, .challengeRequired, [.solveChallenge]),
            (#""status":"needs_protect_check","protect_check":{"token":"t"}"#, .challengeRequired, [.solveChallenge]),
            (
                #""status":"needs_first_factor","protect_check":{"status":"pending","token":"t"}"#, .challengeRequired,
                [.solveChallenge]
            ),
            (#""status":"needs_first_factor","protect_check":{"status":"passed"}"#, .continue, [.askUser]),
            (#""status":"needs_something_new""#, .continue, []),
            (#""status":"complete","created_session_id":"sess_1""#, .ok, []),
            (#""status":"abandoned""#, .flowExpired, [.restartFlow]),
            (
                #""status":"needs_first_factor","first_factor_verification":{"status":"expired"}"#, .challengeExpired,
                [.newChallenge]
            ),
            (
                #""status":"needs_first_factor","first_factor_verification":{"status":"failed"}"#, .challengeExpired,
                [.newChallenge, .switchFactor]
            ),
        ] as [(String, Outcome.Kind, [Outcome.Remedy])]
    )
    func signIns(members: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) throws {
        let body = #"{"response":{"object":"sign_in_attempt","id":"sia_1",\#(members)},"client":{"object":"client"}}"#
        let outcome = Clerked(status: 200, body: body).outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies && outcome.processed == .yes)
        #expect(outcome.statusType == (try JSONValue(parsing: "{\(members)}"))["status"]?.string)
    }

    @Test func aFailureInsideASuccess() {
        let body = #"""
            {"response":{"object":"sign_in_attempt","status":"needs_identifier","first_factor_verification":
            {"status":"unverified","error":{"code":"user_locked","long_message":"Locked","meta":{"lockout_expires_in_seconds":60}}}}}
            """#
        let outcome = Clerked(status: 200, body: body, method: .get, path: "/v1/client/sign_ins/sia_1").outcome
        #expect(outcome.kind == .accountLocked && outcome.lockout == .remaining(.seconds(60)))
        #expect(
            outcome.processed == .yes && outcome.statusType == "needs_identifier" && outcome.userMessage == "Locked"
        )
        let unknown = body.replacing("user_locked", with: "external_account_unheard_of")
        let second = Clerked(status: 200, body: unknown).outcome
        #expect(second.kind == .unknown && second.code == "external_account_unheard_of" && second.remedies == [])
        let complete = body.replacing("needs_identifier", with: "complete")
        #expect(Clerked(status: 200, body: complete).outcome.kind == .ok)
    }

    @Test(
        arguments: [
            (
                #""status":"missing_requirements","missing_fields":["password"]"#, Outcome.Kind.continue,
                [Outcome.Remedy.askUser]
            ),
            (
                #""status":"missing_requirements","missing_fields":[],"unverified_fields":["email_address"]"#,
                .continue, [.newChallenge, .askUser]
            ),
            (#""status":"complete""#, .ok, []), (#""status":"abandoned""#, .flowExpired, [.restartFlow]),
            (
                #""status":"missing_requirements","missing_fields":["password"],"protect_check":{"status":"pending"}"#,
                .challengeRequired, [.solveChallenge]
            ),
            (
                #""status":"missing_requirements","verifications":{"external_account":{"error":{"code":"not_allowed_access"}}}"#,
                .permissionDenied, [.contactAdmin]
            ),
            (
                #""status":"missing_requirements","missing_fields":["email_address"],"verifications":{"external_account":{"status":"unverified","external_verification_redirect_url":"https://x"}}"#,
                .continue, [.visitProvider]
            ),
        ] as [(String, Outcome.Kind, [Outcome.Remedy])]
    )
    func signUps(members: String, kind: Outcome.Kind, remedies: [Outcome.Remedy]) {
        let body = #"{"response":{"object":"sign_up_attempt",\#(members)}}"#
        let outcome = Clerked(status: 200, body: body, path: "/v1/client/sign_ups").outcome
        #expect(outcome.kind == kind && outcome.remedies == remedies)
    }

    @Test func sessions() {
        func outcome(_ status: String, _ path: String = "/v1/client/sessions/sess_1/touch", tasks: String = "[]")
            -> Outcome
        {
            let body = #"{"response":{"object":"session","status":"\#(status)","tasks":\#(tasks)},"client":null}"#
            return Clerked(status: 200, body: body, path: path).outcome
        }
        #expect(outcome("active").kind == .ok && outcome("active").statusType == "active")
        #expect(outcome("pending", tasks: #"[{"key":"setup-mfa"}]"#).kind == .continue)
        #expect(outcome("pending", tasks: #"[{"key":"reset-password"}]"#).remedies == [.changePassword])
        for status in ["ended", "expired", "removed", "replaced", "revoked", "abandoned"] {
            #expect(outcome(status).kind == .credentialRejected && outcome(status).credential == .session)
            #expect(outcome(status).tokenAction == .keep)
            #expect(outcome(status, "/v1/client/sessions/sess_1/end").kind == .ok)
        }
        #expect(outcome("hibernating").kind == .ok && outcome("hibernating").statusType == "hibernating")
    }

    @Test(arguments: [
        (#"{"object":"token","jwt":"a.b.c"}"#, Outcome.Kind.ok), (#"{"object":"token","jwt":""}"#, .unavailable),
        (#"{"object":"token","jwt":null}"#, .unavailable), ("{}", .unavailable), ("", .unavailable),
        ("null", .unavailable),
        ("<html>", .unreadable), (#"{"response":{"object":"token","jwt":"a.b.c"}}"#, .ok),
    ])
    func sessionTokens(body: String, kind: Outcome.Kind) {
        let outcome = Clerked(status: 200, body: body, path: "/v1/client/sessions/sess_1/tokens").outcome
        #expect(outcome.kind == kind && outcome.tokenAction == .keep)
        if kind == .unavailable { #expect(outcome.remedies == [.retry]) }
    }

    @Test func otherSuccesses() {
        let client = #"{"response":{"object":"client","id":"c","sign_in":{"status":"abandoned"}},"client":null}"#
        for body in [client, #"{"response":null,"client":null}"#] {
            #expect(Clerked(status: 200, body: body, method: .get, path: "/v1/client").outcome.kind == .ok)
        }
        for body in ["", "[]", #"{"object":"environment"}"#] {
            #expect(Clerked(status: 200, body: body, method: .get, path: "/v1/environment").outcome.kind == .ok)
        }
        #expect(Clerked(status: 204, body: "", method: .delete, path: "/v1/client").outcome.kind == .ok)
        #expect(Clerked(status: 200, body: "").outcome.kind == .unreadable)
        #expect(Clerked(status: 200, body: Clerked.error("form_code_incorrect")).outcome.kind == .challengeIncorrect)
        #expect(Clerked(status: 302, body: "").outcome.kind == .ok)
    }

    @Test func aLostAnswer() {
        let error = TransportError(.connectionLost, .unknown)
        let exchange = Exchange(
            method: .post,
            path: "/v1/client/sign_ins",
            result: .failure(error),
            now: Timestamp(secondsSinceEpoch: 0)
        )
        let outcome = ClerkClassifier().classify(exchange)
        #expect(outcome.kind == .transport && outcome.processed == .unknown && outcome.tokenAction == .keep)
    }

    // MARK: Classes of endpoints

    @Test(arguments: [
        (HTTPRequest.Method.post, "/v1/client/sign_ins", "create sign-in"),
        (.post, "/proxy/v1/client/sign_ins?_is_native=1", "create sign-in"),
        (.post, "/v1/client/sign_ups", "create sign-up"),
        (.post, "/v1/client/sign_ins/sia_a/attempt_first_factor", "attempt sign-in"),
        (.post, "/v1/client/sign_ins/sia_b/attempt_second_factor", "attempt sign-in"),
        (.post, "/v1/client/sign_ups/sua_a/attempt_verification", "attempt sign-up"),
        (.post, "/v1/client/sign_ins/sia_a/prepare_first_factor", "POST /v1/client/sign_ins/{id}/prepare_first_factor"),
        (.get, "/v1/client/sign_ins/sia_a", "GET /v1/client/sign_ins/{id}"),
        (.post, "/v1/client/sessions/sess_2x/tokens", "POST /v1/client/sessions/{id}/tokens"),
        (.get, "/v1/me", "GET /v1/me"), (.get, "/v1/client", "GET /v1/client"), (.get, "", "GET /v1/"),
    ])
    func endpointClasses(method: HTTPRequest.Method, path: String, name: String) {
        #expect(ClerkClassifier().endpointClass(method: method, path: path) == name)
    }
}
