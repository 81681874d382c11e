import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// A refused credential of Okta's is answered within the call: under its number, in its history, in its time.
@Suite(.timeLimit(.minutes(30))) struct OktaReplayTests {
    private static let app = OktaConfiguration(app: OktaApp(clientID: "0oa1", redirectURI: "com.example:/callback"))
    private static let held = Credentials(accessToken: "A1", refreshToken: "R1")
    private static let refused = ScriptedTransport.Step.status(
        401,
        ["www-authenticate": #"Bearer error="invalid_token""#]
    )
    private static let renewed = ScriptedTransport.Step.answer(
        #"{"access_token":"A2","refresh_token":"R2","expires_in":3600}"#
    )

    private func attempts(_ bench: OktaBench) -> [Int] {
        bench.events.events.filter { $0.kind.words.hasPrefix("attempt") }.map(\.call)
    }

    @Test func theReplayHasTheCallsNumberAndSaysWhy() async throws {
        let bench = try OktaBench(
            [Self.refused, Self.renewed, .answer("{}")],
            credentials: Self.held,
            configuration: Self.app
        )
        let response = try await bench.okta.send(path: "/api/v1/users/me")
        #expect(response.history.attempts.map(\.cause) == [.call, .repair(name: "refresh_credential")])
        #expect(response.history.steps.contains(.repair(name: "refresh_credential", succeeded: true)))
        #expect(attempts(bench) == [1, 2, 1])
        #expect(bench.events.events.filter { $0.call == 2 }.allSatisfy { $0.parent == 1 })
        #expect(bench.events.events.filter { $0.call == 1 }.map(\.kind.words).last == "done ok 2")
        // It is another request, which the org is not told to be a repetition.
        let count = try #require(HTTPField.Name("X-Okta-Retry-Count"))
        #expect(bench.transport.received.allSatisfy { !$0.request.headerFields.contains(count) })
    }

    @Test func aCallIsReplayedOnce() async throws {
        let bench = try OktaBench(
            [Self.refused, Self.renewed, Self.refused, Self.renewed, .answer("{}")],
            credentials: Self.held,
            configuration: Self.app
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/x") }
        #expect(error?.reason == .alreadyRepaired && error?.kind == .credentialRejected)
        #expect(attempts(bench) == [1, 2, 1])
        #expect(try await bench.credentials.accessToken == "A2")
    }

    @Test func theDeadlineHoldsWhileTheTokenIsRenewed() async throws {
        let bench = try OktaBench(credentials: Self.held, configuration: Self.app) {
            Deadline(.seconds(10))
            Recovery()
        }
        let (clock, latch) = (bench.clock, AsyncStream.makeStream(of: Never.self))
        let slow = ScriptedTransport.Step.run { _ in
            clock.advance(by: .seconds(10))
            for await _ in latch.stream {}
            return .scripted(200, body: #"{"access_token":"A2","refresh_token":"R2","expires_in":3600}"#)
        }
        bench.transport.append([Self.refused, slow])
        let error = await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/x") }
        #expect(error?.reason == .deadlinePassed && error?.cause is FailureContext.RemediationUnfinished)
        #expect(error?.outcome.status == 401)
        // The renewal is everybody's, and goes on.
        latch.continuation.finish()
        #expect(await bench.okta.tokens.finish())
        #expect(try await bench.credentials.accessToken == "A2")
        #expect(bench.transport.received.count == 2)
    }

    /// Okta says that a session is over with a 403, too.
    @Test func aSessionThatIsRefusedByA403IsForgottenUnderTheCallsNumber() async throws {
        let gone = ScriptedTransport.Step.status(403, [:], body: Recorded.error("E0000005"))
        let bench = try OktaBench([gone], credentials: Credentials(sessionID: "sid1"))
        let error = await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/x") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.history.steps.last == .repair(name: "refresh_credential", succeeded: false))
        #expect(try await bench.credentials.sessionID == nil)
        #expect(bench.events.events.first { $0.kind.words == "clear session" }?.call == 1)
    }

    @Test func itCannotClearASessionThatItWasNotShown() async throws {
        let tokens = InMemoryTokenStore(Credentials(sessionID: "sid1"))
        let replaced = ScriptedTransport.Step.run { received in
            // Somebody signs in whenever an answer is on its way.
            try await tokens.update { $0.sessionID = "sid\(received.number + 1)" }
            return .scripted(403, body: Recorded.error("E0000005"))
        }
        let bench = try OktaBench([replaced, replaced, .answer("{}")], tokens: tokens)
        let error = await #expect(throws: RecoveryError.self) { try await bench.okta.send(path: "/x") }
        #expect(error?.reason == .alreadyRepaired)
        let sent = bench.transport.received.map { $0.request.headerFields[.cookie] }
        #expect(sent == ["sid=sid1", "sid=sid2"])
        #expect(await tokens.read().credentials.sessionID == "sid3")
        #expect(!bench.events.words.contains("clear session"))
    }

    @Test func whatIsDoneBesideCallsHasANumberToo() async throws {
        let bench = try OktaBench(
            [.answer(#"{"active":false}"#), Self.renewed, Self.renewed, .status(200), .status(200)],
            credentials: Self.held,
            configuration: Self.app
        )
        #expect(try await bench.okta.session() != nil)
        try await bench.okta.refresh()
        try await bench.okta.signOut()
        #expect(bench.events.events.allSatisfy { $0.call > 0 })
        #expect(bench.events.events.filter { $0.kind.words.hasPrefix("clear") }.map(\.call) == [1, 5, 5])
    }
}
