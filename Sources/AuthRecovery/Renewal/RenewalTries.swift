import HTTPRecovery

/// How often a renewal is tried, and when again.
struct RenewalTries: RecoveryOperation.Plan {
    /// What a try came to.
    enum Answer: Sendable {
        /// The end.
        case ended(RenewalEnd)
        /// A failure that may pass.
        case failed(RenewalEnd)
    }

    let reuse: RefreshTokenGrant.Reuse
    let end: TimeSource.Instant
    private var tries = 0
    private var failure: (end: RenewalEnd, kind: Outcome.Kind)?

    init(reuse: RefreshTokenGrant.Reuse, end: TimeSource.Instant) {
        self.reuse = reuse
        self.end = end
    }

    mutating func next(
        after event: RecoveryOperation.Event<Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Void, RenewalEnd> {
        switch event {
        case .begun: return .perform(())
        case .answered(.ended(let end)): return .finish(end)
        case .answered(.failed(let end)): return pause(after: end, at: now, random: random)
        case .paused: return .perform((), repeating: failure?.kind)
        case .notPaused(let error), .failed(let error): return failure.map { .finish($0.end) } ?? .fail(error)
        }
    }

    private mutating func pause(
        after end: RenewalEnd,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Void, RenewalEnd> {
        guard let outcome = end.outcome else { return .finish(end) }
        tries += 1
        failure = (end, outcome.kind)
        guard let delay = RenewalRules.delay(after: outcome, reuse: reuse, tries: tries, random: random()),
            now.advanced(by: delay) < self.end
        else { return .finish(end) }
        return .pause(delay, reason: outcome.kind)
    }
}
