@testable import HTTPRecovery

// What a process and the store do, step by step.
extension SharingModel {
    // MARK: A process asks

    mutating func begin(_ p: Int, _ task: Task) {
        let now = wallTime(of: processes[p])
        var call = Call(task: task, begunAt: time, wall: now)
        call.knownEnd = processes[p].gateEnd
        call.sharedEnd = store.gateEnd
        call.meetsOpening = isOpening
        switch task {
        case .attempt: call.known = processes[p].memory.closedGates(among: [Self.key], at: now)
        case .close(let gate):
            processes[p].memory.close(gate, at: now)
            if !call.meetsOpening { processes[p].gateEnd = max(processes[p].gateEnd, time + Self.span) }
        case .open: noteOpening()
        case .acquire: if processes[p].memory.holdsOwnLease(Self.name, at: now) { return }
        case .extend(let lease) where InMemoryRecoveryStore.isOwn(lease):
            let isHeld = processes[p].memory.extendLease(lease, for: .seconds(Self.span), at: now)
            return noteExtension(p, isHeld: isHeld, isTold: false, begunAt: time)
        case .extend: break
        case .release(let lease):
            processes[p].memory.releaseLease(lease)
            (processes[p].lease, processes[p].leaseEnd, processes[p].believedEnd) = (nil, 0, 0)
            if InMemoryRecoveryStore.isOwn(lease) { return }
        }
        processes[p].call = call
        switch processes[p].link.admit(at: instant) {
        case .asks(let epoch): ask(p, in: epoch)
        case .doesNot: conclude(p, with: nil)
        case .heals: send(p, .probe)
        }
    }

    /// Asks what the caller wants to know.
    private mutating func ask(_ p: Int, in epoch: UInt64) {
        guard let call = processes[p].call else { return }
        processes[p].call?.epoch = epoch
        processes[p].call?.write = nil
        switch call.task {
        case .attempt: send(p, .read)
        case .close(let gate): send(p, close(gate, at: call.wall))
        case .open: send(p, .open)
        case .acquire: send(p, .acquire)
        case .extend(let lease): send(p, .extend(lease))
        case .release(let lease): send(p, .release(lease))
        }
    }

    private func close(_ gate: SharedState.Gate, at now: Timestamp) -> Question {
        .close(gate, span: gate.opensAt?.elapsed(since: now) ?? .zero)
    }

    private mutating func send(_ p: Int, _ question: Question) {
        processes[p].call?.question = question
        processes[p].call?.reply = nil
        processes[p].call?.isForgotten = false
        guard processes[p].isCut else { return }
        processes[p].isCut = false
        fail(p)
    }

    /// The answer does not come.
    mutating func fail(_ p: Int) {
        if let epoch = processes[p].call?.epoch {
            _ = processes[p].link.goDown(at: instant, because: "lost", epoch: epoch)
        } else {
            processes[p].link.stayDown(at: instant, because: "lost")
        }
        conclude(p, with: nil)
    }

    /// The answer comes.
    mutating func receive(_ p: Int) {
        guard let call = processes[p].call, let reply = call.reply else { return }
        if call.epoch != nil { return conclude(p, with: reply) }
        let now = wallTime(of: processes[p])
        if let write = call.write {
            processes[p].link.outage.remove(write)
        } else {
            let known = processes[p].memory.gates.values.map(\.gate)
            processes[p].link.outage.close(known, at: now)
        }
        while let write = processes[p].link.outage.next {
            processes[p].call?.write = write
            switch write {
            case .open: return send(p, .open)
            case .close(let gate):
                if gate.isClosed(at: now) { return send(p, close(gate, at: now)) }
                processes[p].link.outage.remove(write)
            }
        }
        guard let epoch = processes[p].link.comeBack() else { return violations.append("\(p) does not come back") }
        ask(p, in: epoch)
    }

    // MARK: A process is answered

