import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// How long a call waits for a store that does not answer.
@Suite(.timeLimit(.minutes(30))) struct TokenReadBoundTests {
    /// A store that answers when it is let go, and heeds nothing else.
    private final class DeafTokenStore: TokenStore {
        let reads = Latch()
        let release = Latch()
        let readsWait: Bool
        private let store = InMemoryTokenStore(Credentials(accessToken: "A"))

        init(readsWait: Bool = true) { self.readsWait = readsWait }

        func read() async -> Credentials.Stored {
            await reads.open()
            // Another task's: a cancelled caller does not end it.
            await Task { [release] in await release.wait() }.value
            return await store.read()
        }

        func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
            await store.replace(version: version, with: credentials)
        }

        func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? { nil }
    }

    private let clock = ManualClock()
    private let transport = ScriptedTransport()

    private func client(_ store: any TokenStore, deadline: Duration?) -> RecoveringClient {
        RecoveringClient(transport: transport, runtime: .manual(clock)) {
            if let deadline { Deadline(deadline) }
            Authorization(TokenManager(store: store), audience: [Bench.origin])
        }
    }

    @Test func theDeadlineEndsIt() async throws {
        let store = DeafTokenStore()
        let client = client(store, deadline: .seconds(5))
        let call = Task { try await client.send(Bench.get) }
        await store.reads.wait()
        await clock.waitForSleeper(of: .seconds(5), purpose: .guard)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.reason == .deadlinePassed && error?.outcome.kind == .timedOut)
        #expect(transport.received.isEmpty)
        await store.release.open()
    }

    @Test(arguments: [nil, Duration.seconds(5)])
    func cancellationEndsIt(deadline: Duration?) async throws {
        let store = DeafTokenStore()
        let client = client(store, deadline: deadline)
        let call = Task { try await client.send(Bench.get) }
        await store.reads.wait()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await store.release.open()
    }

    @Test(arguments: [true, false])
    func whatAnswersIsPresented(readsWait: Bool) async throws {
        let store = DeafTokenStore(readsWait: readsWait)
        await store.release.open()
        _ = try await client(store, deadline: .seconds(5)).send(Bench.get)
        #expect(transport.received.map { $0.request.headerFields[.authorization] } == ["Bearer A"])
        #expect(!InMemoryTokenStore().readsWait && FileTokenStore(path: "/tokens").readsWait)
    }
}
