// What a memory does beside that of a store: it follows another store, to take its place while that does not answer.

extension InMemoryRecoveryStore {
    /// Marks the fences of leases that the other store knows nothing of.
    static let ownMark: UInt64 = 1 << 63

    /// How much later a gate may open in memory than in the store: a store with its own clock tells the time inexactly.
    static let tolerance: Duration = .seconds(1)

    /// Whether a lease was granted by the memory that follows, not by the store.
    static func isOwn(_ lease: SharedState.Lease) -> Bool { lease.fence & ownMark != 0 }

    /// All closed gates among the keys.
    func closedGates(among keys: [SharedState.Gate.Key], at now: Timestamp) -> [SharedState.Gate] {
        guard mayHoldGates else { return [] }
        return state.withLock { $0.closedGates(among: keys, at: now) }
    }

    /// Takes note of a balance that the store has told.
    func note(_ balance: Int, of key: String, at now: Timestamp) {
        state.withLock { $0.setBalance(balance, of: key, at: now) }
    }
}

// MARK: Gates

extension InMemoryRecoveryStore.State {
    /// All closed gates among the keys.
    func closedGates(among keys: [SharedState.Gate.Key], at now: Timestamp) -> [SharedState.Gate] {
        keys.compactMap { key in gates[key]?.gate }.filter { $0.isClosed(at: now) }
    }

    /// Which gate is closed, given what the store has answered.
    ///
    /// A gate of the store is kept, so that it holds while the store does not answer; what was opened there is forgotten.
    ///
    /// - Parameter known: What this memory held closed among the keys before the store was asked.
    mutating func closedGate(
        among keys: [SharedState.Gate.Key],
        by answer: StoreLink.Answer<SharedState.Gate?>,
        insteadOf known: [SharedState.Gate],
        at now: Timestamp
    ) -> SharedState.Gate? {
        guard case .answered(let gate) = answer else { return closedGate(among: keys, at: now) }
        for other in known {
            // The store has told the latest of all: what would open later was opened there.
            guard let gate else {
                open(other)
                continue
            }
            let isLater =
                switch (other.opensAt, gate.opensAt) {
                case (_, nil): false
                case (nil, _): true
                case (let other?, let time?): other.elapsed(since: time) > InMemoryRecoveryStore.tolerance
                }
            if isLater { open(other) }
        }
        if let gate { take(gate, at: now) }
        return gate
    }

    /// Opens a gate, unless it was closed anew since it was looked at.
    private mutating func open(_ gate: SharedState.Gate) {
        if gates[gate.key]?.gate == gate { gates[gate.key] = nil }
    }

    /// Takes over a gate as the store knows it; one that opens about the same time is kept, with those who are counted at
    /// it.
    private mutating func take(_ gate: SharedState.Gate, at now: Timestamp) {
        let (gate, tolerance) = (gate.remembered(from: now), InMemoryRecoveryStore.tolerance)
        if let present = gates[gate.key]?.gate, present.isClosed(at: now) {
            if present.opensAt == nil, gate.opensAt == nil {
                gates[gate.key]?.gate.forgottenAt = gate.forgottenAt
                return
            }
            if let own = present.opensAt, let other = gate.opensAt, other.elapsed(since: own) <= tolerance,
                own.elapsed(since: other) <= tolerance
            {
                return
            }
        }
        set(gate)
    }
}

// MARK: Leases

extension InMemoryRecoveryStore.State {
    /// Whether a lease is held that the store knows nothing of: it holds to its end, within this process.
    func holdsOwnLease(_ name: String, at now: Timestamp) -> Bool {
        guard let present = leases[name] else { return false }
        return present.fence & InMemoryRecoveryStore.ownMark != 0 && present.endsAt > now
    }

    /// Takes note of a lease that the store has granted or extended.
    mutating func note(_ lease: SharedState.Lease, until end: Timestamp) {
        fence = max(fence, lease.fence & ~InMemoryRecoveryStore.ownMark)
        leases[lease.name] = InMemoryRecoveryStore.LeaseEntry(fence: lease.fence, endsAt: end)
    }

    /// The lease that is granted, given what the store has answered; without an answer one for this process alone, unless
    /// it holds it already.
    mutating func acquireLease(
        _ name: String,
        for duration: Duration,
        by answer: StoreLink.Answer<SharedState.Lease?>,
        at now: Timestamp
    ) -> SharedState.Lease? {
        guard case .answered(let lease) = answer else {
            return acquireLease(name, for: duration, at: now, mark: InMemoryRecoveryStore.ownMark)
        }
        if let lease { note(lease, until: now.advanced(by: duration)) }
        return lease
    }

    /// Whether a lease of the store is extended, given what that has answered; if nobody can be asked, it holds within
    /// this process.
    mutating func extendLease(
        _ lease: SharedState.Lease,
        for duration: Duration,
        by answer: StoreLink.Answer<Bool>,
        at now: Timestamp
    ) -> Bool {
        guard case .answered(let isHeld) = answer else { return extendLease(lease, for: duration, at: now) }
        if isHeld { note(lease, until: now.advanced(by: duration)) } else { releaseLease(lease) }
        return isHeld
    }
}
