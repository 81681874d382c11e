/// What to do next in a call: policies first, then the limits that hold for all of them; a pure function.
///
/// All calls of an engine share them, mostly.
final class RecoveryRules: Sendable {
    /// What the engine does next.
    enum Step: Sendable {
        /// Wait at least this long, then send.
        ///
        /// - Parameter restarting: Whether the next own delay is the first one again.
        case retry(after: Duration, restarting: Bool = false)
        /// Repair something, then send.
        case repair(any FailureContext.Remediation)
        /// End the call.
        case giveUp(History.StopReason, needed: Duration?)
    }

    let policies: [any RecoveryPolicy]
    let maxAttempts: Int
    let maxWait: Duration
    let longestWait: PackedDuration

    /// Whether the first attempt that was provably not processed is made again for nothing.
    let resendsTransparently: Bool

    init(
        policies: [any RecoveryPolicy],
        maxAttempts: Int,
        maxWait: Duration,
        resendsTransparently: Bool = false
    ) {
        self.resendsTransparently = resendsTransparently
        self.policies = policies
        self.maxAttempts = maxAttempts
        self.maxWait = maxWait
        self.longestWait = PackedDuration(maxWait)
    }

    /// The rules for a call that has policies and a bound of its own.
    func with(policies own: [any RecoveryPolicy], longestWait: Duration?) -> RecoveryRules {
        if own.isEmpty, longestWait == nil { return self }
        let bound = min(maxWait, max(.zero, longestWait ?? maxWait))
        return RecoveryRules(
            policies: own + policies,
            maxAttempts: maxAttempts,
            maxWait: bound,
            resendsTransparently: resendsTransparently
        )
    }

    /// Decides about a failure.
    ///
    /// - Parameters:
    ///   - situation: What is known.
    ///   - obstacle: Why the request must not be sent again, by `ResendRule`; nil when it may.
    ///   - progress: What is remembered of the call's own delays.
    ///   - random: A number in `0 ..< 1`; asked for once if an own delay is computed, and else not.
    func next(
        _ situation: FailureContext,
        obstacle: History.StopReason?,
        progress: inout Backoff.Progress,
        random: () -> Double
    ) -> Step {
        let stated = situation.outcome.statedWait
        for policy in policies {
            switch policy.decide(situation) {
            case .pass: continue
            case .giveUp(let reason): return .giveUp(reason, needed: stated)
            case .repair(let repair): return check(repair, situation, obstacle)
            case .retry(let delay):
                let delay = max(delay, .zero)
                return stop(situation, obstacle, needed: delay) ?? check(delay: delay, situation)
            case .backOff(let backoff):
                if let stop = stop(situation, obstacle, needed: stated) { return stop }
                let delay = delay(after: situation.outcome, by: backoff, &progress, random)
                let isExact = situation.outcome.retryAfter != nil && situation.outcome.delayForm == .exactly
                return check(delay: delay, situation, restarting: isExact)
            }
        }
        return .giveUp(situation.outcome.kind == .accountLocked ? .accountLocked : .notRecoverable, needed: stated)
    }

    /// What the server states, or else the backoff's next delay; "at once" from a server that has just refused is taken
    /// for "soon".
    private func delay(
        after outcome: Outcome,
        by backoff: Backoff,
        _ progress: inout Backoff.Progress,
        _ random: () -> Double
    ) -> Duration {
        var own: Duration { backoff.delay(&progress, isThrottled: outcome.isThrottle, random: random()) }
        guard let stated = outcome.retryAfter else { return own }
        switch outcome.delayForm {
        case .exactly: return stated
        case .advised:
            guard let slack = backoff.adviceSlack else { break }
            let least = own
            return min(max(stated, least), least.saturatingAdding(slack))
        case .atLeast, .never: break
        }
        return stated > .zero ? stated : own
    }

    private func check(
        _ repair: any FailureContext.Remediation,
        _ situation: FailureContext,
        _ obstacle: History.StopReason?
    ) -> Step {
        if situation.repairs.contains(repair.name) { return .giveUp(.alreadyRepaired, needed: nil) }
        if let obstacle, repair.needsReplay { return .giveUp(obstacle, needed: nil) }
        if let remaining = situation.remaining, remaining <= .zero { return .giveUp(.deadlinePassed, needed: nil) }
        return .repair(repair)
    }

    /// Why the call ends whatever could be waited for; nil if it may go on.
    private func stop(_ situation: FailureContext, _ obstacle: History.StopReason?, needed: Duration?) -> Step? {
        if let remaining = situation.remaining, remaining <= .zero { return .giveUp(.deadlinePassed, needed: needed) }
        guard situation.wasSent else { return nil }
        if let obstacle { return .giveUp(obstacle, needed: situation.outcome.statedWait) }
        guard situation.attempts >= maxAttempts else { return nil }
        return .giveUp(.attemptsExhausted, needed: situation.outcome.statedWait)
    }

    private func check(delay: Duration, _ situation: FailureContext, restarting: Bool = false) -> Step {
        // The caller's deadline is the stricter word if both bounds are passed.
        if let remaining = situation.remaining, delay >= remaining {
            return .giveUp(.deadlineWouldPass, needed: delay)
        }
        if delay > maxWait { return .giveUp(.waitExceedsLimit, needed: delay) }
        return .retry(after: delay, restarting: restarting)
    }

    /// How much later than the gate opens a waiting caller leaves.
    ///
    /// It only ever adds. The callers draw from a tenth of the wait (at most a second), and each leaves 5 ms after the
    /// one in front, for at most 5 s, so that a crowd does not arrive as one; it gives way to the caller's deadline.
    static func spread(wait: Duration, queued: Int, random: Double, remaining: Duration?) -> Duration {
        let window = min(wait.scaled(by: 0.1), .seconds(1))
        let slot = Duration.milliseconds(5 * min(max(queued, 0), 1000))
        let spread = window.scaled(by: random).saturatingAdding(slot)
        guard let remaining else { return spread }
        return min(spread, max(.zero, remaining.saturatingSubtracting(wait).scaled(by: 0.5)))
    }
}
