import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What is known of the client, and reading it again.
@Suite struct ClerkResyncTests {
    private static let signedIn = Credentials(clientToken: Secret(Token.of("client_1", 1)), sessionID: "sess_1")

    private func bench(_ steps: [ScriptedTransport.Step]) throws -> ClerkBench {
        try ClerkBench(steps, credentials: Self.signedIn) { Recovery(maxAttempts: 1) }
    }

    // MARK: One read for all

    @Test func aRefusalWhileTheSessionLivesIsReplayedOnce() async throws {
        for code in ["authentication_invalid", "signed_out", "session_revoked", "client_not_found"] {
            let bench = try bench([.error(code, status: 401), .client(["sess_1"]), .status(200, [:], body: "{}")])
            #expect(try await bench.clerk.send(path: "/v1/me").status == .ok)
            #expect(bench.sent == ["GET /me", "GET /client", "GET /me"])
        }
    }

    @Test func aRefusalThatStaysSaysNothingOfASessionsEnd() async throws {
        let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
        let bench = try bench([refusal, .client(["sess_1"]), refusal])
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == .credentialRejected)
        #expect(error?.userMessage.contains("still signed in") == true)
        #expect(error?.userMessage.contains("has ended") == false)
        #expect(error?.remedies == [.retry])
        #expect(try await bench.credentials == Self.signedIn)
        #expect(bench.transport.received.count == 3)
    }

    @Test func whereTheClientCannotBeReadNobodySaysThatItHasEnded() async throws {
        let bench = try bench([.error("authentication_invalid", status: 401), .status(503)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.userMessage.contains("has ended") == false)
    }

    @Test func whereTheClientCannotBeReadTheErrorIsWhatKeptItFromBeingRead() async throws {
        let failures: [(ScriptedTransport.Step, Outcome.Kind)] = [
            (.status(500), .unavailable), (.status(503, ["retry-after": "7"]), .unavailable),
            (.status(429), .rateLimited), (.fail(.cannotConnect, .neverSent), .transport),
            (.status(200, [:], body: "<html>"), .unreadable),
        ]
        for (failure, kind) in failures {
            let bench = try bench([.error("authentication_invalid", status: 401), failure])
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
            #expect(error?.kind == kind && error?.reason == .repairFailed)
            #expect(error?.userMessage.contains("not known") == true)
            #expect(error?.cause is RecoveryError)
            #expect(error?.isOffline == (kind == .transport))
            #expect(try await bench.credentials == Self.signedIn)
        }
        let told = try bench([.error("authentication_invalid", status: 401), failures[1].0])
        let error = await #expect(throws: RecoveryError.self) { try await told.clerk.send(path: "/v1/me") }
        #expect(error?.retryAfter == .seconds(7))
    }

    @Test(arguments: ["signed_out", "authentication_invalid"])
    func whereTheClientIsRefusedTooSomebodyHasToSignIn(code: String) async throws {
        let bench = try bench([.error(code, status: 401), .error("signed_out", status: 401)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == .reauthenticationRequired && error?.outcome.code == code)
        #expect(try await bench.credentials == Self.signedIn, "no status and no code removes anything")
    }

    @Test(arguments: [[], ["sess_1"]])
    func whoNamesNoSessionAsksTheClientOnceAndThenSignsIn(sessions: [String]) async throws {
        let held = Credentials(clientToken: Secret(Token.of("client_1", 1)))
        for code in ["signed_out", "authentication_invalid"] {
            let bench = try ClerkBench([.error(code, status: 401), .client(sessions)], credentials: held)
            let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
            #expect(error?.kind == .reauthenticationRequired && error?.remedies == [.reauthenticate])
            #expect(error?.outcome.code == code)
            #expect(bench.sent == ["GET /me", "GET /client"])
            #expect(try await bench.credentials == held)
        }
        let bench = try ClerkBench([.error("signed_out", status: 401), .status(500)], credentials: held) {
            Recovery(maxAttempts: 1)
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.kind == .unavailable)
    }

    // MARK: A read is as old as its request

    @Test(.timeLimit(.minutes(30)))
    func aReadThatWentOutBeforeTheRefusedRequestSaysNothingOfItsRefusal() async throws {
        let (read, refusal) = (Latch(), Latch())
        let bench = try bench([
            .error("authentication_invalid", status: 401),
            .run { _ in
                await read.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}")
            },
            .run { _ in
                await refusal.wait()
                return .scripted(401, [:], body: #"{"errors":[{"code":"authentication_invalid"}]}"#)
            }, .status(200, [:], body: "{}"), .client([]),
        ])
        let first = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(2)
        let second = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(3)
        await read.open()
        #expect(try await first.value.status == .ok)
        // The session ends now, after it was read.
        await refusal.open()
        let error = await #expect(throws: RecoveryError.self) { try await second.value }
        #expect(error?.kind == .reauthenticationRequired)
        #expect(bench.sent.count { $0 == "GET /client" } == 2)
    }

    @Test(.timeLimit(.minutes(30)))
    func aReadThatIsOnItsWayIsJoinedOnlyByWhomItCameAfter() async throws {
        let gate = Latch()
        let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
        let bench = try bench([
            refusal,
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}")
            }, refusal, .client([]),
        ])
        let first = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(2)
        let second = Task { try await bench.clerk.send(path: "/v1/me") }
        for _ in 0..<10_000 where bench.transport.received.count < 4 { await Task.yield() }
        await gate.open()
        let error = await #expect(throws: RecoveryError.self) { try await second.value }
        #expect(error?.kind == .reauthenticationRequired)
        // What is newer counts for the first one, too.
        let other = await #expect(throws: RecoveryError.self) { try await first.value }
        #expect(other?.kind == .reauthenticationRequired)
    }

    // MARK: One read for all, still

    @Test(arguments: [true, false])
    func allCallsThatAreRefusedAtATimeReadTheClientOnce(isLive: Bool) async throws {
        let count = 40
        let server = RefusingServer(count: count, sessions: isLive ? ["sess_1"] : [])
        let bench = try ClerkBench(Array(repeating: server.step, count: count * 4), credentials: Self.signedIn) {
            Recovery(maxAttempts: 1)
        }
        let ends = await withTaskGroup(of: Outcome.Kind.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        return try await bench.clerk.send(path: "/v1/me").outcome.kind
                    } catch {
                        return (error as? RecoveryError)?.kind ?? .unknown
                    }
                }
            }
            return await group.reduce(into: [Outcome.Kind]()) { $0.append($1) }
        }
        #expect(ends == Array(repeating: isLive ? .ok : .reauthenticationRequired, count: count))
        #expect(bench.sent.count { $0 == "GET /client" } == 1)
        #expect(bench.events.words.count { $0 == "clear session" } == (isLive ? 0 : 1))
    }

    @Test(.timeLimit(.minutes(30)))
    func aCallersCancellationDoesNotEndTheOthersRead() async throws {
        let (gate, held) = (Latch(), Latch())
        let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
        let bench = try bench([
            .run { _ in
                await held.wait()
                return .scripted(401, [:], body: #"{"errors":[{"code":"authentication_invalid"}]}"#)
            }, refusal,
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}")
            }, .status(200, [:], body: "{}"),
        ])
        let second = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(1)
        let first = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(3)
        await held.open()
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await gate.open()
        #expect(try await second.value.status == .ok)
        #expect(bench.sent.count { $0 == "GET /client" } == 1)
    }

    @Test func aReadThatFailsIsNotRemembered() async throws {
        let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
        let bench = try bench([
            refusal, .status(503), refusal, .client(["sess_1"]), .status(200, [:], body: "{}"),
        ])
        await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(try await bench.clerk.send(path: "/v1/me").status == .ok)
    }

    @Test func noReplayGoesOutForSomebodyElse() async throws {
        let tokens = InMemoryTokenStore(Self.signedIn)
        let bench = try ClerkBench(
            [
                .error("authentication_invalid", status: 401),
                .run { _ in
                    try await tokens.update {
                        $0.clientToken = Secret(Token.of("client_2", 1))
                        $0.sessionID = "sess_9"
                    }
                    return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}")
                },
            ],
            tokens: tokens
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        #expect(error?.reason == .identityChanged)
        #expect(bench.transport.received.count == 2)
        #expect(await tokens.read().credentials.sessionID == "sess_9")
    }

    @Test func whatIsSpentIsReplayedOnlyBecauseTheServerHasRefusedIt() async throws {
        let bench = try bench([
            .error("authentication_invalid", status: 401), .client(["sess_1"]), .status(200, [:], body: "{}"),
        ])
        let form: FormFields = ["code": "1"]
        _ = try await bench.clerk.send(.post, path: "/v1/me/x", body: .form(form), resend: .spending)
        #expect(bench.sent == ["POST /me/x code=1", "GET /client", "POST /me/x code=1"])
        let lost = try self.bench([.fail(.connectionLost, .unknown)])
        await #expect(throws: RecoveryError.self) {
            try await lost.clerk.send(.post, path: "/v1/me/x", body: .form(form), resend: .spending)
        }
        #expect(lost.transport.received.count == 1)
    }

    // MARK: In order

    @Test(.timeLimit(.minutes(30)))
    func anAnswerToAnOlderRequestDoesNotReplaceANewerOne() async throws {
        let gate = Latch()
        let bench = try bench([
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client([])),\"client\":null}")
            },
            .client(["sess_1"]),
        ])
        let late = Task { try await bench.clerk.session() }
        await bench.transport.waitForRequests(1)
        #expect(try await bench.clerk.session()?.id == "sess_1")
        await gate.open()
        #expect(try await late.value?.id == "sess_1", "what is newer counts")
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test(.timeLimit(.minutes(30)), arguments: [("00:00:01", "00:00:02", true), ("00:00:02", "00:00:02", false)])
    func unlessTheServersDateSaysThatItIsNewer(first: String, second: String, isNewer: Bool) async throws {
        let gate = Latch()
        @Sendable func date(_ time: String) -> [String: String] { ["date": "Tue, 01 Jan 2030 \(time) GMT"] }
        let bench = try bench([
            .run { _ in
                await gate.wait()
                return .scripted(200, date(second), body: "{\"response\":\(ClerkJSON.client([])),\"client\":null}")
            },
            .status(200, date(first), body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}"),
        ])
        let late = Task { try await bench.clerk.session() }
        await bench.transport.waitForRequests(1)
        _ = try await bench.clerk.session()
        await gate.open()
        #expect((try await late.value == nil) == isNewer)
        #expect(try await bench.credentials.sessionID == (isNewer ? nil : "sess_1"))
    }

    @Test(.timeLimit(.minutes(30)))
    func aLookAtTheClientThatRacesASignInDoesNotUndoIt() async throws {
        let gate = Latch()
        let bench = try ClerkBench(
            [
                .run { _ in
                    await gate.wait()
                    return .scripted(200, [:], body: #"{"response":null,"client":null}"#)
                },
                .complete("sess_1", token: Token.of("client_1", 2)),
            ],
            credentials: Credentials(clientToken: Secret(Token.of("client_1", 1)))
        )
        let early = Task { try await bench.clerk.currentClient() }
        await bench.transport.waitForRequests(1)
        _ = try await bench.signIn()
        await gate.open()
        #expect(try await early.value?.sessions.map(\.id) == ["sess_1"])
        #expect(try await bench.credentials.sessionID == "sess_1")
    }

    @Test func theClientThatComesWithAnErrorIsTakenOver() async throws {
        let top = ",\"meta\":{\"client\":\(ClerkJSON.client(["sess_1", "sess_2"]))}"
        let bench = try bench([.error("form_param_missing", top: top)])
        var changes = bench.clerk.clientChanges.makeAsyncIterator()
        await #expect(throws: RecoveryError.self) { try await bench.clerk.send(path: "/v1/me") }
        let told = await changes.next()
        #expect(told??.sessions.map(\.id) == ["sess_1", "sess_2"])
    }

    @Test func anEmptyPlaceSaysNothing() async throws {
        let bench = try bench([
            .client(["sess_1"]), .status(200, [:], body: #"{"response":null,"client":null}"#), .client([]),
        ])
        var changes = bench.clerk.clientChanges.makeAsyncIterator()
        _ = try await bench.clerk.currentClient()
        #expect(await changes.next()??.sessions.count == 1)
        _ = try await bench.clerk.send(.post, path: "/v1/client/sessions/sess_1/touch")
        _ = try await bench.clerk.currentClient()
        #expect(await changes.next()??.sessions.isEmpty == true)
    }
}

/// Refuses all calls until so many have come and been refused, and the client was read.
private final class RefusingServer: Sendable {
    private struct State {
        var refused = 0
        var isRead = false
    }

    private let state = Locked(State())
    private let all = Latch()
    private let count: Int
    private let sessions: [String]

    init(count: Int, sessions: [String]) {
        self.count = count
        self.sessions = sessions
    }

    var step: ScriptedTransport.Step {
        .run { [self] received in
            if received.request.path?.hasPrefix("/v1/client") == true {
                state.withLock { $0.isRead = true }
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(sessions)),\"client\":null}")
            }
            let (isLast, isRefused) = state.withLock { state in
                guard state.refused < count else { return (false, false) }
                state.refused += 1
                return (state.refused == count, true)
            }
            guard isRefused else { return .scripted(200, [:], body: "{}") }
            if isLast { await all.open() }
            await all.wait()
            return .scripted(401, [:], body: #"{"errors":[{"code":"authentication_invalid"}]}"#)
        }
    }
}
