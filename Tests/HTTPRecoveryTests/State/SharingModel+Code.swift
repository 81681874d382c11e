import HTTPRecoveryTesting

@testable import HTTPRecovery

// States that behave alike have the same code: what counts of times and fences is their difference, and what has run out
// is as good as gone.
extension SharingModel: ExploredState {
    /// Whoever is asked at the end has found all well.
    var isSettled: Bool { isOver }

    /// What tells the state from others.
    var code: [UInt8] {
        if isOver { return [] }
        let budgets = [faults.crashes, faults.losses, faults.oblivions, faults.stops, faults.steps]
        var code = budgets.map { UInt8(clamping: $0) }
        let now = Timestamp(secondsSinceEpoch: storeTime)
        // There is one gate and one lease, whatever they are called.
        code.append(left(store.state.gates.values.first?.gate, at: now))
        code.append(left(store.state.leases.values.first, at: now))
        code.append(left(until: store.gateEnd))
        code.append(UInt8(clamping: max(0, store.leaseEnd - storeTime)))
        append(store.late, to: &code)
        code.append(store.lateAsker == nil ? 0 : 1)
        // The order of the processes tells nothing.
        for process in processes.map({ self.code(of: $0) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            code += process
            code.append(UInt8(process.count))
        }
        return code
    }

    func code(of process: Process) -> [UInt8] {
        let now = wallTime(of: process)
        // What it knows is measured by when it was asked, while it is.
        let moment = process.call?.wall ?? now
        let (gate, lease) = (process.memory.gates.values.first?.gate, process.memory.leases.values.first)
        var code = [left(gate, at: moment), left(lease, at: moment)]
        code.append(left(until: process.gateEnd))
        code.append(left(until: process.leaseEnd))
        code.append(left(until: process.believedEnd))
        code.append(standing(of: process.lease))
        code.append(process.lease?.fence == lease?.fence ? 1 : 0)
        code.append(lease.map { $0.fence & InMemoryRecoveryStore.ownMark != 0 } == true ? 1 : 0)
        let link = process.link
        let again = link.asksAgainAt.map { $0 <= instant ? 1 : 2 } ?? 0
        code.append(UInt8(again) | (link.isHealing ? 4 : 0) | (process.isCut ? 8 : 0))
        code.append(left(link.outage.closed.values.first, at: now))
        code.append(UInt8(link.outage.opened.count * 2 + link.outage.closed.count))
        guard let call = process.call else { return code }
        code.append(UInt8(clamping: min(time - call.begunAt, Self.span + Self.tick)))
        append(call.task, of: call, to: &code)
        code.append(left(call.known.first, at: moment))
        code.append(call.known.first == gate ? 1 : 0)
        code.append(call.epoch == nil ? 0 : 1)
        append(call.question, to: &code)
        append(call.reply, to: &code)
        code.append(left(until: call.knownEnd))
        code.append(left(until: call.sharedEnd))
        code.append((call.meetsOpening ? 1 : 0) | (call.isForgotten ? 2 : 0))
        return code
    }

    private func left(_ gate: SharedState.Gate?, at now: Timestamp) -> UInt8 {
        gate?.opensAt.map { UInt8(clamping: max(0, $0.elapsed(since: now).components.seconds)) } ?? 0
    }

    private func left(_ lease: InMemoryRecoveryStore.LeaseEntry?, at now: Timestamp) -> UInt8 {
        lease.map { UInt8(clamping: max(0, $0.endsAt.elapsed(since: now).components.seconds)) } ?? 0
    }

    private func left(until end: Int64) -> UInt8 { UInt8(clamping: max(0, end - time)) }

    /// None, one of the process's own, the one that the store has granted last, or an older one.
    private func standing(of lease: SharedState.Lease?) -> UInt8 {
        guard let lease else { return 0 }
        if InMemoryRecoveryStore.isOwn(lease) { return 1 }
        return lease.fence == store.state.leases.values.first?.fence ? 2 : 3
    }

    private func append(_ task: Task, of call: Call, to code: inout [UInt8]) {
        switch task {
        case .attempt: code.append(1)
        case .close: code.append(2)
        case .open: code.append(3)
        case .acquire: code.append(4)
        case .extend(let lease): code += [5, standing(of: lease)]
        case .release(let lease): code += [6, standing(of: lease)]
        }
    }

    private func append(_ question: Question?, to code: inout [UInt8]) {
        switch question {
        case nil: code.append(0)
        case .probe: code.append(1)
        case .read: code.append(2)
        case .close(_, let span): code += [3, UInt8(clamping: span.components.seconds)]
        case .open: code.append(4)
        case .acquire: code.append(5)
        case .extend(let lease): code += [6, standing(of: lease)]
        case .release(let lease): code += [7, standing(of: lease)]
        }
    }

    private func append(_ reply: Reply?, to code: inout [UInt8]) {
        switch reply {
        case nil: code.append(0)
        case .done: code.append(1)
        case .gate(_, let left): code += [2, UInt8(clamping: left.components.seconds)]
        case .noGate: code.append(3)
        case .lease(let lease): code += [4, standing(of: lease)]
        case .extended(let isHeld): code += [5, isHeld ? 1 : 0]
        }
    }
}
