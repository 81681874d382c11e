/// What to do next in a call: policies first, then the limits that hold for all of them; a pure function.
///
/// All calls of an engine share them, mostly.
final class RecoveryRules: Sendable {
    /// What the engine does next.
    enum Step: Sendable {
        /// Wait at least this long, then send.
        case retry(after: Duration)
        /// FailureContext.Remediation, then send.
        case repair(any FailureContext.Remediation)
        /// End the call.
        case giveUp(History.StopReason, needed: Duration?)
    }

    let policies: [any RecoveryPolicy]
    let maxAttempts: Int
    let maxWait: Duration
    let longestWait: PackedDuration

    init(policies: [any RecoveryPolicy], maxAttempts: Int, maxWait: Duration) {
        self.policies = policies
        self.maxAttempts = maxAttempts
        self.maxWait = maxWait
        self.longestWait = PackedDuration(maxWait)
    }

    /// The rules for a call that has policies and a bound of its own.
    func with(policies own: [any RecoveryPolicy], longestWait: Duration?) -> RecoveryRules {
        if own.isEmpty, longestWait == nil { return self }
        let bound = min(maxWait, max(.zero, longestWait ?? maxWait))
        return RecoveryRules(policies: own + policies, maxAttempts: maxAttempts, maxWait: bound)
    }

    /// Decides about a failure.
    ///
    /// - Parameters:
    ///   - situation: What is known.
    ///   - obstacle: Why the request must not be sent again, by `ResendRule`; nil when it may.
    func next(_ situation: FailureContext, obstacle: History.StopReason?) -> Step {
        let stated = situation.outcome.statedWait
        for policy in policies {
            switch policy.decide(situation) {
            case .pass: continue
            case .giveUp(let reason): return .giveUp(reason, needed: stated)
            case .repair(let repair): return check(repair, situation, obstacle)
            case .retry(let delay): return check(delay: max(delay, .zero), situation, obstacle: obstacle)
            }
        }
        return .giveUp(situation.outcome.kind == .accountLocked ? .accountLocked : .notRecoverable, needed: stated)
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

    private func check(delay: Duration, _ situation: FailureContext, obstacle: History.StopReason?) -> Step {
        if situation.wasSent {
            if let obstacle { return .giveUp(obstacle, needed: situation.outcome.statedWait) }
            if situation.attempts >= maxAttempts {
                return .giveUp(.attemptsExhausted, needed: situation.outcome.statedWait)
            }
        }
        // The caller's deadline is the stricter word where both bounds are passed.
        if let remaining = situation.remaining, delay >= remaining {
            return .giveUp(remaining <= .zero ? .deadlinePassed : .deadlineWouldPass, needed: delay)
        }
        if delay > maxWait { return .giveUp(.waitExceedsLimit, needed: delay) }
        return .retry(after: delay)
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
