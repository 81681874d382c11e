import HTTPRecovery

@testable import AuthRecovery

/// Three processes that share a refresh token, their store, the server that rotates it, and the time: all that there is,
/// as one value.
///
/// What a process does is decided by ``RenewalPlan``, as in production. Everything else may happen at any moment.
struct FleetModel {
    /// What may happen in one history besides what is meant to.
    struct Faults: Hashable {
        var crashes = 0
        /// Requests to the store or the server that are lost, or their answers.
        var losses = 0
        /// How often the store loses all that it holds.
        var oblivions = 0
        /// How often a fresh access token expires.
        var expiries = 0
        /// How often time passes, beside what a lease needs to run out that nobody holds.
        var ticks = 1
        /// How often a clock is set.
        var steps = 0
        /// By how many seconds a clock that was set may be wrong.
        var offsets: [Int64] = []
    }

    struct Process {
        var plan: RenewalPlan?
        /// What it does next, while it renews.
        var step: RenewalPlan.Step?
        /// The lease that it thinks it holds.
        var fence: UInt64?
        /// Whether it was told last that it holds one.
        var hasLease = false
        var unsaved: UnsavedRenewal?
        /// By how much its wall clock is wrong.
        var skew: Int64 = 0
        /// What it has stored last, which it gives back to a store that has lost it.
        var own: Credentials.Stored?
        /// The latest refresh token that it has got from the server and not stored yet.
        var received: Int?
    }

    struct Store {
        var credentials = Credentials()
        /// 0 while it holds none.
        var version: UInt64 = 0
        var lastVersion: UInt64 = 0
        var fence: UInt64 = 0
        var leaseEnd: Int64 = 0
    }

    struct Server {
        /// The latest refresh token.
        var current = 1
        /// When each was used first; those before were used long ago.
        var used: [Int: Int64] = [:]
        /// Those that were presented by somebody who takes them for unused.
        var firsts: Set<Int> = []
        /// Access tokens up to this one have expired.
        var expired = 1
        var isRevoked = false
    }

    /// What the fleet has agreed on.
    struct Rules {
        var reuse: RefreshTokenGrant.Reuse
        /// Whether the processes run on one machine, whose boot clock tells the time whatever the wall clock says.
        var isOneMachine = false
        var lease: Int64 = 15
        var timeout: Int64 = 10_000
        var grace: Int64 = 30
        /// By how much clocks may differ.
        var tolerance: Int64 { grace / 10 }
        /// How much time passes at once.
        var tick: Int64 = 15
    }

    let rules: Rules
    var faults: Faults
    var time: Int64 = 1_000_000
    var processes: [Process]
    var store = Store()
    var server = Server()
    /// What has happened last.
    var event = "at first"
    /// What must never be, and is.
    var violations: [String] = []

    /// - Parameter skew: By how much the clock of one process is wrong from the start.
    init(_ rules: Rules, _ faults: Faults, processes count: Int = 3, skew: Int64 = 0) {
        (self.rules, self.faults) = (rules, faults)
        processes = Array(repeating: Process(), count: count)
        processes[0].skew = skew
        store.credentials = Self.credentials(1)
        (store.version, store.lastVersion) = (1, 1)
    }

    static func credentials(_ number: Int) -> Credentials {
        Credentials(accessToken: Secret("access-\(number)"), refreshToken: Secret("refresh-\(number)"))
    }

    /// The number of a token; it has one digit.
    static func number(_ secret: Secret?) -> Int {
        secret?.reveal().utf8.last.map { Int($0) - 48 } ?? 0
    }

    static func number(_ credentials: Credentials) -> Int { number(credentials.refreshToken) }

    /// Whether nobody has anything to do, and whoever needs a token has one or knows that a person has to sign in.
    var isSettled: Bool {
        guard processes.allSatisfy({ $0.plan == nil && $0.unsaved == nil }) else { return false }
        let held = Self.number(store.credentials)
        // Who comes next tries again within the grace, and is told after it.
        if held == 0 || store.credentials.renewalBeganAt != nil { return true }
        return held == server.current && !server.isRevoked && !needsRenewal
    }

