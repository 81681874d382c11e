import Synchronization

/// State within one process.
public final class InMemoryRecoveryStore: RecoveryStore {
    let state: Locked<State>
    private let gateCount = Atomic(0)

    /// Creates an empty store.
    ///
    /// - Parameter limit: The most gates, and the most budgets, to remember, at least 1; beyond it those that open
    ///   first, or were not used for longest, are forgotten. It bounds memory against a client that talks to endless
    ///   hosts.
    public init(limit: Int = 65_536) {
        state = Locked(State(limit: max(1, limit)))
    }

    /// `memory`.
    public var name: String { "memory" }

    /// Yes.
    public var isLocal: Bool { true }

    /// All records, by their keys.
    package var records: [String: SharedState.Record] { state.withLock { $0.records } }

    /// All gates that are remembered.
    package var gates: [SharedState.Gate] { state.withLock { $0.gates.values.map(\.gate) } }

    /// Whether any gate is remembered.
    public var mayHoldGates: Bool {
        gateCount.load(ordering: .relaxed) > 0
    }

    /// Of the closed gates among the keys, the one that opens last.
    public func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async -> SharedState.Gate? {
        withGates { $0.closedGate(among: keys, at: now) }
    }

    /// Closes a gate until the later of its old and its new time.
    ///
    /// One that only a person can open is forgotten after `SharedState.Gate.indefiniteLifetime`.
    public func close(_ gate: SharedState.Gate, at now: Timestamp) async {
        withGates { $0.close(gate, at: now) }
    }

    /// Opens a gate.
    public func open(_ key: SharedState.Gate.Key) async {
        withGates { $0.open(key) }
    }

    /// Counts one more caller at the gate.
    public func joinQueue(at key: SharedState.Gate.Key) async -> Int {
        withGates { $0.joinQueue(at: key) }
    }

    /// Grants the lease, unless somebody holds it.
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async -> SharedState.Lease? {
        state.withLock { $0.acquireLease(name, for: duration, at: now) }
    }

    /// Extends a lease that is still held.
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async -> Bool {
        state.withLock { $0.extendLease(lease, for: duration, at: now) }
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: SharedState.Lease) async {
        state.withLock { $0.releaseLease(lease) }
    }

    /// Books deposits and a withdrawal.
    public func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async -> SharedState.BudgetBalance {
        state.withLock { state in
            var present = state.budgets[entry.key]
            if let used = present?.usedAt, now.elapsed(since: used) > SharedState.BudgetEntry.lifetime { present = nil }
            let result = entry.applied(to: present?.balance)
            state.setBalance(result.balance, of: entry.key, at: now)
            return result
        }
    }

    /// The record under a key.
    public func record(_ key: String) async -> SharedState.Record? {
        state.withLock { $0.records[key] }
    }

    /// Stores a record, if the store still holds the version.
    public func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration? = nil,
        at now: Timestamp = Timestamp(secondsSinceEpoch: 0)
    ) async -> SharedState.Record? {
        state.withLock { state in
            guard state.records[key]?.version == version else { return nil }
            let record = SharedState.Record(bytes: bytes, version: (version ?? state.droppedVersion) &+ 1)
            state.records[key] = record
            state.ends[key] = lifetime.map { now.advanced(by: $0) }
            if lifetime != nil { state.dropRecords(at: now) }
            return record
        }
    }

    /// Hands the state over for something that may change which gates are remembered.
    func withGates<Result>(_ body: (inout State) -> Result) -> Result {
        state.withLock { state in
            defer { gateCount.store(state.gates.count, ordering: .relaxed) }
            return body(&state)
        }
    }
}
