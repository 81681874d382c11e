#if Redis
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import RedisRecoveryStore

/// What the engine sees of a server that stands still, dies and comes back, through `SharedState`.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct OutageTests {
    /// A shared state on a real server, and what it has said of its health.
    ///
    /// The shared state's time stands still unless a test moves it, so that a busy machine does not look like an outage.
    struct Bench: Sendable {
        static let timeout: Duration = .seconds(1000)

        let clock = ManualClock()
        let server: RedisServer
        let store: RedisStore
        let shared: SharedState
        let health = Locked<[SharedState.Health]>([])

        init() async throws {
            server = try await RedisServer.start()
            var configuration = server.configuration()
            configuration.connectTimeout = .seconds(600)
            configuration.commandTimeout = .seconds(600)
            store = try RedisStore(configuration: configuration)
            let time = clock.timeSource(wallTime: .system())
            shared = SharedState(store, timeout: Self.timeout, time: time) { [health] change in
                health.withLock { $0.append(change) }
            }
        }

        /// Waits until the store was found to be gone.
        func untilDown() async throws {
            try await untilTrue {
                clock.advance(by: Self.timeout)
                return changes == [false]
            }
        }

        /// Waits until the store answers again; the time moves so slowly that nothing runs into the timeout.
        func untilUp() async throws {
            try await untilTrue {
                _ = await shared.closedGate(among: [OutageTests.gate.key])
                if changes == [false, true] { return true }
                clock.advance(by: .seconds(1))
                return false
            }
        }

        /// Why the store does not answer.
        var reason: String? {
            guard case .degraded(_, let reason) = shared.health else { return nil }
            return reason
        }

        /// Which changes there were: whether the store answered.
        var changes: [Bool] { health.withLock { $0.map { $0 == .available } } }
    }

    static let gate = SharedState.Gate(
        key: SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "api.example.com"),
            name: "ann"
        ),
        reason: .accountLocked,
        opensAt: Timestamp.system().advanced(by: .seconds(10_000_000))
    )

    /// Each operation once; none may throw where the records have been read before.
    ///
    /// - Returns: The longest wait.
    static func load(_ shared: SharedState, _ number: Int, isLocked: Bool) async throws -> Duration {
        var longest = Duration.zero
        func timed<Value>(_ operation: () async throws -> Value) async throws -> Value {
            let start = ContinuousClock.now
            defer { longest = max(longest, ContinuousClock.now - start) }
            return try await operation()
        }
        let gate = try await timed { await shared.closedGate(among: [Self.gate.key]) }
        if isLocked { #expect(gate?.reason == .accountLocked, "the lockout holds") }
        _ = try await timed { await shared.joinQueue(at: Self.gate.key) }
        let entry = SharedState.BudgetEntry(key: "h", deposit: 100, withdrawal: 1000, limit: 10_000, initial: 10_000)
        _ = try await timed { await shared.settle(entry) }
        if let lease = try await timed({ await shared.acquireLease("lease", for: .seconds(2)) }) {
            _ = try await timed { await shared.extendLease(lease, for: .seconds(2)) }
            try await timed { await shared.releaseLease(lease) }
        }
        let record = try await timed { try await shared.record("shared") }
        let version = record?.version
        _ = try await timed { try await shared.replaceRecord("shared", version: version, with: [UInt8(number % 256)]) }
        return longest
    }

    enum Blow: CaseIterable {
        case freeze
        case kill
    }

    @Test(arguments: Blow.allCases)
    func noCallFailsOrWaitsLongWhileTheServerIsGone(_ blow: Blow) async throws {
        let bench = try await Bench()
        await bench.shared.close(Self.gate)
        _ = try await bench.shared.record("shared")
        // A server that was killed has forgotten what was closed before.
        let (isOver, isForgotten) = (Locked(false), Locked(false))
        let rounds = Locked(0)
        try await withThrowingTaskGroup(of: Duration.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var longest = Duration.zero
                    while !isOver.withLock({ $0 }) {
                        let number = rounds.withLock { rounds in
                            rounds += 1
                            return rounds
                        }
                        let isLocked = !isForgotten.withLock { $0 }
                        longest = max(longest, try await Self.load(bench.shared, number, isLocked: isLocked))
                        // What is answered from memory would otherwise keep the machine busy.
                        try await Task.sleep(for: .milliseconds(1))
                    }
                    return longest
                }
            }
            func pass(_ count: Int) async throws {
                let goal = rounds.withLock { $0 } + count
                try await untilTrue { rounds.withLock { $0 } >= goal }
            }
            try await pass(100)
            #expect(bench.health.withLock { $0 } == [])
            switch blow {
            case .freeze: bench.server.freeze()
            case .kill: bench.server.kill()
            }
            try await bench.untilDown()
            try await pass(200)
            #expect(bench.changes == [false], "one warning")
            switch blow {
            case .freeze: bench.server.thaw()
            case .kill:
                isForgotten.withLock { $0 = true }
                try await bench.server.restart()
            }
            try await bench.untilUp()
            try await pass(100)
            isOver.withLock { $0 = true }
            // What a call waits is bounded by the shared state's time, which has passed; the rest is the machine's.
            for try await longest in group { #expect(longest < .seconds(600)) }
        }
        #expect(bench.changes == [false, true], "one warning each way")
        await bench.shared.shutdown()
    }

    @Test func aLockoutAndARecordComeBackToAServerThatHasLostThem() async throws {
        let bench = try await Bench()
        await bench.shared.close(Self.gate)
        let first = try #require(try await bench.shared.replaceRecord("tokens", version: nil, with: [1]))
        bench.server.kill()
        let second = try #require(
            try await bench.shared.replaceRecord("tokens", version: first.version, with: [2])
        )
        #expect(second.bytes == [2])
        await bench.shared.close(Self.gate)
        try await bench.server.restart()
        try await bench.untilUp()
        // Another process finds both.
        let other = try RedisStore(configuration: bench.server.configuration())
        let record = try #require(try await other.record("tokens"))
        #expect(record.bytes == [2])
        #expect(record.version > first.version)
        #expect(try await other.closedGate(among: [Self.gate.key], at: .system())?.reason == .accountLocked)
        #expect(try await bench.shared.record("tokens") == record)
        await other.shutdown()
        await bench.shared.shutdown()
    }

    @Test func aConnectionThatTheServerEndsWhileItIsIdleIsMadeAgainUnseen() async throws {
        let bench = try await Bench()
        await bench.shared.close(Self.gate)
        for _ in 0..<5 {
            _ = try await bench.server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            // The end of the connection has to reach this side first.
            try await untilTrue { try !bench.server.hasClients }
            #expect(await bench.shared.closedGate(among: [Self.gate.key]) != nil)
        }
        #expect(bench.health.withLock { $0 } == [])
        await bench.shared.shutdown()
    }

    @Test func aServerThatBecomesAReplicaIsReportedWithWhatToDo() async throws {
        let bench = try await Bench()
        _ = try await bench.server.ask("REPLICAOF", "127.0.0.1", "1")
        await bench.shared.close(Self.gate)
        let reason = try #require(bench.reason)
        #expect(reason.contains("primary"))
        #expect(await bench.shared.closedGate(among: [Self.gate.key]) != nil)
        _ = try await bench.server.ask("REPLICAOF", "NO", "ONE")
        try await bench.untilUp()
        #expect(try await bench.store.closedGate(among: [Self.gate.key], at: .system()) != nil)
        await bench.shared.shutdown()
    }

    @Test func aServerWithoutMemoryIsReportedWithWhatToDo() async throws {
        let bench = try await Bench()
        _ = try await bench.server.ask("CONFIG", "SET", "maxmemory", "1")
        let store = try RedisStore(configuration: bench.server.configuration())
        do {
            _ = try await store.acquireLease("a", for: .seconds(1), at: .system())
            Issue.record("expected an error")
        } catch {
            #expect("\(error)".contains("maxmemory"))
        }
        await store.shutdown()
        await bench.shared.shutdown()
    }
}
#endif
