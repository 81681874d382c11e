import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Successes whose bodies say nothing.
@Suite struct ClerkUselessAnswerTests {
    private static let bodies = [
        "", " ", "5", "null", "[]", #""x""#, "true", "{}", #"{"response":{}}"#, #"{"response":5}"#, #"{"response":[]}"#,
        #"{"response":{},"client":{}}"#,
    ]

    @Test(arguments: [
        "/v1/client/sign_ins", "/v1/client/sign_ins/sia_1/attempt_first_factor",
        "/v1/client/sign_ins/sia_1/attempt_second_factor", "/v1/client/sign_ins/sia_1/reset_password",
        "/v1/client/sign_ups", "/v1/client/sign_ups/sua_1/attempt_verification",
        "/v1/client/sessions/sess_1/verify", "/v1/client/sessions/sess_1/verify/attempt_first_factor",
    ])
    func aStepOfAFlowThatDoesNotSayWhereItStandsIsUnreadable(path: String) {
        for body in Self.bodies + [#"{"response":null,"client":null}"#] {
            let outcome = Clerked(status: 200, body: body, path: path).outcome
            #expect(outcome.kind == .unreadable && outcome.remedies.isEmpty, "\(body)")
            #expect(outcome.processed == .yes && outcome.tokenAction == .keep)
        }
    }

    @Test func whereAFlowStandsMayBeToldByTheClient() {
        let client = #"{"object":"client","sign_in":\#(ClerkJSON.signIn("needs_new_password"))}"#
        let body = #"{"response":null,"client":\#(client)}"#
        let outcome = Clerked(status: 200, body: body).outcome
        #expect(outcome.kind == .continue && outcome.statusType == "needs_new_password")
        #expect(Clerked(status: 200, body: body, path: "/v1/client/sign_ups").outcome.kind == .unreadable)
    }

    @Test func aClientThatIsNotThereHasToBeSaid() {
        func kind(_ body: String) -> Outcome.Kind {
            Clerked(status: 200, body: body, method: .get, path: "/v1/client").outcome.kind
        }
        for body in Self.bodies { #expect(kind(body) == .unreadable, "\(body)") }
        #expect(kind(#"{"response":null,"client":null}"#) == .ok && kind(#"{"response":null}"#) == .ok)
        #expect(kind("{\"response\":\(ClerkJSON.client(["sess_1"]))}") == .ok)
        #expect(kind("{\"response\":null,\"client\":\(ClerkJSON.client([]))}") == .ok)
        #expect(kind(ClerkJSON.client([])) == .ok)
    }

    @Test func whoIsAskedForNothingMaySayNothing() {
        let calls: [(HTTPRequest.Method, String)] = [
            (.delete, "/v1/client"), (.delete, "/v1/client/sessions"), (.post, "/v1/client/sessions/sess_1/touch"),
            (.post, "/v1/client/sessions/sess_1/remove"), (.post, "/v1/me/sessions/sess_1/revoke"), (.get, "/v1/me"),
            (.get, "/v1/environment"), (.post, "/v1/client"),
        ]
        for (method, path) in calls {
            for body in ["", "{}", #"{"response":null,"client":null}"#, #"{"deleted":true}"#] {
                let outcome = Clerked(status: 200, body: body, method: method, path: path).outcome
                #expect(outcome.kind == .ok, "\(method) \(path) \(body)")
            }
        }
    }

    @Test func aBlankFieldOfAnAnswerThatSaysNothingClearsNothing() async throws {
        let held = Credentials(clientToken: "T0", sessionID: "sess_1")
        for body in Self.bodies {
            let bench = try ClerkBench([.status(200, ["authorization": ""], body: body)], credentials: held) {
                Recovery(maxAttempts: 1)
            }
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.session() }
            #expect(error?.kind == .unreadable)
            #expect(try await bench.credentials == held, "\(body)")
        }
        // Nor does one that is no answer of the API's at all, whoever was asked.
        for body in ["5", #""x""#, "true"] {
            let lines = [("Authorization", "")]
            let outcome = Clerked(status: 200, body: body, lines: lines, method: .get, path: "/v1/me").outcome
            #expect(outcome.tokenAction == .keep, "\(body)")
        }
    }

    @Test(arguments: ["/v1/client", "/v1/me", "/v1/client/sessions/sess_1/tokens"])
    func aWordOfOAuthsElsewhereIsACodeThatNobodyKnows(path: String) {
        for word in ["invalid_grant", "invalid_token", "invalid_client", "unauthorized"] {
            let body = #"{"error":"\#(word)","error_description":"why"}"#
            let outcome = Clerked(status: 401, body: body, path: path).outcome
            #expect(outcome.kind == .credentialRejected && outcome.remedies == [.resync, .reauthenticate], "\(word)")
            #expect(outcome.code == word && outcome.message == "why" && outcome.tokenAction == .keep)
            #expect(Clerked(status: 403, body: body, path: path).outcome.kind == .permissionDenied)
        }
        let body = #"{"error":"invalid_grant"}"#
        let own = Clerked(status: 401, body: body, presented: .refresh, path: "/oauth/token").outcome
        #expect(own.tokenAction == .clear)
    }
}
