import AuthRecovery
import HTTPRecovery
import Synchronization

/// Gives out numbered tokens that live for ten minutes, and counts how often it was asked.
final class Renewals: TokenRenewer {
    private let count = Mutex(0)
    let reuse = RefreshTokenGrant.Reuse.reusable
    private let time: TimeSource

    /// How many tokens it has given out.
    var number: Int { count.withLock { $0 } }

    init(_ time: TimeSource) {
        self.time = time
    }

    func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken != nil }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return self.credentials(number: number)
    }

    func credentials(number: Int) -> Credentials {
        Credentials(
            accessToken: Secret("token \(number)"),
            refreshToken: "refresh",
            expiresAt: time.wallTime.advanced(by: .seconds(600))
        )
    }
}

/// A store in memory that notes when it is closed.
final class NotingStore: RecoveryStore {
    let name = "noting"
    private let isClosed = Mutex(false)
    var wasClosed: Bool { isClosed.withLock { $0 } }
    private let memory = InMemoryRecoveryStore()

    var isLocal: Bool { false }

    func shutdown() async { isClosed.withLock { $0 = true } }

    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate? {
        await memory.closedGate(among: keys, at: now)
    }

    func close(_ gate: SharedState.Gate, at now: Timestamp) async throws { await memory.close(gate, at: now) }

    func open(_ key: SharedState.Gate.Key) async throws { await memory.open(key) }

    func joinQueue(at key: SharedState.Gate.Key) async throws -> Int { await memory.joinQueue(at: key) }

    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState.Lease? {
        await memory.acquireLease(name, for: duration, at: now)
    }

    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool {
        await memory.extendLease(lease, for: duration, at: now)
    }

    func releaseLease(_ lease: SharedState.Lease) async throws { await memory.releaseLease(lease) }

    func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async throws -> SharedState.BudgetBalance {
        await memory.settle(entry, at: now)
    }

    func record(_ key: String) async throws -> SharedState.Record? { await memory.record(key) }

    func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record? {
        await memory.replaceRecord(key, version: version, with: bytes, lasting: lifetime, at: now)
    }
}
