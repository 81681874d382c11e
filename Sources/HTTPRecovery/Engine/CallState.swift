import HTTPTypes

/// All that is known of one call on its way through the engine, and what it does next: a value without clock, lock or
/// input and output.
///
/// ``CallDriver`` feeds it events and performs its actions. The same events, with the same remaining times and random
/// numbers, lead to the same actions.
struct CallState: Sendable {
    /// What has happened; what is large stands aside, as most calls have none of it.
    enum Event: Sendable {
        /// The call begins, and stands for itself.
        case begun
        /// The call begins, and goes on with what was before it.
        ///
        /// - Parameters:
        ///   - following: What it continues, as a redirect.
        ///   - repeating: What the same failed with before, if an operation makes it again.
        indirect case continued(following: Outcome? = nil, repeating: Outcome.Kind? = nil)
        /// The admissions let the coming attempt go.
        case admitted
        /// An admission knows when the attempt may go out.
        indirect case delayed(Duration, because: Outcome)
        /// An admission holds the attempt until something has changed.
        indirect case held(because: Outcome, hasQueue: Bool)
        /// An admission has the attempt stand in a line.
        indirect case lined(because: Outcome)
        /// Its turn has not come in time.
        indirect case overdue(because: Outcome)
        /// An admission ends the call.
        indirect case refused(History.StopReason, because: Outcome?)
        /// The call stands in the queue of a gate, behind so many.
        case queued(behind: Int)
        /// The wait is over.
        case waited
        /// The attempt succeeded.
        case succeeded
        /// The attempt failed.
        ///
        /// - Parameters:
        ///   - outcome: With what.
        ///   - obstacle: Why the request must not be sent again, by `ResendRule`; nil if it may.
        ///   - hasQueue: Whether a gate was closed by it, before which callers queue.
        ///   - hedges: How many attempts more were made at the same time.
        indirect case failed(Outcome, obstacle: History.StopReason?, hasQueue: Bool, hedges: Int = 0)
        /// What was refused is repaired.
        indirect case repaired(name: String)
        /// It is not, and the call ends.
        indirect case repairFailed(Outcome, History.StopReason)
    }

    /// What is to be done.
    enum Action: Sendable {
        /// Ask the admissions about an attempt, which is due after the delay.
        case admit(History.Cause, isDue: Bool, delay: Duration = .zero)
        /// Send.
        case attempt(History.Cause)
        /// Stand in the queue of the gate that holds the call.
        case queue
        /// Stand in the line, for no longer than that.
        indirect case stand(atMost: Duration, because: Outcome)
        /// Wait.
        indirect case wait(Duration, Outcome.Kind)
        /// Repair what was refused.
        indirect case repair(any FailureContext.Remediation, Outcome)
        /// Hand out the response.
        case finish
        /// End the call with an error.
        indirect case fail(Outcome, History.StopReason, needed: Duration?)
    }

    /// What stands between the admission of a planned attempt and its being due.
    private enum Pending: Sendable {
        case nothing
        indirect case wait(Duration, Outcome.Kind, hasQueue: Bool)
        indirect case decision(about: Outcome)
    }

    /// The name of what is made again for nothing.
    static let transparentResend = "transparent_resend"

    let rules: RecoveryRules
    private let method: HTTPRequest.Method

    private var cause = History.Cause.call
    private var isDue = true
    private var pending = Pending.nothing
    /// Who holds the call up while it waits.
    private(set) var waitCause = RecoveryEvent.WaitCause.backoff
    /// The attempts that count: all but the free replay after a repair.
    private(set) var attempts = 0
    private var lockouts = 0
    /// What is remembered of our own delays, and how many attempts there were when they began.
    private var backoff = (progress: Backoff.Progress(), start: 0)
    /// The names of the repairs so far: each is performed once.
    private var repairs: [String] = []
    /// Whether the last repair was that of an answer, and not of what kept the request at home.
    private var wasRepairedAfterSending = false
    /// Whether an attempt was made again for nothing: that happens once.
    private var hasResentTransparently = false
    /// Why the last attempt must not be made again; nil if it may.
    private var obstacle: History.StopReason?
    /// What the call has come to so far; nil before the first failure.
    private var failure: Outcome? {
        get { lastFailure.optional }
        set { lastFailure = BoxedIfPresent(newValue) }
    }

    private var lastFailure = BoxedIfPresent<Outcome>()

