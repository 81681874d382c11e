import HTTPRecovery

#if Redis
import RedisRecoveryStore
#endif
#if SQLite
import SQLiteRecoveryStore
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A process that works on a store without a pause, for tests that run several of them, or kill one.
///
/// `StoreWorker STORE NAMESPACE COMMAND NAME COUNT` with the store as `sqlite:PATH` or `redis://…`; it prints what the store has
/// acknowledged, a line each. A count of 0 is without an end.
@main
struct StoreWorker {
    let store: any RecoveryStore
    let name: String
    let count: Int

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let store = makeStore(arguments[1], namespace: arguments[2]),
            let count = Int(arguments[5])
        else { return fail("usage: StoreWorker STORE NAMESPACE COMMAND NAME COUNT") }
        let worker = StoreWorker(store: store, name: arguments[4], count: count > 0 ? count : .max)
        do {
            switch arguments[3] {
            case "count": try await worker.countUp()
            case "lease": try await worker.takeTurns()
            case "hold": try await worker.hold()
            case "spend": try await worker.spend()
            default: fail("unknown command \(arguments[3])")
            }
        } catch {
            fail("\(error)")
        }
        await store.shutdown()
    }

    private static func makeStore(_ text: String, namespace: String) -> (any RecoveryStore)? {
        #if SQLite
        if text.hasPrefix("sqlite:") {
            // Patient: many of them work on one file, on a machine that may be busy.
            let path = String(text.dropFirst(7))
            return SQLiteStore(path: path, namespace: namespace, lockTimeout: .seconds(600))
        }
        #endif
        #if Redis
        if var configuration = try? RedisStore.Configuration(url: text) {
            configuration.namespace = namespace
            configuration.connectTimeout = .seconds(600)
            configuration.commandTimeout = .seconds(600)
            return try? RedisStore(configuration: configuration)
        }
        #endif
        return nil
    }

    /// Adds one to a number in a record, again and again; prints each number that was stored.
    private func countUp() async throws {
        for _ in 0..<count {
            while true {
                let present = try await store.record(name)
                let number = present.map { Self.number(in: $0.bytes) } ?? 0
                let next = Self.content(of: number + 1)
                if try await store.replaceRecord(name, version: present?.version, with: next) != nil {
                    Self.say("\(number + 1)")
                    break
                }
            }
        }
    }

    /// Large, and alike throughout, so that half of one would be seen.
    private static func content(of number: Int) -> [UInt8] {
        Array("\(number) ".utf8) + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 20_000)
    }

    private static func number(in bytes: [UInt8]) -> Int {
        Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)) ?? -1
    }

    /// Takes a lease, and says so when somebody else has it at the same time; prints each fence.
    private func takeTurns() async throws {
        for _ in 0..<count {
            var lease: SharedState.Lease?
            while lease == nil {
                lease = try await store.acquireLease(name, for: .seconds(60), at: .system())
                if lease == nil { try await Task.sleep(for: .milliseconds(1)) }
            }
            guard let lease else { return }
            let free = try await store.record("holder")
            if let free, !free.bytes.isEmpty { Self.say("overlap") }
            let mine = try await store.replaceRecord("holder", version: free?.version, with: [1])
            let back = try await store.replaceRecord("holder", version: mine?.version, with: [])
            if mine == nil || back == nil { Self.say("overlap") }
            Self.say("\(lease.fence)")
            try await store.releaseLease(lease)
        }
    }

    /// Takes a lease for a second, again and again, until it is killed.
    private func hold() async throws {
        while true {
            guard let lease = try await store.acquireLease(name, for: .seconds(60), at: .system()) else { continue }
            Self.say("\(lease.fence)")
            try await Task.sleep(for: .seconds(600))
        }
    }

    /// Withdraws from a budget; prints a line for each withdrawal that was granted.
    private func spend() async throws {
        for _ in 0..<count {
            let entry = SharedState.BudgetEntry(key: name, withdrawal: 1000, limit: 100_000, initial: 100_000)
            if try await store.settle(entry, at: .system()).isGranted { Self.say("granted") }
        }
    }

    private static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }

    private static func fail(_ message: String) {
        let bytes = Array("\(message)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(1)
    }
}
