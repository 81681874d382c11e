@testable import HTTPRecovery

// What may be relied on, told from what has happened and not from what the code remembers.
extension SharingModel {
    // MARK: Gates

    /// Whether an opening may take effect at present: it is under way, or has still to be told to the store.
    ///
    /// What is closed at the same time may be opened by it; nobody can tell which was first.
    var isOpening: Bool {
        if store.late == .open { return true }
        return processes.indices.contains { p in
            processes[p].call?.task == .open || processes[p].call?.question == .open
                || !processes[p].link.outage.opened.isEmpty
        }
    }

    /// From now on nobody has to wait for what was closed before.
    mutating func noteOpening() {
        store.gateEnd = 0
        for p in processes.indices {
            processes[p].gateEnd = 0
            processes[p].call?.knownEnd = 0
            processes[p].call?.sharedEnd = 0
            processes[p].call?.meetsOpening = true
        }
    }

    mutating func noteAttempt(_ p: Int, _ call: Call, heldBy gate: SharedState.Gate?, isTold: Bool) {
        guard let opensAt = gate?.opensAt else {
            if call.knownEnd - allowance > time { violations.append("\(p) goes, and knows that it must not") }
            if isTold, call.sharedEnd - allowance > time { violations.append("\(p) goes, and the store knows of it") }
            return
        }
        let left = opensAt.elapsed(since: call.wall).components.seconds
        if left <= 0 { violations.append("\(p) waits for a gate that is open") }
        if left > Self.span + allowance { violations.append("\(p) waits for \(left) s") }
        // What was told of a gate that somebody opens may be out of date, and so may what opens it.
        if call.meetsOpening || isOpening || call.isForgotten { return }
        processes[p].gateEnd = max(processes[p].gateEnd, min(call.begunAt + left, store.gateEnd))
    }

    // MARK: Leases

    mutating func noteGrant(_ p: Int, _ call: Call, _ lease: SharedState.Lease) {
        let isOwn = InMemoryRecoveryStore.isOwn(lease)
        let holdsOwn = processes[p].lease.map(InMemoryRecoveryStore.isOwn) == true
        if isOwn || holdsOwn, processes[p].believedEnd - allowance > call.begunAt {
            violations.append("\(p) grants a lease that is held within it")
        }
        processes[p].lease = lease
        processes[p].believedEnd = call.begunAt + Self.span
        processes[p].leaseEnd = isOwn || call.isForgotten ? 0 : call.begunAt + Self.span
        findTwoHolders()
    }

    mutating func noteExtension(_ p: Int, isHeld: Bool, isTold: Bool, begunAt: Int64) {
        guard isHeld else {
            (processes[p].lease, processes[p].leaseEnd, processes[p].believedEnd) = (nil, 0, 0)
            return
        }
        if !isTold, processes[p].believedEnd + allowance <= begunAt {
            violations.append("\(p) holds a lease on that has run out")
        }
        processes[p].believedEnd = begunAt + Self.span
        // What the store was not told holds within the process alone.
        if isTold { processes[p].leaseEnd = begunAt + Self.span }
        findTwoHolders()
    }

    private mutating func findTwoHolders() {
        let holders = processes.indices.filter { processes[$0].leaseEnd - allowance > time }
        if holders.count > 1 { violations.append("\(holders) hold the lease") }
    }

    // MARK: The end

    /// From now on all is well: in time everybody agrees, and nobody waits for longer than was said.
    mutating func settle() {
        for p in processes.indices { finish(p) }
        // The first question finds a broken connection, the next the store.
        for _ in 0..<2 {
            time += 1
            for p in processes.indices { carryOut(.attempt, by: p) }
        }
        if let p = processes.firstIndex(where: { $0.link.isDown }) { violations.append("\(p) does not find the store") }
        let isHeld = processes.contains { $0.gateEnd - allowance > time }
        let now = Timestamp(secondsSinceEpoch: storeTime)
        if isHeld, store.state.closedGate(among: [Self.key], at: now) == nil, !isOpening {
            violations.append("the store is not told of a gate")
        }
        time += Self.span + allowance
        for p in processes.indices {
            switch topic {
            case .gates:
                carryOut(.attempt, by: p)
                let wallTime = wallTime(of: processes[p])
                if !processes[p].memory.closedGates(among: [Self.key], at: wallTime).isEmpty {
                    violations.append("a gate stays closed")
                }
            case .leases:
                processes[p].lease = nil
                carryOut(.acquire, by: p)
                guard let lease = processes[p].lease, !InMemoryRecoveryStore.isOwn(lease) else {
                    violations.append("a lease is held for longer than its time")
                    continue
                }
                carryOut(.release(lease), by: p)
            }
        }
        isOver = true
    }

    private mutating func carryOut(_ task: Task, by p: Int) {
        begin(p, task)
        finish(p)
    }

    private mutating func finish(_ p: Int) {
        while let call = processes[p].call {
            if call.reply == nil { hear(p) }
            receive(p)
        }
    }
}
