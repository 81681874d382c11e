// What a memory does beside that of a store: it follows another store, to take its place while that does not answer.
extension InMemoryRecoveryStore {
    /// Marks the fences of leases that the other store knows nothing of.
    private static let ownMark: UInt64 = 1 << 63

    /// Whether a lease was granted by the memory that follows, not by the store.
    static func isOwn(_ lease: SharedState.Lease) -> Bool { lease.fence & ownMark != 0 }

    /// All closed gates among the keys.
    func closedGates(among keys: [SharedState.Gate.Key], at now: Timestamp) -> [SharedState.Gate] {
        guard mayHoldGates else { return [] }
        return withGates { gates in
            keys.compactMap { key in gates[key]?.gate }.filter { $0.isClosed(at: now) }
        }
    }

    /// Opens a gate, unless it was closed anew since it was looked at.
    func open(_ gate: SharedState.Gate) {
        withGates { gates in
            if gates[gate.key]?.gate == gate { gates[gate.key] = nil }
        }
    }

    /// Takes over a gate as the store knows it.
    ///
    /// - Parameter tolerance: A gate that opens about the same time is kept, with those who are counted at it.
    func close(_ gate: SharedState.Gate, at now: Timestamp, tolerance: Duration) {
        let gate = gate.remembered(from: now)
        withGates { gates in
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
            set(gate, in: &gates)
        }
    }

    /// Takes note of a lease that the store has granted or extended.
    func note(_ lease: SharedState.Lease, until end: Timestamp) {
        state.withLock { state in
            state.fence = max(state.fence, lease.fence & ~Self.ownMark)
            state.leases[lease.name] = LeaseEntry(fence: lease.fence, endsAt: end)
        }
    }

    /// Whether a lease is held that the store knows nothing of.
    func holdsOwnLease(_ name: String, at now: Timestamp) -> Bool {
        state.withLock { state in
            guard let present = state.leases[name] else { return false }
            return present.fence & Self.ownMark != 0 && present.endsAt > now
        }
    }

    /// Grants a lease for this process alone, unless it holds it already.
    func acquireOwnLease(_ name: String, for duration: Duration, at now: Timestamp) -> SharedState.Lease? {
        state.withLock { $0.grant(name, for: duration, at: now, limit: limit, mark: Self.ownMark) }
    }

    /// Takes note of a balance that the store has told.
    func note(_ balance: Int, of key: String, at now: Timestamp) {
        state.withLock { $0.setBalance(balance, of: key, at: now, limit: limit) }
    }
}
