extension Recovery {
    /// Finds the rate that a server takes, as the AWS SDKs' adaptive mode does: free until the first refusal for too many
    /// requests, then within a rate that falls with each of them and grows along a cubic between.
    ///
    /// One rate for each origin. An attempt that comes too early waits, visibly as `rate_limited`. It is for clients that have a
    /// resource to themselves: where many share one limit, one client's refusals slow its innocent calls down.
    public final class AdaptiveRate: Admission {
        private let rates: OriginTable<Locked<CubicRate>>

        /// Creates a rate that is not limited yet.
        public init() {
            rates = OriginTable { _ in Locked(CubicRate(at: 0)) }
        }

        /// How many attempts a second may leave for where the attempt goes; nil before the first refusal.
        public func rate(for attempt: PlannedAttempt) -> Double? {
            rates[attempt].withLock { $0.rate }
        }

        /// Lets an attempt go when the rate allows it.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue else { return .go() }
            let now = context.runtime.time.now.sinceStart.inSeconds
            let wait = Duration.saturating(seconds: rates[attempt].withLock { $0.take(at: now) })
            guard wait > .zero else { return .go(PlannedAttempt.Permit((), kept: .whileDue)) }
            let outcome = Outcome(.rateLimited, processed: .no, retryAfter: wait, remedies: [.wait])
            return .wait(wait, because: outcome)
        }

        /// Learns from an answer, and takes back what was not used.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            let now = context.runtime.time.now.sinceStart.inSeconds
            rates[attempt].withLock { rate in
                switch end {
                case .ended(let outcome, _): rate.learn(isThrottled: outcome.isThrottle, at: now)
                case .notSent: rate.giveBack()
                case .abandoned: break
                }
            }
            return nil
        }

        /// The rates of the origins that have refused.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            rates.knowledge { rate in rate.withLock { $0.knowledge(at: now.sinceStart.inSeconds) } }
        }

        /// Goes on with the rates that were found.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            rates.learn(knowledge) { rate, known in
                rate.withLock { $0.learn(known, from: moment.sinceStart.inSeconds) }
            }
        }
    }
}
