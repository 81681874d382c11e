import AuthRecovery
import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A refused token is answered within the call: under its number, in its history, in its time.
///
/// A person has theirs.
@Suite(.timeLimit(.minutes(30))) struct FacebookReplayTests {
    private static let dead = Recorded.error(190, 463)

    private func attempts(_ bench: FacebookBench) -> [Int] {
        bench.events.events.filter { $0.kind.words.hasPrefix("attempt") }.map(\.call)
    }

    /// A refusal during which another process signs the same person in.
    private func replacing(in tokens: InMemoryTokenStore) -> ScriptedTransport.Step {
        .run { received in
            try await tokens.update { $0.accessToken = Secret("tok\(received.number + 1)") }
            return .scripted(400, body: Self.dead)
        }
    }

    @Test func theReplayHasTheCallsNumberAndSaysWhy() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.ada)
        let bench = try FacebookBench([replacing(in: tokens), .answer("{}")], tokens: tokens)
        let response = try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]))
        #expect(response.history.attempts.map(\.cause) == [.call, .repair(name: "refresh_credential")])
        #expect(attempts(bench) == [1, 1])
        #expect(bench.presented == ["Bearer tok1", "Bearer tok2"])
        #expect(!bench.events.words.contains("clear access"))
    }

    @Test func aCallIsReplayedOnce() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let step = replacing(in: tokens)
        let bench = try FacebookBench([step, step, step], tokens: tokens)
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .alreadyRepaired)
        #expect(bench.presented == ["Bearer tok1", "Bearer tok2"])
        #expect(await tokens.read().credentials.accessToken == "tok3")
    }

    @Test func itCannotClearATokenThatItWasNotShown() async throws {
        let tokens = InMemoryTokenStore(FacebookBench.held)
        let asked = ScriptedTransport.Step.run { _ in
            // The answer of the debugger is about a token that has been replaced since.
            try await tokens.update { $0.accessToken = "tok2" }
            return .scripted(200, body: #"{"data":{"is_valid":false,"app_id":"77"}}"#)
        }
        let bench = try FacebookBench([.error(190), asked, .me], app: FacebookBench.service, tokens: tokens)
        _ = try await bench.facebook.send(path: "me")
        #expect(await tokens.read().credentials.accessToken == "tok2")
        #expect(!bench.events.words.contains("clear access"))
    }

    @Test func facebookIsAskedForTheCall() async throws {
        let answer = ScriptedTransport.Step.answer(#"{"data":{"is_valid":false,"app_id":"77"}}"#)
        let bench = try FacebookBench([.error(190), answer], app: FacebookBench.service)
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(error?.history.steps.last == .repair(name: "refresh_credential", succeeded: false))
        #expect(attempts(bench) == [1, 2])
        #expect(bench.events.events.filter { $0.call == 2 }.allSatisfy { $0.parent == 1 })
        #expect(bench.events.events.first { $0.kind.words == "clear access" }?.call == 1)
    }

    @Test func theDeadlineHoldsWhileFacebookIsAsked() async throws {
        let bench = try FacebookBench(app: FacebookBench.service) {
            Deadline(.seconds(10))
            Recovery()
        }
        let clock = bench.clock
        let silent = ScriptedTransport.Step.run { _ in
            clock.advance(by: .seconds(10))
            for await _ in AsyncStream<Never>.makeStream().stream {}
            throw CancellationError()
        }
        bench.transport.append([.error(190), silent])
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .deadlinePassed && error?.cause is FailureContext.RemediationUnfinished)
        #expect(try await bench.credentials.accessToken == "tok1")
        #expect(bench.transport.received.count == 2)
    }

    @Test func aWaitBeforeTheQuestionIsBoundedByTheCall() async throws {
        let bench = try FacebookBench(
            [.error(190), .error(4, nil, 403, ["retry-after": "60"])],
            app: FacebookBench.service
        ) {
            Deadline(.seconds(10))
            Recovery()
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.facebook.send(path: "me") }
        #expect(error?.reason == .deadlineWouldPass && error?.kind == .rateLimited)
        #expect(error?.retryAfter == .seconds(60))
        #expect(try await bench.credentials.accessToken == "tok1")
    }

    /// The second send is a call of the same work, with a time of its own.
    @Test func aPersonMayTakeLongerThanACall() async throws {
        let bench = try FacebookBench(
            [.error(190, 463), .device, .pending, .pending, .token(), .me, .answer(#"{"id":"9"}"#)],
            credentials: FacebookBench.ada
        ) {
            Deadline(.seconds(8))
            Recovery()
        }
        let response = try await bench.skippingWaits {
            try await bench.facebook.send(.post, path: "me/feed", body: .form(["message": "x"]), answering: Person())
        }
        #expect(response.status == .ok)
        #expect(bench.presented.last == "Bearer tok2")
        let numbers = attempts(bench)
        #expect(numbers.first == numbers.last, "one operation")
        #expect(bench.events.words.filter { $0.hasPrefix("giving_up") } == [])
    }

    @Test func nobodyIsAskedTwice() async throws {
        let bench = try FacebookBench([.error(190, 463), .device, .token(), .me, .error(190, 463), .device, .token()])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.skippingWaits { try await bench.facebook.send(path: "me", answering: Person()) }
        }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(bench.transport.received.count == 5)
    }

    @Test func whatIsDoneBesideCallsHasANumberToo() async throws {
        let bench = try FacebookBench([.token(), .answer("{}")], app: FacebookBench.service)
        _ = try await bench.skippingWaits { try await bench.facebook.refresh() }
        try await bench.facebook.signOut(revoking: true)
        #expect(bench.events.events.allSatisfy { $0.call > 0 })
    }
}
