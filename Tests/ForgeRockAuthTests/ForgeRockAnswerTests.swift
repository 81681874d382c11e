import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A callback as text.
func callback(_ type: String, _ output: String = "", inputs: Int = 1, index: Int = 1) -> String {
    let list = (0..<inputs).map { #"{"name":"IDToken\#(index)\#($0 == 0 ? "" : "x\($0)")","value":""}"# }
    return #"{"type":"\#(type)","output":[\#(output)],"input":[\#(list.joined(separator: ","))],"_id":\#(index - 1)}"#
}

/// A step as text.
func stepBody(_ callbacks: String..., stage: String? = "Login", authID: String? = "auth1") -> String {
    let proof = authID.map { #""authId":"\#($0)","# } ?? ""
    let name = stage.map { #""stage":"\#($0)","# } ?? ""
    return #"{\#(proof)\#(name)"header":"Sign in","callbacks":[\#(callbacks.joined(separator: ","))]}"#
}

@Suite("Successes of PingAM that tell more than that")
struct ForgeRockAnswerTests {
    static let failed =
        #"{"name":"failedPolicies","value":["{\"policyRequirement\":\"MIN_LENGTH\",\"params\":{\"minLength\":8}}"]}"#

    static let steps: [(callbacks: [String], kind: Outcome.Kind, remedies: [Outcome.Remedy])] = [
        ([callback("NameCallback"), callback("PasswordCallback", index: 2)], .continue, [.askUser]),
        ([callback("TextInputCallback")], .continue, [.askUser]),
        ([callback("ChoiceCallback", #"{"name":"choices","value":["a","b"]}"#)], .continue, [.askUser]),
        ([callback("ConfirmationCallback")], .continue, [.askUser]),
        ([callback("TextOutputCallback", #"{"name":"message","value":"Hi"}"#, inputs: 0)], .continue, []),
        ([callback("HiddenValueCallback")], .continue, []),
        ([callback("PollingWaitCallback", #"{"name":"waitTime","value":"1000"}"#, inputs: 0)], .continue, [.poll]),
        (
            [
                callback("SuspendedTextOutputCallback", #"{"name":"message","value":"Look into your mail"}"#, inputs: 0)
            ], .userActionRequired, [.visitProvider]
        ),
        (
            [
                callback(
                    "MetadataCallback",
                    #"{"name":"data","value":{"_type":"WebAuthn","_action":"webauthn_authentication","challenge":"AQID"}}"#,
                    inputs: 0
                ), callback("HiddenValueCallback", #"{"name":"id","value":"webAuthnOutcome"}"#, index: 2),
            ], .continue, [.askUser]
        ),
        ([ForgeRockCeremonyTests.script(authentication: #"rpId: "example.com","#), AM.hidden], .continue, [.askUser]),
        ([callback("MetadataCallback", #"{"name":"data","value":{"x":1}}"#, inputs: 0)], .continue, []),
        ([callback("RedirectCallback")], .continue, [.visitProvider]),
        ([callback("IdPCallback")], .continue, [.visitProvider]),
        ([callback("SelectIdPCallback")], .continue, [.askUser]),
        ([callback("DeviceProfileCallback")], .continue, [.solveChallenge]),
        ([callback("ReCaptchaCallback")], .challengeRequired, [.solveChallenge]),
        ([callback("ReCaptchaEnterpriseCallback")], .challengeRequired, [.solveChallenge]),
        (
            [callback("NameCallback"), callback("ReCaptchaCallback", index: 2)], .challengeRequired,
            [.askUser, .solveChallenge]
        ),
        ([callback("AppIntegrityCallback")], .challengeRequired, [.solveChallenge]),
        ([callback("PingOneProtectInitializeCallback")], .continue, [.solveChallenge]),
        ([callback("PingOneProtectEvaluationCallback")], .continue, [.solveChallenge]),
        (
            [AM.metadata(#"{"_type":"PingOneProtect","_action":"protect_initialize"}"#), AM.hidden], .continue,
            [.solveChallenge]
        ),
        (
            [AM.metadata(#"{"_type":"PingOneProtect","_action":"protect_risk_evaluation"}"#), AM.hidden], .continue,
            [.solveChallenge]
        ),
        ([callback("TermsAndConditionsCallback")], .continue, [.askUser]),
        ([callback("KbaCreateCallback", inputs: 2)], .continue, [.askUser]),
        ([callback("BooleanAttributeInputCallback", inputs: 2)], .continue, [.askUser]),
        ([callback("NumberAttributeInputCallback", inputs: 2)], .continue, [.askUser]),
        ([callback("StringAttributeInputCallback", inputs: 2)], .continue, [.askUser]),
        ([callback("ValidatedCreateUsernameCallback", inputs: 2)], .continue, [.askUser]),
        ([callback("ValidatedCreatePasswordCallback", inputs: 2)], .continue, [.changePassword]),
        ([callback("DeviceBindingCallback")], .continue, [.askUser]),
        ([callback("DeviceSigningVerifierCallback")], .continue, [.askUser]),
        ([callback("HttpCallback")], .continue, [.askUser]), ([callback("X509Callback")], .continue, [.askUser]),
        ([callback("X509CertificateCallback")], .continue, [.askUser]),
        ([callback("LanguageCallback")], .continue, [.askUser]),
        ([callback("ConsentMappingCallback")], .continue, [.askUser]),
        ([callback("RetinaScanCallback")], .continue, [.askUser]),
        ([callback("ValidatedCreatePasswordCallback", failed, inputs: 2)], .passwordRejected, [.askUser]),
        ([callback("StringAttributeInputCallback", failed, inputs: 2)], .invalidRequest, [.askUser]),
    ]

    @Test(arguments: steps.indices)
    func step(_ index: Int) {
        let row = Self.steps[index]
        let body = #"{"authId":"a","stage":"Login","callbacks":[\#(row.callbacks.joined(separator: ","))]}"#
        let outcome = Exchanged(status: 200, body: body).outcome
        #expect(outcome.kind == row.kind)
        #expect(outcome.remedies == row.remedies)
        #expect(outcome.tokenAction == .rotate)
        #expect(outcome.statusType == "Login")
        #expect(outcome.processed == .yes)
        #expect(Exchanged(status: 200, body: body, presented: nil).outcome.tokenAction == .keep)
    }

    @Test func aPollStatesItsTime() {
        let rows: [(String, Double?)] = [
            (#""1000""#, 1), ("2500", 2.5), (#""nan""#, nil), (#""-5""#, nil), (#""""#, nil), ("{}", nil), ("0", 0),
        ]
        for (time, seconds) in rows {
            let output = #"{"name":"waitTime","value":\#(time)}"#
            let outcome = Exchanged(
                status: 200,
                body: stepBody(callback("PollingWaitCallback", output, inputs: 0))
            ).outcome
            #expect(outcome.retryAfter?.inSeconds == seconds)
        }
    }

    @Test func theTextBesideTheQuestionsIsToldToThePerson() {
        func text(_ kind: String, _ message: String, index: Int = 1) -> String {
            callback(
                "TextOutputCallback",
                #"{"name":"message","value":"\#(message)"},{"name":"messageType","value":"\#(kind)"}"#,
                inputs: 0,
                index: index
            )
        }
        func told(_ callbacks: String...) -> String? {
            let body = #"{"authId":"a","callbacks":[\#(callbacks.joined(separator: ","))]}"#
            let outcome = Exchanged(status: 200, body: body).outcome
            #expect(outcome.kind == .continue)
            return outcome.userMessage
        }
        let password = callback("PasswordCallback", index: 9)
        #expect(told(text("2", "Wrong"), password) == "Wrong")
        #expect(told(text("0", "Hello"), text("2", "Wrong"), text("1", "Soon"), password) == "Wrong")
        #expect(told(text("4", "alert(1)"), password) == nil)
        #expect(told(text("4", "alert(1)"), text("0", "Hello")) == "Hello")
        #expect(told(text("1", ""), password) == nil)
        #expect(told(password) == nil)
    }

    @Test func brokenRulesAreTold() {
        let body = stepBody(callback("ValidatedCreatePasswordCallback", Self.failed, inputs: 2))
        let outcome = Exchanged(status: 200, body: body).outcome
        #expect(outcome.parameter == "password")
        #expect(outcome.details?[0]?["policyRequirement"] == "MIN_LENGTH")
        let suspended = stepBody(
            callback("SuspendedTextOutputCallback", #"{"name":"message","value":"Mail sent"}"#, inputs: 0),
            authID: nil
        )
        #expect(Exchanged(status: 200, body: suspended).outcome.userMessage == "Mail sent")
    }

    @Test func theEndOfAJourneyUsesItsProofUp() {
        let body = #"{"tokenId":"t","successUrl":"/am/console","realm":"/alpha"}"#
        #expect(Exchanged(status: 200, body: body).outcome.tokenAction == .clear)
        #expect(Exchanged(status: 200, body: body).outcome.kind == .ok)
        #expect(Exchanged(status: 200, body: body, presented: .session).outcome.tokenAction == .rotate)
        let without = #"{"successUrl":"/am/console","realm":"/alpha"}"#
        #expect(Exchanged(status: 200, body: without, presented: .session).outcome.tokenAction == .keep)
        #expect(Exchanged(status: 200, body: without).outcome.kind == .ok)
    }

    @Test(arguments: ["", "[]", "7", "{}", "null", "<html>", #"{"a":1}"#, "\u{0}", #"{"callbacks":[]}"#])
    func whatIsNoStepAndNoEndIsUnreadable(body: String) {
        #expect(Exchanged(status: 200, body: body).outcome.kind == .unreadable)
    }

    static let sessions: [(body: String, kind: Outcome.Kind, token: Outcome.TokenAction)] = [
        (#"{"username":"ada","universalId":"id=ada","realm":"/alpha"}"#, .ok, .keep),
        (#"{"valid":true,"uid":"ada","realm":"/alpha"}"#, .ok, .keep),
        (#"{"valid":false}"#, .credentialRejected, .clear), (#"{"active":false}"#, .credentialRejected, .clear),
        (#"{"active":true}"#, .ok, .keep), (#"{"maxtime":7199}"#, .ok, .keep),
        (#"{"maxtime":-1}"#, .credentialRejected, .clear),
        (#"{"result":"Successfully logged out"}"#, .ok, .clear), (#"{"result":"Token has expired"}"#, .ok, .clear),
        ("", .ok, .clear), ("<html>", .unreadable, .keep), ("nonsense", .unreadable, .keep),
    ]

    @Test(arguments: sessions.indices)
    func session(_ index: Int) {
        let row = Self.sessions[index]
        let status = row.body.isEmpty ? 204 : 200
        let outcome = Exchanged(status: status, body: row.body, presented: .session, path: Exchanged.sessions).outcome
        #expect(outcome.kind == row.kind)
        #expect(outcome.tokenAction == row.token)
        #expect(outcome.credential == (row.kind == .credentialRejected ? .session : nil))
        let nothing = Exchanged(status: status, body: row.body, presented: nil, path: Exchanged.sessions).outcome
        #expect(nothing.tokenAction == .keep)
    }

    static let actions: [(action: String, status: Int, body: String, kind: Outcome.Kind, token: Outcome.TokenAction)] =
        [
            ("validate", 200, "", .unreadable, .keep), ("getSessionInfo", 204, "", .unreadable, .keep),
            ("validate", 200, #"{"valid":false}"#, .credentialRejected, .clear),
            ("logout", 200, "{}", .ok, .clear), ("logout", 200, #"{"result":"Abgemeldet"}"#, .ok, .clear),
            ("logout", 204, "", .ok, .clear), ("LOGOUT", 200, "", .ok, .clear),
            ("logout", 200, "<html>", .unreadable, .keep),
            ("refresh", 200, #"{"result":"has expired soon"}"#, .ok, .keep),
        ]

    @Test(arguments: actions.indices)
    func whatTheSessionWasAskedDecides(index: Int) {
        let row = Self.actions[index]
        let path = "\(Exchanged.sessions)?x=1&_action=\(row.action)"
        let outcome = Exchanged(status: row.status, body: row.body, presented: .session, path: path).outcome
        #expect(outcome.kind == row.kind && outcome.tokenAction == row.token, "\(row)")
        let line = JSONValue.object([
            .init("request", ["method": "POST", "path": .string(path), "presented": "session"]),
            .init("status", .number(JSONValue.Number(row.status))), .init("body", .string(row.body)),
        ])
        let text = line.description.utf8
        let answer = RecordedExchange.answer(to: Array(text), by: ForgeRockClassifier(), systemTime: .system())
        #expect(answer["kind"]?.string == row.kind.rawValue, "\(row)")
        #expect(answer["token_action"]?.string == row.token.rawValue, "\(row)")
    }

    @Test(arguments: actions.indices)
    func whatTheSessionWasAskedDecidesInALiveCallToo(index: Int) async throws {
        let row = Self.actions[index]
        let bench = try ForgeRockBench(
            [.status(row.status, [:], body: row.body)],
            credentials: Credentials(ssoToken: "S1")
        )
        let path = "/json/realms/root/realms/alpha/sessions?x=1&_action=\(row.action)"
        if row.kind == .ok {
            let response = try await bench.forgeRock.send(.post, path: path)
            #expect(response.outcome.kind == .ok && response.outcome.tokenAction == row.token, "\(row)")
        } else {
            let error = await #expect(throws: RecoveryError.self) { try await bench.forgeRock.send(.post, path: path) }
            let kind = row.kind == .credentialRejected ? .reauthenticationRequired : row.kind
            #expect(error?.kind == kind && error?.outcome.tokenAction == row.token, "\(row)")
        }
    }

    @Test(arguments: ["", "<html>timeout</html>", "{}", #"{"message":"x"}"#])
    func a408EndsTheJourneyWhoeverSaysIt(body: String) {
        let outcome = Exchanged(status: 408, body: body).outcome
        #expect(outcome.kind == .flowExpired && outcome.remedies == [.restartFlow] && outcome.tokenAction == .clear)
        let elsewhere = Exchanged(status: 408, body: body, presented: .session, path: Exchanged.users).outcome
        #expect(elsewhere.kind == .unavailable && elsewhere.tokenAction == .keep)
    }

    @Test(arguments: [
        Exchanged.error(401, "x", number: "\"110\""),
        Exchanged.error(401, "org.forgerock.openam.auth.nodes.SuspendedAuthSessionException: gone"),
    ])
    func aMailedLinkThatIsTooOldIsUsedUp(body: String) {
        for presented in [Outcome.CredentialKind.code, .state] {
            let outcome = Exchanged(body: body, presented: presented).outcome
            #expect(outcome.kind == .flowExpired && outcome.tokenAction == .clear)
        }
        #expect(Exchanged(body: body, presented: .session).outcome.tokenAction == .keep)
    }

    @Test func aWordAboutACodeRefusesNoRefreshToken() {
        let body = #"{"error":"invalid_code"}"#
        let outcome = Exchanged(status: 400, body: body, presented: .refresh, path: Exchanged.token).outcome
        #expect(outcome.tokenAction == .keep)
    }

    static let oauth: [(status: Int, word: String, presented: Outcome.CredentialKind, kind: Outcome.Kind)] = [
        (400, "invalid_grant", .refresh, .credentialRejected), (400, "invalid_grant", .code, .credentialRejected),
        (400, "invalid_code", .code, .credentialRejected), (400, "invalid_request", .refresh, .invalidRequest),
        (400, "invalid_scope", .refresh, .invalidRequest), (400, "unauthorized_client", .refresh, .misconfigured),
        (400, "unsupported_grant_type", .refresh, .misconfigured), (400, "access_denied", .code, .declined),
        (400, "redirect_uri_mismatch", .code, .misconfigured),
        (400, "login_required", .session, .credentialRejected),
        (400, "interaction_required", .session, .userActionRequired),
        (400, "consent_required", .session, .userActionRequired),
        (400, "authorization_pending", .device, .challengePending), (400, "slow_down", .device, .challengePending),
        (400, "server_error", .refresh, .unavailable), (500, "server_error", .refresh, .unavailable),
        (401, "invalid_client", .refresh, .misconfigured), (400, "invalid_client", .refresh, .misconfigured),
        (401, "invalid_token", .access, .credentialRejected), (401, "expired_token", .access, .credentialRejected),
        (403, "insufficient_scope", .access, .permissionDenied), (403, "authorization_declined", .device, .declined),
        (404, "not_found", .refresh, .notFound), (400, "bad_request", .id, .invalidRequest),
        (400, "redirect_uri_mismatch", .id, .misconfigured), (400, "relative_redirect_uri", .id, .invalidRequest),
        (500, "server_error", .id, .unavailable), (503, "invalid_grant", .refresh, .unavailable),
        (429, "invalid_grant", .refresh, .rateLimited),
    ]

    @Test(arguments: oauth.indices)
    func oauthWord(_ index: Int) {
        let row = Self.oauth[index]
        let path = row.presented == .access ? Exchanged.userInfo : Exchanged.token
        let body = #"{"error":"\#(row.word)","error_description":"d"}"#
        let outcome = Exchanged(status: row.status, body: body, presented: row.presented, path: path).outcome
        #expect(outcome.kind == row.kind)
        // That a session is not enough for an app does not end it; a device that was declined is over.
        let isOver = row.word == "authorization_declined" || row.kind == .credentialRejected
        #expect(outcome.tokenAction == (isOver && row.word != "login_required" ? .clear : .keep))
        #expect(outcome.code == row.word)
        if row.kind == .credentialRejected { #expect(outcome.credential == row.presented) }
    }

    @Test func theAuthorizationEndpointAnswersByItsRedirect() {
        func outcome(_ location: String) -> Outcome {
            Exchanged(
                status: 302,
                lines: [("Location", location)],
                presented: .session,
                path: Exchanged.authorize
            ).outcome
        }
        #expect(outcome("https://app/cb?code=1&iss=x&state=2&client_id=c").kind == .ok)
        #expect(outcome("https://app/cb?error=access_denied&state=2").kind == .permissionDenied)
        #expect(outcome("https://app/cb?error=invalid_scope&state=2").kind == .invalidRequest)
        let dead = Exchanged(
            status: 401,
            body: Exchanged.error(401, "Access Denied"),
            presented: .session,
            path: Exchanged.authorize
        ).outcome
        #expect(dead.kind == .credentialRejected && dead.credential == .session && dead.tokenAction == .clear)
    }

    static let flows: [(status: Int, body: String, kind: Outcome.Kind, remedies: [Outcome.Remedy])] = [
        (400, #"{"code":1999,"message":"try again"}"#, .flowExpired, [.restartFlow]),
        (400, #"{"code":"1999"}"#, .flowExpired, [.restartFlow]),
        (400, #"{"code":"requestTimedOut"}"#, .flowExpired, [.restartFlow]),
        (400, #"{"requestTimedOut":true}"#, .flowExpired, [.restartFlow]),
        (
            400, #"{"connectorId":"pingOneAuthenticationConnector","capabilityName":"setSession"}"#,
            .credentialRejected, [.reauthenticate]
        ),
        (
            400, #"{"connectorId":"pingOneAuthenticationConnector","capabilityName":"returnSuccessResponseRedirect"}"#,
            .credentialRejected, [.reauthenticate]
        ),
        (
            400,
            #"{"id":"t","code":"Invalid username and/or password","details":[{"rawResponse":{"code":"INVALID_DATA","details":[{"code":"INVALID_VALUE","target":"password","innerError":{"failuresRemaining":4}}]}}]}"#,
            .invalidCredentials, [.askUser]
        ),
        (
            400,
            #"{"code":"invalidValue","details":[{"rawResponse":{"details":[{"target":"password","innerError":{"unsatisfiedRequirements":["length"]}}]}}]}"#,
            .passwordRejected, [.askUser]
        ),
        (400, #"{"code":"invalidInput","message":"no","connectorId":"x"}"#, .invalidRequest, [.askUser]),
        (200, #"{"status":"FAILED","error":{"code":"x","message":"no"}}"#, .unknown, []),
        (200, #"{"status":"FAILED","error":{"code":1999}}"#, .flowExpired, [.restartFlow]),
        (502, "<html>", .unavailable, [.retry]), (500, "oops", .unavailable, [.retry]),
    ]

    @Test(arguments: flows.indices)
    func orchestratedFlow(_ index: Int) {
        let row = Self.flows[index]
        let path = "/env/davinci/policy/1/start"
        let outcome = Exchanged(status: row.status, body: row.body, presented: .state, path: path).outcome
        #expect(outcome.kind == row.kind)
        #expect(outcome.remedies == row.remedies)
        #expect(outcome.tokenAction == (row.kind == .flowExpired ? .clear : .keep))
    }
}