    private var needsRenewal: Bool { Self.number(store.credentials.accessToken) <= server.expired }

    // MARK: What may happen

    /// Every state that may come next.
    var successors: [FleetModel] {
        var result: [FleetModel] = []
        func add(_ event: @autoclosure () -> String, _ change: (inout FleetModel) -> Void) {
            var next = self
            next.event = event()
            change(&next)
            result.append(next)
        }
        for p in processes.indices {
            // Processes that are alike do the same.
            if processes[..<p].contains(where: { code(of: $0) == code(of: processes[p]) }) { continue }
            let isBusy = processes[p].plan != nil || processes[p].unsaved != nil
            if faults.crashes > 0, isBusy { add("\(p) crashes") { $0.crash(p) } }
            for offset in faults.offsets where faults.steps > 0 && processes[p].skew != offset {
                // A process takes the wall clock's time when it is started, and no notice of it after that.
                add("\(p) is started again, its clock wrong by \(offset) s") { $0.set(p, to: offset) }
                guard isBusy, abs(offset) <= rules.tolerance else { continue }
                add("\(p)'s clock drifts by \(offset) s") { $0.drift(p, to: offset) }
            }
            let needs = processes[p].unsaved != nil || Self.number(store.credentials) != 0 && needsRenewal
            if processes[p].plan == nil, needs {
                for fate in Fate.all(of: .acquireLease, losses: faults.losses) {
                    add("\(p) begins \(fate)") {
                        $0.begin(p)
                        $0.perform(p, fate)
                    }
                }
            } else if let step = processes[p].step {
                for fate in Fate.all(of: step, losses: faults.losses) {
                    add("\(p) \(step.word) \(fate)") { $0.perform(p, fate) }
                }
            }
        }
        let isHeld = processes.contains(where: holds)
        if faults.ticks > 0 || store.leaseEnd > time && !isHeld { add("time passes") { $0.pass(isExtended: false) } }
        if faults.ticks > 0, isHeld { add("time passes, the lease is extended") { $0.pass(isExtended: true) } }
        if faults.oblivions > 0, store.version != 0 { add("the store forgets") { $0.forget() } }
        if faults.expiries > 0, !needsRenewal { add("the token expires") { $0.expire() } }
        return result
    }

    /// What becomes of a request.
    enum Fate {
        case answered
        case carriedOutAndLost
        case lost
        /// Nothing was sent, and that is known.
        case neverSent

        static func all(of step: RenewalPlan.Step, losses: Int) -> [Fate] {
            guard losses > 0 else { return [.answered] }
            switch step {
            case .read, .sleep: return [.answered, .lost]
            case .present: return [.answered, .carriedOutAndLost, .lost, .neverSent]
            case .acquireLease, .extendLease, .replace: return [.answered, .carriedOutAndLost, .lost]
            }
        }
    }

    /// Whether the store holds the process's lease.
    private func holds(_ process: Process) -> Bool {
        process.plan != nil && process.fence == store.fence && process.fence != nil && store.leaseEnd > time
    }

    /// Time passes; whoever has the lease extends it meanwhile, or was stopped.
    private mutating func pass(isExtended: Bool) {
        faults.ticks = max(0, faults.ticks - 1)
        time += rules.tick
        if isExtended { store.leaseEnd = time + rules.lease }
    }

    private mutating func expire() {
        faults.expiries -= 1
        server.expired = Self.number(store.credentials.accessToken)
    }

    private mutating func forget() {
        faults.oblivions -= 1
        store.credentials = Credentials()
        store.version = 0
        store.leaseEnd = time
    }

    private mutating func crash(_ p: Int) {
        faults.crashes -= 1
        processes[p] = Process(skew: processes[p].skew)
    }

    private mutating func set(_ p: Int, to offset: Int64) {
        faults.steps -= 1
        processes[p] = Process(skew: offset)
    }

