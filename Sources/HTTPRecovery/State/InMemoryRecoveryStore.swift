import Synchronization

/// State within one process.
public final class InMemoryRecoveryStore: RecoveryStore {
    struct GateEntry {
        var gate: SharedState.Gate
        var queued = 0
    }

    struct LeaseEntry {
        var fence: UInt64
        var endsAt: Timestamp
    }

    struct BudgetState {
        var balance: Int
        var usedAt: Timestamp
    }

    struct State {
        var gates: [SharedState.Gate.Key: GateEntry] = [:]
        var leases: [String: LeaseEntry] = [:]
        /// The fence that was given last; one count for all names, so that none has to be kept.
        var fence: UInt64 = 0
        var budgets: [String: BudgetState] = [:]
        var records: [String: SharedState.Record] = [:]
        /// When nobody needs a record any more, for those that are not kept for good.
        var ends: [String: Timestamp] = [:]
        /// When the next of them is looked for.
        var nextEnd: Timestamp?
        /// The highest version of those that were dropped.
        var droppedVersion: UInt64 = 0
    }

    let state = Locked(State())
    let limit: Int
    private let gateCount = Atomic(0)

    /// Creates an empty store.
    ///
    /// - Parameter limit: The most gates, and the most budgets, to remember, at least 1; beyond it those that open
    ///   first, or were not used for longest, are forgotten. It bounds memory against a client that talks to endless
    ///   hosts.
    public init(limit: Int = 65_536) {
        self.limit = max(1, limit)
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
        withGates { gates in
            var latest: SharedState.Gate?
            for key in keys {
                guard let gate = gates[key]?.gate else { continue }
                guard gate.isClosed(at: now) else {
                    gates[key] = nil
                    continue
                }
                if latest.map(gate.opensLater) ?? true { latest = gate }
            }
            return latest
        }
    }

    /// Closes a gate until the later of its old and its new time.
    ///
    /// One that only a person can open is forgotten after `SharedState.Gate.indefiniteLifetime`.
    public func close(_ gate: SharedState.Gate, at now: Timestamp) async {
        let gate = gate.remembered(from: now)
        withGates { gates in
            if let present = gates[gate.key]?.gate, present.isClosed(at: now), !gate.opensLater(than: present) {
                // The same, said again: it is remembered for longer.
                if let end = gate.forgottenAt, let known = present.forgottenAt {
                    gates[gate.key]?.gate.forgottenAt = max(end, known)
                }
                return
            }
            set(gate, in: &gates)
        }
    }

    /// Opens a gate.
    public func open(_ key: SharedState.Gate.Key) async {
        withGates { $0[key] = nil }
    }

    /// Counts one more caller at the gate.
    public func joinQueue(at key: SharedState.Gate.Key) async -> Int {
        withGates { gates in
            guard let entry = gates[key] else { return 0 }
            gates[key]?.queued += 1
            return entry.queued
        }
    }

    /// Grants the lease, unless somebody holds it.
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async -> SharedState.Lease? {
        state.withLock { $0.grant(name, for: duration, at: now, limit: limit) }
    }

    /// Extends a lease that is still held.
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async -> Bool {
        state.withLock { state in
            guard let present = state.leases[lease.name], present.fence == lease.fence, present.endsAt > now else {
                return false
            }
            state.leases[lease.name]?.endsAt = now.advanced(by: duration)
            return true
        }
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: SharedState.Lease) async {
        state.withLock { state in
            if state.leases[lease.name]?.fence == lease.fence { state.leases[lease.name] = nil }
        }
    }

    /// Books deposits and a withdrawal.
    public func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async -> SharedState.BudgetBalance {
        state.withLock { state in
            var present = state.budgets[entry.key]
            if let used = present?.usedAt, now.elapsed(since: used) > SharedState.BudgetEntry.lifetime { present = nil }
            let result = entry.applied(to: present?.balance)
            state.setBalance(result.balance, of: entry.key, at: now, limit: limit)
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

    func withGates<Result>(_ body: (inout [SharedState.Gate.Key: GateEntry]) -> Result) -> Result {
        state.withLock { state in
            defer { gateCount.store(state.gates.count, ordering: .relaxed) }
            return body(&state.gates)
        }
    }

    /// Puts a gate in place of the one with its key; the limit holds.
    func set(_ gate: SharedState.Gate, in gates: inout [SharedState.Gate.Key: GateEntry]) {
        if gates.count >= limit, gates[gate.key] == nil,
            let first = gates.values.min(by: { $1.gate.opensLater(than: $0.gate) })?.gate.key
        {
            gates[first] = nil
        }
        gates[gate.key] = GateEntry(gate: gate)
    }
}

extension InMemoryRecoveryStore.State {
    /// Grants a lease, unless somebody holds it.
    ///
    /// - Parameter mark: Bits that the fence has beside the count.
    mutating func grant(
        _ name: String,
        for duration: Duration,
        at now: Timestamp,
        limit: Int,
        mark: UInt64 = 0
    ) -> SharedState.Lease? {
        if let present = leases[name], present.endsAt > now { return nil }
        if leases.count >= limit { leases = leases.filter { $0.value.endsAt > now } }
        fence += 1
        leases[name] = InMemoryRecoveryStore.LeaseEntry(fence: fence | mark, endsAt: now.advanced(by: duration))
        return SharedState.Lease(name: name, fence: fence | mark)
    }

    /// Sets a balance; beyond the limit the one that was not used for longest is forgotten.
    mutating func setBalance(_ balance: Int, of key: String, at now: Timestamp, limit: Int) {
        if budgets.count >= limit, budgets[key] == nil,
            let oldest = budgets.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
        {
            budgets[oldest] = nil
        }
        budgets[key] = InMemoryRecoveryStore.BudgetState(balance: balance, usedAt: now)
    }
}

extension InMemoryRecoveryStore.State {
    /// Drops the records that nobody needs any more; it looks for them once a minute.
    fileprivate mutating func dropRecords(at now: Timestamp) {
        if let nextEnd, now < nextEnd { return }
        for (key, end) in ends where end <= now {
            droppedVersion = max(droppedVersion, records.removeValue(forKey: key)?.version ?? 0)
            ends[key] = nil
        }
        nextEnd = now.advanced(by: .seconds(60))
    }
}
