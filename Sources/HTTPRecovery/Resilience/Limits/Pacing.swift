extension Recovery {
    /// Lets no more attempts out than a rate that is known beforehand: a token bucket for each origin.
    ///
    /// An attempt that comes too early takes the next place and waits for it, visibly as `rate_limited`; it fails at once
    /// if its deadline or the engine's longest wait comes first. Places leave one after the other, in order.
    public final class Pacing: Admission {
        private struct Settings {
            var rate: Double
            var burst: Double
        }

        private let settings: Locked<Settings>
        private let buckets: OriginTable<Locked<TokenBucket?>>

        /// Creates a pacing.
        ///
        /// - Parameters:
        ///   - rate: How many attempts a second, above 0; fractions are rates below one a second.
        ///   - burst: How many may leave at once after a pause; at least 1, the default.
        public init(perSecond rate: Double, burst: Int = 1) {
            settings = Locked(Settings(rate: rate, burst: Double(max(burst, 1))))
            buckets = OriginTable { _ in Locked(nil) }
        }

        /// Why no attempt could leave by it.
        public var problem: String? { rate > 0 ? nil : "a rate is above 0" }

        /// How many attempts a second; a change keeps the places that are taken.
        public var rate: Double { settings.withLock { $0.rate } }

        /// Changes the rate from now on; who waits does so for as long as was said.
        public func change(perSecond rate: Double, burst: Int = 1, in runtime: Runtime) {
            let new = Settings(rate: rate, burst: Double(max(burst, 1)))
            settings.withLock { $0 = new }
            let now = runtime.time.now.sinceStart
            for bucket in buckets.all.values {
                bucket.withLock { $0?.change(rate: new.rate, capacity: new.burst, at: now) }
            }
        }

        /// Lets an attempt go when its place has come.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue else { return .go() }
            let now = context.runtime.time.now.sinceStart
            let settings = settings.withLock { $0 }
            let place = buckets[attempt].withLock { bucket in
                var own = bucket.take() ?? TokenBucket(rate: settings.rate, capacity: settings.burst, at: now)
                defer { bucket = own }
                return own.take(at: now, within: attempt.longestWait)
            }
            let outcome = Outcome(.rateLimited, processed: .no, retryAfter: place.wait, remedies: [.wait])
            let time = now.saturatingAdding(place.wait)
            let permit = place.isTaken ? PlannedAttempt.Permit(time, kept: .throughItsWait) : nil
            return .wait(place.wait, because: outcome, permit: permit)
        }

        /// Gives a place back that was not used; those behind it stay where they are.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            guard case .notSent = end, let place = permit.value as? Duration else { return nil }
            let now = context.runtime.time.now.sinceStart
            buckets[attempt].withLock { $0?.giveBack(place, at: now) }
            return nil
        }

        /// The places that are free at each origin.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            buckets.knowledge { bucket in bucket.withLock { $0?.balance(at: now.sinceStart) }.map { .finite($0) } }
        }

        /// Goes on with the places that were free.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            let settings = settings.withLock { $0 }
            return buckets.learn(knowledge) { bucket, known in
                guard let balance = known.moderate else { return false }
                bucket.withLock { bucket in
                    var own = TokenBucket(rate: settings.rate, capacity: settings.burst, at: moment.sinceStart)
                    own.set(balance)
                    bucket = own
                }
                return true
            }
        }
    }
}