    private mutating func drift(_ p: Int, to offset: Int64) {
        faults.steps -= 1
        processes[p].skew = offset
    }

    // MARK: A process

    private func instant(_ time: Int64) -> TimeSource.Instant { TimeSource.Instant(sinceStart: .seconds(time)) }

    private func moment(_ p: Int) -> Moment {
        Moment(
            wallTime: Timestamp(secondsSinceEpoch: time + processes[p].skew),
            boot: rules.isOneMachine ? BootClock.Value(boot: "run", microseconds: time * 1_000_000) : nil
        )
    }

    private mutating func begin(_ p: Int) {
        let end = instant(time + rules.timeout)
        if let unsaved = processes[p].unsaved {
            processes[p].plan = RenewalPlan(saving: unsaved, reuse: rules.reuse, end: end)
            processes[p].unsaved = nil
        } else {
            let version = store.credentials.version(of: .access)
            processes[p].plan = RenewalPlan(.access, version: version, reuse: rules.reuse, end: end)
        }
        advance(p, .begun)
    }

    private mutating func advance(_ p: Int, _ event: RecoveryOperation.Event<RenewalPlan.Answer>) {
        let now = instant(time)
        guard let action = processes[p].plan?.next(after: event, at: now, random: { 0.5 }) else { return }
        switch action {
        // What was waited for is over at any time.
        case .perform(.sleep, _): advance(p, .answered(.slept))
        case .pause: advance(p, .paused)
        case .perform(let step, _): processes[p].step = step
        case .finish(let end): finish(p, end)
        case .fail(let error): violations.append("a renewal never fails otherwise than by its end: \(error)")
        }
    }

    private mutating func finish(_ p: Int, _ end: RenewalEnd) {
        if let unsaved = end.cause as? UnsavedRenewal { processes[p].unsaved = unsaved }
        if processes[p].unsaved == nil, let received = processes[p].received {
            processes[p].received = nil
            // Somebody else may have got it too, or give back to the store with what it is got again.
            let isKnown = processes.contains { $0.received == received || isGivenBack(by: $0) }
            if Self.number(store.credentials) < received, !isKnown {
                violations.append("token \(received) was given out and is lost: \(end)")
            }
        }
        if processes[p].fence == store.fence { store.leaseEnd = min(store.leaseEnd, time) }
        (processes[p].plan, processes[p].step, processes[p].fence) = (nil, nil, nil)
    }

    // MARK: Steps

    private mutating func perform(_ p: Int, _ fate: Fate) {
        guard let step = processes[p].step else { return }
        // What is read before the lease is asked for decides nothing else: it is one step with that.
        if case .reads(.lease) = processes[p].plan?.phase {
            advance(p, .answered(carryOut(.read, of: p)))
            if processes[p].plan?.phase == .acquires { perform(p, fate) }
            return
        }
        if fate != .answered { faults.losses -= 1 }
        let answer: RenewalPlan.Answer
        if case .present(let use) = step {
            answer = present(use, by: p, fate)
        } else {
            let isCarriedOut = fate == .answered || fate == .carriedOutAndLost
            let carriedOut = isCarriedOut ? carryOut(step, of: p) : nil
            let isLeaseKept = step == .extendLease
            answer = fate == .answered ? carriedOut ?? .slept : isLeaseKept ? .extended(false) : .failed(Lost())
            // Of a lease whose grant was lost the process knows nothing.
            if fate == .answered, case .acquired(true) = answer { processes[p].fence = store.fence }
            if case .acquired(let isHeld) = answer { processes[p].hasLease = isHeld }
            if case .extended(let isHeld) = answer { processes[p].hasLease = isHeld }
        }
        advance(p, .answered(answer))
    }

    private struct Lost: Error {}

