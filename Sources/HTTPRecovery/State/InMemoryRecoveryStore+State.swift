extension InMemoryRecoveryStore {
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

    /// What a memory holds, and each of its decisions: a value, which tests lead through every order of what may happen.
    struct State {
        let limit: Int
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

        init(limit: Int) {
            self.limit = limit
        }
    }
}

// MARK: Gates

extension InMemoryRecoveryStore.State {
    /// Of the closed gates among the keys, the one that opens last; those that are open are forgotten.
    mutating func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) -> SharedState.Gate? {
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

    /// Closes a gate until the later of its old and its new time.
    mutating func close(_ gate: SharedState.Gate, at now: Timestamp) {
        let gate = gate.remembered(from: now)
        if let present = gates[gate.key]?.gate, present.isClosed(at: now), !gate.opensLater(than: present) {
            // The same, said again: it is remembered for longer.
            if let end = gate.forgottenAt, let known = present.forgottenAt {
                gates[gate.key]?.gate.forgottenAt = max(end, known)
            }
            return
        }
        set(gate)
    }

    mutating func open(_ key: SharedState.Gate.Key) {
        gates[key] = nil
    }

    /// Counts one more caller at the gate.
    mutating func joinQueue(at key: SharedState.Gate.Key) -> Int {
        guard let entry = gates[key] else { return 0 }
        gates[key]?.queued += 1
        return entry.queued
    }

    /// Puts a gate in place of the one with its key; the limit holds.
    mutating func set(_ gate: SharedState.Gate) {
        if gates.count >= limit, gates[gate.key] == nil,
            let first = gates.values.min(by: { $1.gate.opensLater(than: $0.gate) })?.gate.key
        {
            gates[first] = nil
        }
        gates[gate.key] = InMemoryRecoveryStore.GateEntry(gate: gate)
    }
}

// MARK: Leases

extension InMemoryRecoveryStore.State {
    /// Grants a lease, unless somebody holds it.
    ///
    /// - Parameter mark: Bits that the fence has beside the count.
    mutating func acquireLease(
        _ name: String,
        for duration: Duration,
        at now: Timestamp,
        mark: UInt64 = 0
    ) -> SharedState.Lease? {
        if let present = leases[name], present.endsAt > now { return nil }
        if leases.count >= limit { leases = leases.filter { $0.value.endsAt > now } }
        fence += 1
        leases[name] = InMemoryRecoveryStore.LeaseEntry(fence: fence | mark, endsAt: now.advanced(by: duration))
        return SharedState.Lease(name: name, fence: fence | mark)
    }

    /// Extends a lease that is still held.
    mutating func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) -> Bool {
        guard let present = leases[lease.name], present.fence == lease.fence, present.endsAt > now else { return false }
        leases[lease.name]?.endsAt = now.advanced(by: duration)
        return true
    }

    /// Gives a lease back, unless another was granted since.
    mutating func releaseLease(_ lease: SharedState.Lease) {
        if leases[lease.name]?.fence == lease.fence { leases[lease.name] = nil }
    }
}

// MARK: Budgets and records

extension InMemoryRecoveryStore.State {
    /// Sets a balance; beyond the limit the one that was not used for longest is forgotten.
    mutating func setBalance(_ balance: Int, of key: String, at now: Timestamp) {
        if budgets.count >= limit, budgets[key] == nil,
            let oldest = budgets.min(by: { $0.value.usedAt < $1.value.usedAt })?.key
        {
            budgets[oldest] = nil
        }
        budgets[key] = InMemoryRecoveryStore.BudgetState(balance: balance, usedAt: now)
    }

    /// Drops the records that nobody needs any more; it looks for them once a minute.
    mutating func dropRecords(at now: Timestamp) {
        if let nextEnd, now < nextEnd { return }
        for (key, end) in ends where end <= now {
            droppedVersion = max(droppedVersion, records.removeValue(forKey: key)?.version ?? 0)
            ends[key] = nil
        }
        nextEnd = now.advanced(by: .seconds(60))
    }
}
