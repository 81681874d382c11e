#if Redis
import Glibc
import HTTPRecovery
import ProcessSupport
import Testing

@testable import RedisRecoveryStore

/// Several processes on one server, and some that are killed.
@Suite(.enabled(if: RedisServer.isAvailable), .timeLimit(.minutes(30))) struct ProcessTests {
    static let grants = 50
    static let rounds = 40
    static let gate = SharedState.Gate.Key(scope: .origin, origin: Origin(scheme: "https", authority: "h"))

    /// What one process does; what it has seen is left in a record of its own.
    static func work(as index: Int, port: Int, diesIn fatalRound: Int?) async throws {
        let store = try RedisStore(
            configuration: RedisStore.Configuration(endpoint: .tcp(host: "127.0.0.1", port: port), patient: true)
        )
        var (written, granted, places) = (UInt8(0), UInt8(0), [UInt8]())
        for round in 0..<rounds {
            var lease: SharedState.Lease?
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
            let budget = SharedState.BudgetEntry(
                key: "h",
                withdrawal: 1000,
                limit: grants * 1000,
                initial: grants * 1000
            )
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

    private func worker(_ server: RedisServer, _ command: String, _ name: String, _ count: Int) throws -> WorkerProcess
    {
        try WorkerProcess("StoreWorker", ["redis://127.0.0.1:\(server.port)", "test", command, name, "\(count)"])
    }

    @Test func processesThatTakeTurnsAndSpendTogether() async throws {
        let server = try await RedisServer.start()
        let turns = try (0..<4).map { _ in try worker(server, "lease", "turn", 25) }
        let spenders = try (0..<4).map { _ in try worker(server, "spend", "budget", 60) }
        for worker in turns + spenders { #expect(try await worker.wait() == .exited(0)) }
        #expect(turns.allSatisfy { !$0.lines.contains("overlap") })
        let fences = turns.map { $0.lines.compactMap { UInt64($0) } }
        #expect(Set(fences.flatMap(\.self)).count == 100)
        for own in fences { #expect(own == own.sorted()) }
        #expect(spenders.flatMap(\.lines).count == 100)
    }

    @Test func processesThatAreKilledLoseNoRecordAndLeaveNoHalfOfOne() async throws {
        let server = try await RedisServer.start()
        let store = try RedisStore(configuration: server.configuration())
        var acknowledged = 0
        for round in 0..<10 {
            let workers = try (0..<4).map { _ in try worker(server, "count", "number", 0) }
            // At least one change of each, and then at any moment.
            while workers.contains(where: { $0.lines.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
            for worker in workers { worker.kill() }
            for worker in workers { #expect(try await worker.wait() == .killed(SIGKILL)) }
            let numbers = workers.flatMap(\.lines).compactMap { Int($0) }
            #expect(Set(numbers).count == numbers.count, "each number is counted once")
            acknowledged = max(acknowledged, numbers.max() ?? 0)
            let bytes = try #require(try await store.record("number"), "round \(round)").bytes
            let digits = bytes.prefix { $0 != UInt8(ascii: " ") }
            let number = try #require(Int(String(decoding: digits, as: UTF8.self)))
            // What the dead have sent may still have been carried out.
            #expect((acknowledged...acknowledged + 4).contains(number), "round \(round)")
            let rest = bytes.dropFirst(digits.count + 1)
            #expect(rest.count == 20_000)
            #expect(rest.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }, "half of a record")
        }
        await store.shutdown()
    }

    @Test func nothingIsLostOrSpentTwice() async throws {
        let server = try await RedisServer.start()
        let port = server.port
        let store = try RedisStore(configuration: server.configuration())
        let closed = SharedState.Gate(
            key: Self.gate,
            reason: .rateLimited,
            opensAt: Timestamp.system().advanced(by: .seconds(600))
        )
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
