import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthRecovery

// States that behave alike have the same code: what counts of times, versions and fences is their difference.
extension FleetModel: ExploredState {
    /// What tells the state from others.
    var code: [UInt8] {
        var code: [UInt8] = []
        for byte in [faults.crashes, faults.losses, faults.oblivions, faults.expiries, faults.ticks, faults.steps] {
            code.append(UInt8(byte))
        }
        append(store.credentials, to: &code)
        code.append(store.version == 0 ? 0 : 1)
        code.append(span(max(store.leaseEnd, time)))
        code.append(server.isRevoked ? 1 : 0)
        code.append(age(server.expired))
        for number in max(1, server.current - 3)...server.current {
            code.append(server.used[number].map { ago($0) } ?? 255)
            code.append(server.firsts.contains(number) ? 1 : 0)
        }
        // The order of the processes tells nothing.
        for process in processes.map({ self.code(of: $0) }).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            code.append(UInt8(process.count))
            code += process
        }
        return code
    }

    func code(of process: Process) -> [UInt8] {
        var code: [UInt8] = [UInt8(bitPattern: Int8(clamping: process.skew)), process.received.map(age) ?? 255]
        code.append(process.fence.map { UInt8(clamping: store.fence - $0) } ?? 255)
        // Matters only where something can be forgotten.
        if faults.oblivions > 0 || store.version == 0, let own = process.own {
            code.append(UInt8(clamping: store.lastVersion - own.version))
            append(own.credentials, to: &code)
        }
        if let unsaved = process.unsaved {
            code.append(1)
            append(unsaved.sent, to: &code)
            append(unsaved.renewed, to: &code)
        }
        guard let plan = process.plan else { return code }
        code.append(2)
        code.append(UInt8(plan.tries))
        code.append(
            plan.failure.map { UInt8(truncatingIfNeeded: $0.kind.rawValue.utf8.reduce(0) { $0 &* 31 &+ $1 }) } ?? 0
        )
        code.append(plan.version == store.credentials.version(of: plan.kind) ? 1 : 0)
        append(plan.phase, to: &code)
        if let step = process.step { append(step, to: &code) }
        return code
    }

    private func append(_ step: RenewalPlan.Step, to code: inout [UInt8]) {
        switch step {
        case .read: code.append(3)
        case .acquireLease: code.append(4)
        case .extendLease: code.append(5)
        case .replace(let version, let changed, _):
            code.append(version == store.version ? 6 : 7)
            append(changed, to: &code)
        case .present: code.append(8)
        case .sleep: code.append(9)
        }
    }

    private func append(_ phase: RenewalPlan.Phase, to code: inout [UInt8]) {
        func append(_ purpose: RenewalPlan.Purpose) {
            switch purpose {
            case .lease: code.append(0)
            case .change(let change): self.append(change, to: &code)
            }
        }
        switch phase {
        case .reads(let purpose): append(purpose)
        case .sleeps(let purpose): append(purpose)
        case .acquires, .extends, .pauses: break
        case .writes(let change): self.append(change, to: &code)
        case .presents(let use):
            self.append(use.credentials, to: &code)
            code.append(use.isFirst ? 1 : 0)
            code.append(use.end.map { span($0.secondsSinceEpoch) } ?? 255)
        }
    }

    private func append(_ change: RenewalPlan.Change, to code: inout [UInt8]) {
        switch change {
        case .mark(let isFirst, let end):
            code.append(isFirst ? 1 : 5)
            code.append(end.map { span($0.secondsSinceEpoch) } ?? 255)
        case .forget(let sent):
            code.append(2)
            append(sent, to: &code)
        case .keep(let renewed, let sent, let failures):
            code.append(3)
            append(renewed, to: &code)
            append(sent, to: &code)
            code.append(UInt8(failures))
        case .clear(_, let version, _, let looks):
            code.append(4)
            code.append(version == store.credentials.version(of: .refresh) ? 1 : 0)
            code.append(UInt8(looks))
        }
    }

    private func append(_ credentials: Credentials, to code: inout [UInt8]) {
        let number = Self.number(credentials)
        code.append(number == 0 ? 255 : age(number))
        code.append(Self.number(credentials.accessToken) == number ? 0 : 1)
        code.append(credentials.renewalRepeats == store.credentials.renewalRepeats ? 0 : 1)
        code.append(credentials.renewalBeganAt.map { ago($0.secondsSinceEpoch) } ?? 255)
        code.append(credentials.renewalBootTime.map { ago($0.microseconds / 1_000_000) } ?? 255)
    }

    /// How many tokens have come since.
    private func age(_ number: Int) -> UInt8 { UInt8(clamping: server.current - number) }

    /// How long ago it was, as far as that matters.
    private func ago(_ then: Int64) -> UInt8 { UInt8(clamping: min(time - then, rules.grace + reach) + 100) }

    /// How long it is until then, as far as that matters.
    private func span(_ end: Int64) -> UInt8 { UInt8(clamping: max(end - time, -rules.tick - reach) + 100) }

    /// By how much a clock may be wrong that tells how long ago something was.
    private var reach: Int64 { (faults.offsets + processes.map(\.skew)).map(abs).max() ?? 0 }
}

extension RenewalPlan.Step {
    /// In one word.
    var word: String {
        switch self {
        case .read: "read"
        case .acquireLease: "acquireLease"
        case .extendLease: "extendLease"
        case .replace(_, _, .mark): "mark"
        case .replace(_, _, .forget): "forget"
        case .replace(_, _, .keep): "keep"
        case .replace(_, _, .clear): "clear"
        case .present(let use): use.isFirst ? "present" : "present again"
        case .sleep: "sleep"
        }
    }
}
