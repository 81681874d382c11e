extension Recovery {
    /// Keeps to limits that a provider publishes, so that they are not run into: so many attempts within any time of a
    /// length.
    ///
    /// Attempts beyond a limit wait for their place, visibly as `rate_limited`, or fail at once if their deadline or the
    /// engine's longest wait comes first. Other processes are not counted; if they use the limit up, the server says so, and
    /// its word holds. Providers' modules make values for their servers, such as `.clerk()`, `.okta()` and `.auth0()`.
    public final class PublishedLimits: Admission {
        /// So many attempts within a time.
        public struct Rate: Sendable, Hashable {
            /// The attempts, at least 1.
            public let count: Int
            /// The time, at least 1 ms.
            public let window: Duration
            /// Whether each credential has as many.
            public let isPerCredential: Bool

            /// Creates a rate.
            ///
            /// - Parameters:
            ///   - count: The attempts, at least 1.
            ///   - window: The time, at least 1 ms.
            ///   - isPerCredential: Whether each credential has as many. Default: all share them.
            public init(_ count: Int, per window: Duration, isPerCredential: Bool = false) {
                self.count = max(count, 1)
                self.window = max(window, .milliseconds(1))
                self.isPerCredential = isPerCredential
            }
        }

        /// A place in the line of a limit.
        private struct Place {
            var line: String
            var time: TimeSource.Instant
        }

        /// The line of a limit; a value without clock or lock.
        private struct Line {
            /// The times that are taken, in order; no more than the rate's count are of interest, and those to come.
            var times: [TimeSource.Instant]
            /// The times to come that were given back, in order.
            var free: [TimeSource.Instant] = []

            /// Takes the next place, if it comes within the time.
            mutating func take(_ rate: Rate, at now: TimeSource.Instant, within limit: Duration) -> (
                time: TimeSource.Instant, isTaken: Bool
            ) {
                times.removeAll { $0.advanced(by: rate.window) <= now }
                free.removeAll { $0 < now }
                let isFull = times.count >= rate.count
                // What was free once fits among those that were taken beside it, but not among others.
                if let first = free.first, isFull || first == now {
                    guard now.duration(to: first) <= limit else { return (first, false) }
                    free.removeFirst()
                    insert(first)
                    return (first, true)
                }
                let time = isFull ? max(now, times[times.count - rate.count].advanced(by: rate.window)) : now
                guard now.duration(to: time) <= limit else { return (time, false) }
                free = []
                insert(time)
                return (time, true)
            }

            mutating func giveBack(_ time: TimeSource.Instant) {
                guard let index = times.lastIndex(of: time) else { return }
                times.remove(at: index)
                free.insert(time, at: free.firstIndex { $0 > time } ?? free.endIndex)
            }

            private mutating func insert(_ time: TimeSource.Instant) {
                times.insert(time, at: times.firstIndex { $0 > time } ?? times.endIndex)
            }
        }

        private let limit: @Sendable (PlannedAttempt, RequestOptions) -> (name: String, rate: Rate)?
        private let lines = Locked<[String: Line]>([:])

        /// Creates limits; share them among all clients that the provider counts as one.
        ///
        /// - Parameter limit: What an attempt counts for at its origin, and how many of that name there may be; nil if it
        ///   counts for nothing. At most 1024 names are kept.
        public init(_ limit: @escaping @Sendable (PlannedAttempt, RequestOptions) -> (name: String, rate: Rate)?) {
            self.limit = limit
        }

        /// Lets an attempt go when its place has come; one that counts for nothing goes out at once.
        public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue, let (name, rate) = limit(attempt, context.options) else { return .go() }
            let credential = rate.isPerCredential ? await context.credential(of: attempt.request) : nil
            let now = context.runtime.time.now
            let line = "\(attempt.origin) \(name)" + (credential.map { " \($0.name)" } ?? "")
            var place = Place(line: line, time: now)
            let isTaken = lines.withLock { lines in
                // Bounded against endless names; the one whose last place is the oldest holds nobody any more.
                if lines[place.line] == nil, lines.count >= 1024,
                    let oldest = lines.min(by: {
                        $0.value.times.last ?? .init(sinceStart: .zero) < $1.value.times.last ?? now
                    })
                {
                    lines[oldest.key] = nil
                }
                let (time, isTaken) = lines[place.line, default: Line(times: [])].take(
                    rate,
                    at: now,
                    within: attempt.longestWait
                )
                place.time = time
                return isTaken
            }
            let delay = now.duration(to: place.time)
            let outcome = Outcome(.rateLimited, processed: .no, retryAfter: delay, remedies: [.wait])
            let permit = isTaken ? PlannedAttempt.Permit(place, kept: .throughItsWait) : nil
            return .wait(delay, because: outcome, permit: permit)
        }

        /// Gives a place back that was not used; those behind it stay where they are, and the next to come takes it.
        public func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            guard case .notSent = end, let place = permit.value as? Place else { return nil }
            lines.withLock { $0[place.line]?.giveBack(place.time) }
            return nil
        }

        /// How long ago places were taken, by line.
        public func knowledge(at now: TimeSource.Instant) -> JSONValue? {
            let members = lines.withLock { lines in
                lines.map { name, line in
                    JSONValue.Member(name, .array(line.times.map { .span(now.duration(to: $0)) }))
                }
            }
            return members.isEmpty ? nil : .object(members.sorted { $0.key < $1.key })
        }

        /// Goes on with the places that were taken.
        public func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
            guard let members = knowledge.members, members.count <= 1024 else { return false }
            return members.reduce(true) { isRead, member in
                guard let spans = member.value.array, spans.count <= 100_000 else { return false }
                let times = spans.compactMap(\.span).map { moment.advanced(by: min($0, TokenBucket.longestPromise)) }
                guard times.count == spans.count else { return false }
                lines.withLock { $0[member.key] = Line(times: times.sorted()) }
                return isRead
            }
        }
    }
}