    init(rules: RecoveryRules, method: HTTPRequest.Method) {
        self.rules = rules
        self.method = method
    }

    /// Takes note of an event.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - remaining: The time that is left; nil without a bound. Asked only if something is decided.
    ///   - random: A number in `0 ..< 1`, another one each time it is asked for.
    /// - Returns: What is to be done now.
    mutating func next(
        after event: Event,
        remaining: @autoclosure () -> Duration?,
        random: @autoclosure () -> Double
    ) -> Action {
        switch event {
        case .begun: return admitWhenDue()
        case .continued(let following, let repeating): return begin(following: following, repeating: repeating)
        case .admitted:
            guard !isDue else {
                attempts += 1
                return .attempt(cause)
            }
            return planned(remaining: remaining(), random: random)
        case .delayed(let delay, let outcome):
            let stated = wait(delay, because: outcome, remaining: remaining())
            return isDue ? stated : longer(stated, .nothing, remaining: remaining(), random: random)
        case .held(let outcome, let hasQueue):
            let (wasDue, plan) = (isDue, pending)
            let stated = decide(about: outcome, hasQueue: hasQueue, remaining: remaining(), random: random)
            if wasDue { return stated }
            let own = pending
            pending = plan
            return longer(stated, own, remaining: remaining(), random: random)
        case .lined(let outcome):
            return .stand(atMost: min(remaining() ?? .longest, rules.maxWait), because: outcome)
        case .overdue(let outcome):
            let isOver = remaining().map { $0 <= .zero } ?? false
            return .fail(outcome, isOver ? .deadlinePassed : .waitExceedsLimit, needed: nil)
        case .refused(let reason, let outcome):
            return .fail(outcome ?? failure ?? Outcome(.unknown, processed: .no), reason, needed: nil)
        case .queued(let count): return leave(behind: count, remaining: remaining(), random: random)
        case .waited: return admitWhenDue()
        case .succeeded: return .finish
        case .failed(let outcome, _, _, 0) where isTransparent(outcome):
            hasResentTransparently = true
            failure = outcome
            attempts -= 1
            cause = .repair(name: Self.transparentResend)
            return admitWhenDue()
        case .failed(let outcome, let obstacle, let hasQueue, let hedges):
            (failure, self.obstacle) = (outcome, obstacle)
            attempts = attempts.saturatingAdding(hedges)
            if outcome.kind == .accountLocked { lockouts += 1 }
            return decide(
                about: outcome,
                wasSent: true,
                obstacle: obstacle,
                hasQueue: hasQueue,
                remaining: remaining(),
                random: random
            )
        case .repaired(let name):
            if let obstacle { return .fail(failure ?? Outcome(.unknown, processed: .unknown), obstacle, needed: nil) }
            // The replay after a repair is free: it is bounded by one per call and repair.
            if wasRepairedAfterSending { attempts = max(0, attempts - 1) }
            cause = .repair(name: name)
            return admitWhenDue()
        case .repairFailed(let outcome, let reason): return .fail(outcome, reason, needed: nil)
        }
    }

    /// Whether an attempt that came to this is made again at once, and counts for nothing: the server has provably not
    /// processed it, for the first time.
    func isTransparent(_ outcome: Outcome) -> Bool {
        rules.resendsTransparently && !hasResentTransparently && outcome.transportError?.certainty == .notProcessed
    }

    /// A request that continues a call is paid for, and waits for as long as what it continues has stated.
    private mutating func begin(following: Outcome?, repeating: Outcome.Kind?) -> Action {
        if let repeating {
            cause = .retry(after: repeating)
            failure = Outcome(repeating, processed: .no, remedies: [.retry])
        }
        guard let following else { return admitWhenDue() }
        cause = .followUp
        failure = following
        guard let delay = following.retryAfter, delay > .zero else { return admitWhenDue() }
        var hold = Outcome(.unavailable, processed: .no, retryAfter: delay, remedies: [.wait])
        hold.status = following.status
        isDue = false
        pending = .decision(about: hold)
        return .admit(cause, isDue: false)
    }

    private mutating func admitWhenDue() -> Action {
        isDue = true
        pending = .nothing
        return .admit(cause, isDue: true)
    }