    /// - Parameter reply: What the store has answered; nil if it has not.
    private mutating func conclude(_ p: Int, with reply: Reply?) {
        guard let call = processes[p].call else { return }
        processes[p].call = nil
        let span = Duration.seconds(Self.span)
        switch (call.task, reply) {
        case (.attempt, _):
            let answer: StoreLink.Answer<SharedState.Gate?> =
                switch reply {
                case .gate(var gate, let left): .answered(gate.opening(at: call.wall.advanced(by: left)))
                case nil: .none
                default: .answered(nil)
                }
            let gate = processes[p].memory
                .closedGate(among: [Self.key], by: answer, insteadOf: call.known, at: call.wall)
            noteAttempt(p, call, heldBy: gate, isTold: reply != nil)
        case (.close(let gate), _):
            if reply == nil { processes[p].link.outage.close(gate, at: call.wall) }
            processes[p].memory.close(gate, at: call.wall)
            if reply != nil, !call.isForgotten, !call.meetsOpening {
                store.gateEnd = max(store.gateEnd, call.begunAt + Self.span)
            }
        case (.open, _):
            if reply == nil { processes[p].link.outage.open(Self.key) }
            processes[p].memory.open(Self.key)
        case (.acquire, let reply):
            var answer = StoreLink.Answer<SharedState.Lease?>.none
            if case .lease(let lease) = reply { answer = .answered(lease) }
            let lease = processes[p].memory.acquireLease(Self.name, for: span, by: answer, at: call.wall)
            if let lease { noteGrant(p, call, lease) }
        case (.extend(let lease), let reply):
            var answer = StoreLink.Answer<Bool>.none
            if case .extended(let isHeld) = reply { answer = .answered(isHeld) }
            let isHeld = processes[p].memory.extendLease(lease, for: span, by: answer, at: call.wall)
            noteExtension(p, isHeld: isHeld, isTold: reply != nil && !call.isForgotten, begunAt: call.begunAt)
        case (.release, _): break
        }
    }

    // MARK: The store

    /// The store carries out what a process asks.
    mutating func hear(_ p: Int) {
        guard let question = processes[p].call?.question else { return }
        let reply = carryOut(question)
        processes[p].call?.reply = reply
    }

    /// The store carries out what nobody waits for any more.
    mutating func hearLate() {
        guard let question = store.late else { return }
        let asker = store.lateAsker
        (store.late, store.lateAsker) = (nil, nil)
        // Who asked gives back what is granted to nobody.
        if case .lease(let lease?) = carryOut(question), asker != nil { store.late = .release(lease) }
    }

    private mutating func carryOut(_ question: Question) -> Reply {
        let now = Timestamp(secondsSinceEpoch: storeTime)
        let span = Duration.seconds(Self.span)
        switch question {
        case .probe: return .done
        case .read:
            guard let gate = store.state.closedGate(among: [Self.key], at: now) else { return .noGate }
            return .gate(gate, left: gate.opensAt?.elapsed(since: now) ?? .zero)
        case .close(var gate, let left):
            store.state.close(gate.opening(at: now.advanced(by: left)), at: now)
            return .done
        case .open:
            store.state.open(Self.key)
            return .done
        case .acquire:
            let lease = store.state.acquireLease(Self.name, for: span, at: now)
            if let lease {
                if store.leaseEnd > storeTime { violations.append("a lease is granted that is held") }
                if lease.fence <= store.fence { violations.append("a fence is given twice") }
                (store.fence, store.leaseEnd) = (lease.fence, storeTime + Self.span)
            } else if store.leaseEnd <= storeTime {
                violations.append("a lease is held for longer than its time")
            }
            return .lease(lease)
        case .extend(let lease):
            let isHeld = store.state.extendLease(lease, for: span, at: now)
            if isHeld {
                if lease.fence != store.fence { violations.append("a lease is extended by who has lost it") }
                if store.leaseEnd <= storeTime { violations.append("a lease is extended that has run out") }
                store.leaseEnd = storeTime + Self.span
            }
            return .extended(isHeld)
        case .release(let lease):
            store.state.releaseLease(lease)
            if lease.fence == store.fence { store.leaseEnd = 0 }
            return .done
        }
    }
}

extension SharedState.Gate {
    /// The same, to open at a time.
    fileprivate mutating func opening(at time: Timestamp) -> SharedState.Gate {
        opensAt = time
        return self
    }
}
