import Synchronization

/// State within one process.
public final class InMemoryRecoveryStore: RecoveryStore {
    private struct GateEntry {
        var gate: Gate
        var queued = 0
    }

    private struct LeaseEntry {
        var fence: UInt64
        var endsAt: Timestamp?
    }

    private struct BudgetState {
        var balance: Int
        var usedAt: Timestamp
    }

    private struct State {
        var gates: [Gate.Key: GateEntry] = [:]
        var leases: [String: LeaseEntry] = [:]
        var budgets: [String: BudgetState] = [:]
        var records: [String: StoredRecord] = [:]
    }

    private let state = Locked(State())
    private let gateCount = Atomic(0)
    private let limit: Int

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

    /// Whether any gate is remembered.
    public var mayHoldGates: Bool {
        gateCount.load(ordering: .relaxed) > 0
    }

    /// Of the closed gates among the keys, the one that opens last.
    public func closedGate(among keys: [Gate.Key], at now: Timestamp) async -> Gate? {
        withGates { gates in
            var latest: Gate?
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
    public func close(_ gate: Gate, at now: Timestamp) async {
        withGates { gates in
            if let present = gates[gate.key]?.gate, present.isClosed(at: now), !gate.opensLater(than: present) {
                return
            }
            if gates.count >= limit, gates[gate.key] == nil, let first = Self.firstToOpen(in: gates) {
                gates[first] = nil
            }
            gates[gate.key] = GateEntry(gate: gate)
        }
    }

    /// Opens a gate.
    public func open(_ key: Gate.Key) async {
        withGates { $0[key] = nil }
    }

    /// Counts one more caller at the gate.
    public func joinQueue(at key: Gate.Key) async -> Int {
        withGates { gates in
            guard let entry = gates[key] else { return 0 }
            gates[key]?.queued += 1
            return entry.queued
        }
    }

    /// Grants the lease, unless somebody holds it.
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async -> Lease? {
        state.withLock { state in
            let present = state.leases[name]
            if let endsAt = present?.endsAt, endsAt > now { return nil }
            let fence = (present?.fence ?? 0) + 1
            state.leases[name] = LeaseEntry(fence: fence, endsAt: now.advanced(by: duration))
            return Lease(name: name, fence: fence)
        }
    }

    /// Extends a lease that is still held.
    public func extendLease(_ lease: Lease, for duration: Duration, at now: Timestamp) async -> Bool {
        state.withLock { state in
            guard let present = state.leases[lease.name], present.fence == lease.fence,
                let endsAt = present.endsAt, endsAt > now
            else { return false }
            state.leases[lease.name]?.endsAt = now.advanced(by: duration)
            return true
        }
    }

    /// Gives a lease back.
    public func releaseLease(_ lease: Lease) async {
        state.withLock { state in
            guard state.leases[lease.name]?.fence == lease.fence else { return }
            // The fence is kept: the next one has to be higher.
            state.leases[lease.name]?.endsAt = nil
        }
    }

    /// Books deposits and a withdrawal.
    public func settle(_ entry: BudgetEntry, at now: Timestamp) async -> BudgetBalance {
        state.withLock { state in
            var present = state.budgets[entry.key]
            if let used = present?.usedAt, now.elapsed(since: used) > BudgetEntry.lifetime { present = nil }
            let result = entry.applied(to: present?.balance)
            if state.budgets.count >= limit, state.budgets[entry.key] == nil,
                let oldest = state.budgets.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
            {
                state.budgets[oldest] = nil
            }
            state.budgets[entry.key] = BudgetState(balance: result.balance, usedAt: now)
            return result
        }
    }

    /// The record under a key.
    public func record(_ key: String) async -> StoredRecord? {
        state.withLock { $0.records[key] }
    }

    /// Stores a record, if the store still holds the version.
    public func replaceRecord(_ key: String, version: UInt64?, with bytes: [UInt8]) async -> StoredRecord? {
        state.withLock { state in
            guard state.records[key]?.version == version else { return nil }
            let record = StoredRecord(bytes: bytes, version: (version ?? 0) &+ 1)
            state.records[key] = record
            return record
        }
    }

    private func withGates<Result>(_ body: (inout [Gate.Key: GateEntry]) -> Result) -> Result {
        state.withLock { state in
            defer { gateCount.store(state.gates.count, ordering: .relaxed) }
            return body(&state.gates)
        }
    }

    private static func firstToOpen(in gates: [Gate.Key: GateEntry]) -> Gate.Key? {
        gates.values.min { $1.gate.opensLater(than: $0.gate) }?.gate.key
    }
}
