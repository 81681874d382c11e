#if SQLite
import GRDB
import HTTPRecovery
import ProcessSupport
import SQLiteRecoveryStore
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Several processes on one file, and some that are killed.
@Suite(.serialized, .timeLimit(.minutes(30))) struct SQLiteProcessTests {
    private let directory = TemporaryDirectory()
    private var path: String { directory.file("store.db") }

    private func worker(_ command: String, _ name: String, _ count: Int) throws -> WorkerProcess {
        try WorkerProcess("StoreWorker", ["sqlite:\(path)", "test", command, name, "\(count)"])
    }

    private func number(_ record: SharedState.Record?) -> Int? {
        record.flatMap { Int(String(decoding: $0.bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) }
    }

    @Test func processesThatCountTogetherLoseNothing() async throws {
        let workers = try (0..<4).map { _ in try worker("count", "number", 40) }
        for worker in workers { #expect(try await worker.wait() == .exited(0)) }
        let numbers = workers.flatMap { $0.lines.compactMap { Int($0) } }
        #expect(numbers.sorted() == Array(1...160))
        let store = SQLiteStore(path: path, namespace: "test", lockTimeout: .seconds(600))
        #expect(number(try await store.record("number")) == 160)
        await store.shutdown()
    }

    @Test func processesThatTakeALeaseTakeTurns() async throws {
        let workers = try (0..<4).map { _ in try worker("lease", "turn", 25) }
        for worker in workers { #expect(try await worker.wait() == .exited(0)) }
        #expect(workers.allSatisfy { !$0.lines.contains("overlap") })
        let fences = workers.flatMap { $0.lines.compactMap { Int($0) } }
        #expect(Set(fences).count == 100)
        for worker in workers {
            #expect(worker.lines.compactMap { Int($0) }.sorted() == worker.lines.compactMap { Int($0) })
        }
    }

    @Test func processesThatSpendTogetherNeverSpendTooMuch() async throws {
        let workers = try (0..<4).map { _ in try worker("spend", "budget", 60) }
        for worker in workers { #expect(try await worker.wait() == .exited(0)) }
        #expect(workers.flatMap(\.lines).count == 100)
    }

    @Test func processesThatAreKilledLoseNoRecordAndLeaveNoHalfOfOne() async throws {
        var acknowledged = 0
        for round in 0..<40 {
            let workers = try (0..<2).map { _ in try worker("count", "number", 0) }
            // At least one change, and then at any moment.
            while workers.allSatisfy({ $0.lines.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
            try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
            for worker in workers { worker.kill() }
            for worker in workers { #expect(try await worker.wait() == .killed(SIGKILL)) }
            acknowledged = workers.flatMap(\.lines).compactMap { Int($0) }.max() ?? acknowledged

            let store = SQLiteStore(path: path, namespace: "test", lockTimeout: .seconds(600))
            let record = try #require(try await store.record("number"), "round \(round)")
            let number = try #require(self.number(record))
            // One change of each may have been made without its word having got out.
            #expect((acknowledged...acknowledged + 2).contains(number), "round \(round)")
            let rest = record.bytes.drop { $0 != UInt8(ascii: " ") }.dropFirst()
            #expect(rest.count == 20_000)
            #expect(rest.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }, "half of a record")
            await store.shutdown()
        }
        let check = try await DatabaseQueue(path: path).read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
    }

    @Test func theLeaseOfADeadProcessRunsOut() async throws {
        let store = SQLiteStore(path: path, namespace: "test", lockTimeout: .seconds(600))
        // The same machine a minute later, whatever its wall clock says.
        let later = SQLiteStore(
            path: path,
            namespace: "test",
            lockTimeout: .seconds(600),
            clock: BootClock {
                var reading = BootClock.system.read()
                reading.microseconds += 61_000_000
                return reading
            }
        )
        var last: UInt64 = 0
        for round in 0..<5 {
            let holder = try worker("hold", "lease \(round)", 0)
            while holder.lines.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            holder.kill()
            #expect(try await holder.wait() == .killed(SIGKILL))
            let now = Timestamp.system()
            #expect(try await store.acquireLease("lease \(round)", for: .seconds(60), at: now) == nil)
            let next = try #require(try await later.acquireLease("lease \(round)", for: .seconds(60), at: now))
            #expect(next.fence > (UInt64(holder.lines[0]) ?? .max))
            #expect(next.fence > last)
            last = next.fence
        }
        await later.shutdown()
        await store.shutdown()
    }
}
#endif
