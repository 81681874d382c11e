import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// How often an attempt reads the token: where the store is shared, each time is a round trip.
@Suite struct TokenReadsTests {
    private final class CountedTokenStore: TokenStore {
        private let store = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R"))
        private let count = Locked(0)

        var reads: Int { count.withLock { $0 } }

        func read() async -> Credentials.Stored {
            count.withLock { $0 += 1 }
            return await store.read()
        }

        func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
            await store.replace(version: version, with: credentials)
        }

        func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
            await store.acquireLease(for: duration, time: time)
        }
    }

    private let tokens = CountedTokenStore()

    private func bench(_ steps: [ScriptedTransport.Step] = []) -> Bench { Bench(steps, tokens: tokens) }

    /// Closes a gate that holds no call of the bench, until long after it.
    private func closeAnother(_ bench: Bench) async {
        let key = SharedState.Gate.Key(scope: .account, origin: Bench.origin, name: "another")
        let end = bench.client.runtime.time.wallTime.advanced(by: .seconds(86_400))
        await bench.client.runtime.state.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: end))
    }

    private func held(by bench: Bench) async -> SharedState.Gate? {
        let identity = await TokenManager(store: tokens).identity
        let key = SharedState.Gate.Key(scope: .origin, origin: Bench.origin, name: identity?.name ?? "")
        return await bench.client.runtime.state.closedGate(among: [key])
    }

    @Test func anAttemptReadsItOnce() async throws {
        let bench = bench()
        _ = try await bench.send()
        #expect(tokens.reads == 1)
    }

    /// Whose token it is has to be known before the attempt then, and the attempt presents what was read.
    @Test func itDoesWhereSomethingIsClosed() async throws {
        let bench = bench()
        await closeAnother(bench)
        _ = try await bench.send()
        #expect(tokens.reads == 1)
        #expect(bench.sentTokens == ["Bearer A"])
    }

    /// What it closes is the gate of the token that it has presented.
    @Test func itDoesWhereItsAnswerClosesAGate() async throws {
        let bench = bench([.status(429, ["retry-after": "3600"])])
        await closeAnother(bench)
        _ = try? await bench.client.send(Bench.get)
        #expect(tokens.reads == 1)
        #expect(await held(by: bench) != nil)
    }

    @Test func theNextAttemptReadsItAgain() async throws {
        let bench = bench([.status(503), .status(200)])
        await closeAnother(bench)
        _ = try await bench.send()
        #expect(bench.transport.received.count == 2)
        #expect(tokens.reads == 2)
    }

    /// Also right after it was refused.
    @Test func anAttemptPresentsWhatHasTakenItsPlace() async throws {
        let tokens = tokens
        let refused = ScriptedTransport.Step.run { _ in
            try await tokens.update { $0.accessToken = "B" }
            return .scripted(401)
        }
        let bench = bench([refused])
        await closeAnother(bench)
        _ = try await bench.send()
        #expect(bench.sentTokens == ["Bearer A", "Bearer B"])
    }

    /// What was read before a wait is not presented after it.
    @Test func whoHasWaitedPresentsTheNewest() async throws {
        let bench = bench()
        let name = await TokenManager(store: tokens).identity?.name ?? ""
        let key = SharedState.Gate.Key(scope: .origin, origin: Bench.origin, name: name)
        let end = bench.client.runtime.time.wallTime.advanced(by: .seconds(10))
        await bench.client.runtime.state.close(SharedState.Gate(key: key, reason: .rateLimited, opensAt: end))
        let call = Task { [client = bench.client] in try await client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        try await tokens.update { $0.accessToken = "B" }
        _ = try await bench.clock.skippingWaits { try await call.value }
        #expect(bench.sentTokens == ["Bearer B"])
    }
}
