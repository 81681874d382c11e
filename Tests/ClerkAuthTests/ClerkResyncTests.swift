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

    @Test(.timeLimit(.minutes(1)))
    func aCallersCancellationDoesNotEndTheOthersRead() async throws {
        let gate = Latch()
        let refusal = ScriptedTransport.Step.error("authentication_invalid", status: 401)
        let bench = try bench([
            refusal,
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client(["sess_1"])),\"client\":null}")
            }, refusal, .status(200, [:], body: "{}"),
        ])
        let first = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(2)
        let second = Task { try await bench.clerk.send(path: "/v1/me") }
        await bench.transport.waitForRequests(3)
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
        _ = try await bench.clerk.send(.post, path: "/v1/me/x", form: form, resend: .spending)
        #expect(bench.sent == ["POST /me/x code=1", "GET /client", "POST /me/x code=1"])
        let lost = try self.bench([.fail(.connectionLost, .unknown)])
        await #expect(throws: RecoveryError.self) {
            try await lost.clerk.send(.post, path: "/v1/me/x", form: form, resend: .spending)
        }
        #expect(lost.transport.received.count == 1)
    }

    // MARK: In order

    @Test(.timeLimit(.minutes(1)))
    func anAnswerToAnOlderRequestDoesNotReplaceANewerOne() async throws {
        let gate = Latch()
        let bench = try bench([
            .run { _ in
                await gate.wait()
                return .scripted(200, [:], body: "{\"response\":\(ClerkJSON.client([])),\"client\":null}")
            },
            .client(["sess_1"]),
        ])
        let late = Task { try await bench.clerk.currentSession() }
        await bench.transport.waitForRequests(1)
        #expect(try await bench.clerk.currentSession()?.id == "sess_1")
        await gate.open()
        #expect(try await late.value?.id == "sess_1", "what is newer counts")
        #expect(try await bench.credentials == Self.signedIn)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [("00:00:01", "00:00:02", true), ("00:00:02", "00:00:02", false)])
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
        let late = Task { try await bench.clerk.currentSession() }
        await bench.transport.waitForRequests(1)
        _ = try await bench.clerk.currentSession()
        await gate.open()
        #expect((try await late.value == nil) == isNewer)
        #expect(try await bench.credentials.sessionID == (isNewer ? nil : "sess_1"))
    }

    @Test(.timeLimit(.minutes(1)))
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