    private mutating func carryOut(_ step: RenewalPlan.Step, of p: Int) -> RenewalPlan.Answer {
        giveBack(p)
        switch step {
        case .read:
            let stored = Credentials.Stored(store.credentials, version: store.version)
            if processes[p].own?.version != stored.version { processes[p].own = nil }
            return .found(stored, at: moment(p))
        case .acquireLease:
            guard store.leaseEnd <= time else { return .acquired(false) }
            store.fence += 1
            store.leaseEnd = time + rules.lease
            return .acquired(true)
        case .extendLease:
            guard processes[p].fence == store.fence, store.leaseEnd > time else { return .extended(false) }
            store.leaseEnd = time + rules.lease
            return .extended(true)
        case .replace(let version, let changed, _): return .replaced(replace(version, with: changed, by: p))
        case .sleep, .present: return .slept
        }
    }

    private mutating func replace(_ version: UInt64, with changed: Credentials, by p: Int) -> Credentials.Stored? {
        guard version == store.version else { return nil }
        let (before, after) = (Self.number(store.credentials), Self.number(changed))
        if after != 0, after < before { violations.append("token \(before) is overwritten by \(after)") }
        if after == 0, before == server.current, !server.isRevoked {
            violations.append("a token that serves is cleared")
        }
        store.lastVersion += 1
        store.version = store.lastVersion
        store.credentials = changed
        let stored = Credentials.Stored(changed, version: store.version)
        processes[p].own = stored
        // A renewal that is answered too late has been told of a newer one.
        if after != 0, after < server.current, changed.renewalBeganAt == nil, server.used[after] != nil {
            violations.append("token \(after) was used, and nothing tells")
        }
        return stored
    }

    private func isGivenBack(by process: Process) -> Bool {
        store.version == 0 && process.own?.version == store.lastVersion
    }

    /// A store that has lost its records is given back what the process has stored itself, as ``SharedState`` does.
    private mutating func giveBack(_ p: Int) {
        guard let own = processes[p].own, isGivenBack(by: processes[p]) else { return }
        store.lastVersion += 1
        store.version = store.lastVersion
        store.credentials = own.credentials
        processes[p].own = Credentials.Stored(own.credentials, version: store.version)
    }

    // MARK: The server

    private mutating func present(_ use: RenewalPlan.Use, by p: Int, _ fate: Fate) -> RenewalPlan.Answer {
        if let end = use.end, moment(p).wallTime >= end {
            var outcome = use.isFirst ? RenewalEnd.heldUp : RenewalEnd.graceIsOver
            outcome.transportError = TransportError(.sendLimitPassed, .neverSent, message: "")
            outcome.transportError?.isTransient = false
            return .refused(RecoveryError(outcome: outcome, reason: .notRecoverable))
        }
        switch fate {
        case .neverSent: return .refused(TransportError(.cannotConnect, .neverSent, message: ""))
        case .lost: return .refused(TransportError(.connectionLost, .unknown, message: ""))
        case .answered, .carriedOutAndLost: break
        }
        if !processes[p].hasLease { violations.append("a token is presented without the lease") }
        let issued = issue(for: Self.number(use.credentials), isFirst: use.isFirst)
        if fate == .carriedOutAndLost { return .refused(TransportError(.connectionLost, .unknown, message: "")) }
        guard let issued else {
            return .refused(RecoveryError(outcome: RotatingServer.invalidGrant, reason: .notRecoverable))
        }
        processes[p].received = issued
        var renewed = use.credentials
        renewed.accessToken = Secret("access-\(issued)")
        renewed.refreshToken = Secret("refresh-\(issued)")
        return .renewed(renewed)
    }

    /// The number of the tokens that the server gives out; nil for a token that is refused.
    private mutating func issue(for number: Int, isFirst: Bool) -> Int? {
        if server.isRevoked { return nil }
        if isFirst, !server.firsts.insert(number).inserted {
            violations.append("token \(number) was presented twice by somebody who took it for unused")
        }
        if number == server.current {
            server.used[number] = time
            server.current += 1
            return server.current
        }
        guard let used = server.used[number], time - used < rules.grace else {
            server.isRevoked = true
            violations.append("token \(number) was presented again after the grace")
            return nil
        }
        return server.current
    }
}