    /// Does what the rules say about a failure, or about what keeps the request at home.
    private mutating func decide(
        about outcome: Outcome,
        wasSent: Bool = false,
        obstacle: History.StopReason? = nil,
        hasQueue: Bool,
        remaining: Duration?,
        random: () -> Double
    ) -> Action {
        let situation = FailureContext(
            outcome: outcome,
            wasSent: wasSent,
            attempts: attempts,
            lockouts: lockouts,
            method: method,
            repairs: repairs,
            remaining: remaining
        )
        backoff.progress.step = max(0, attempts - 1 - backoff.start)
        switch rules.next(situation, obstacle: obstacle, progress: &backoff.progress, random: random) {
        case .giveUp(let reason, let needed): return .fail(outcome, reason, needed: needed)
        case .repair(let repair):
            repairs.append(repair.name)
            wasRepairedAfterSending = wasSent
            return .repair(repair, outcome)
        case .retry(let delay, let isRestarting):
            if isRestarting { backoff = (Backoff.Progress(), start: attempts) }
            // What was not sent is planned already, and paid for.
            guard wasSent else { return pause(delay, outcome.kind, hasQueue: hasQueue, cause: .gate, remaining: nil) }
            cause = .retry(after: outcome.kind)
            isDue = delay <= .zero
            pending = isDue ? .nothing : .wait(delay, outcome.kind, hasQueue: hasQueue)
            return .admit(cause, isDue: isDue, delay: delay)
        }
    }

    /// Does what was planned before the admissions were asked.
    private mutating func planned(remaining: Duration?, random: () -> Double) -> Action {
        switch pending {
        case .nothing: admitWhenDue()
        case .wait(let delay, let reason, let hasQueue):
            pause(delay, reason, hasQueue: hasQueue, cause: hasQueue ? .gate : .backoff, remaining: remaining)
        case .decision(let outcome): decide(about: outcome, hasQueue: false, remaining: remaining, random: random)
        }
    }

    /// Of what an admission has stated and what was planned before it was asked, that which takes longer; an end comes
    /// first.
    ///
    /// - Parameter own: What is pending if it is the stated.
    private mutating func longer(
        _ stated: Action,
        _ own: Pending,
        remaining: Duration?,
        random: () -> Double
    ) -> Action {
        guard let delay = Self.duration(of: stated, own) else { return stated }
        let cause = waitCause
        let plan = planned(remaining: remaining, random: random)
        guard let length = Self.duration(of: plan, pending) else { return plan }
        if length > delay { return plan }
        (pending, waitCause) = (own, cause)
        return stated
    }

    /// How long an action waits; nil for one that does something else.
    private static func duration(of action: Action, _ pending: Pending) -> Duration? {
        switch (action, pending) {
        case (.wait(let delay, _), _), (.queue, .wait(let delay, _, _)): delay
        case (.admit, _): .zero
        default: nil
        }
    }

    /// - Parameter remaining: The time that is left, if some has passed since the wait was decided; nil without a bound.
    private mutating func pause(
        _ delay: Duration,
        _ reason: Outcome.Kind,
        hasQueue: Bool,
        cause: RecoveryEvent.WaitCause,
        remaining: Duration?
    ) -> Action {
        guard delay > .zero else { return admitWhenDue() }
        if let remaining, delay >= remaining {
            let stop: History.StopReason = remaining <= .zero ? .deadlinePassed : .deadlineWouldPass
            return .fail(failure ?? Outcome(reason), stop, needed: delay)
        }
        (pending, waitCause) = (.wait(delay, reason, hasQueue: false), cause)
        return hasQueue ? .queue : .wait(delay, reason)
    }

    /// Leaves the queue a little after those in front.
    private func leave(behind count: Int, remaining: Duration?, random: () -> Double) -> Action {
        guard case .wait(let delay, let reason, _) = pending else { return .wait(.zero, .unavailable) }
        let spread = RecoveryRules.spread(wait: delay, queued: count, random: random(), remaining: remaining)
        return .wait(delay.saturatingAdding(spread), reason)
    }

    /// Waits for what an admission has stated, within the bounds of the call.
    private mutating func wait(_ delay: Duration, because outcome: Outcome, remaining: Duration?) -> Action {
        var outcome = outcome
        outcome.status = outcome.status ?? failure?.status
        // The caller's deadline is the stricter word if both bounds are passed.
        if let remaining, delay >= remaining { return .fail(outcome, .deadlineWouldPass, needed: delay) }
        if delay > rules.maxWait { return .fail(outcome, .waitExceedsLimit, needed: delay) }
        waitCause = .pace
        return .wait(delay, outcome.kind)
    }
}
