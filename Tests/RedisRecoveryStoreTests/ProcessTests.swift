#if Redis
import Glibc
import HTTPRecovery
import Testing

@testable import RedisRecoveryStore

/// Four processes on one server, one of which is killed while it holds the lease.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(2))) struct ProcessTests {
    static let grants = 50
    static let rounds = 40
    static let gate = Gate.Key(scope: .origin, origin: Origin(scheme: "https", authority: "h"))

    /// What one process does; what it has seen is left in a record of its own.
    static func work(as index: Int, port: Int, diesIn fatalRound: Int?) async throws {
        let store = try RedisStore(
            configuration: RedisStore.Configuration(endpoint: .tcp(host: "127.0.0.1", port: port), patient: true)
        )
        var (written, granted, places) = (UInt8(0), UInt8(0), [UInt8]())
        for round in 0..<rounds {
            var lease: Lease?
            while lease == nil {
                lease = try await store.acquireLease("work", for: .milliseconds(500), at: .system())
                if lease == nil { try await Task.sleep(for: .milliseconds(2)) }
            }
            guard let lease else { return }
            let log = try await store.record("log")
            let entry = (0..<8).map { UInt8(truncatingIfNeeded: lease.fence >> (56 - 8 * $0)) }
            if try await store.replaceRecord("log", version: log?.version, with: (log?.bytes ?? []) + entry) != nil {
                written += 1
            }
            let budget = BudgetEntry(key: "h", withdrawal: 1000, limit: grants * 1000, initial: grants * 1000)
            if try await store.settle(budget, at: .system()).isGranted { granted += 1 }
            places.append(UInt8(truncatingIfNeeded: try await store.joinQueue(at: gate)))
            if round == fatalRound {
                _ = try await store.replaceRecord("seen-\(index)", version: nil, with: [written, granted] + places)
                kill(getpid(), SIGKILL)
            }
            try await store.releaseLease(lease)
        }
        _ = try await store.replaceRecord("seen-\(index)", version: nil, with: [written, granted] + places)
        await store.shutdown()
    }

    @Test func nothingIsLostOrSpentTwice() async throws {
        let server = try await RedisServer.start()
        let port = server.port
        let store = try RedisStore(configuration: server.configuration())
        let closed = Gate(key: Self.gate, reason: .rateLimited, opensAt: Timestamp.system().advanced(by: .seconds(600)))
        try await store.close(closed, at: .system())
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [index = index as Int, port = port as Int] in
                        try await Self.work(as: index, port: port, diesIn: nil)
                    }
                }
            }
            group.addTask {
                await #expect(processExitsWith: .signal(SIGKILL)) { [port = port as Int] in
                    try await Self.work(as: 3, port: port, diesIn: Self.rounds / 2)
                }
            }
        }

        var (written, granted, places) = (0, 0, [UInt8]())
        for index in 0..<4 {
            let seen = try #require(try await store.record("seen-\(index)"), "process \(index) has reported")
            written += Int(seen.bytes[0])
            granted += Int(seen.bytes[1])
            places += seen.bytes[2...]
        }
        let log = try #require(try await store.record("log")).bytes
        #expect(log.count == written * 8, "each change that a process was told of is there, and no other")
        let fences = stride(from: 0, to: log.count, by: 8).map { start in
            log[start..<start + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        #expect(zip(fences, fences.dropFirst()).allSatisfy { $0 < $1 }, "each holder has a higher fence")
        #expect(granted == Self.grants, "what there was, exactly")
        #expect(places.sorted() == (0..<places.count).map { UInt8(truncatingIfNeeded: $0) }.sorted(), "each place once")
        await store.shutdown()
    }
}
#endif
