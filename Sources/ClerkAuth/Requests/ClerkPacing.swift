public import HTTPRecovery
import HTTPTypes

/// Keeps the requests of a process within the rates that Clerk publishes for an address (its guide "System limits"): 5
/// sign-ins and 5 sign-ups begun in 10 s, and 3 attempts at each.
///
/// Requests beyond a rate wait for their place, visibly as `rate_limited`, or fail at once if their deadline or the
/// engine's longest wait comes first. Other processes at the same address are not counted; if they use the limit up,
/// the server says so, and its word holds. Share one value among all `Clerk` values that leave by one address.
public final class ClerkPacing: Admission {
    /// So many requests within a time.
    public struct Rate: Sendable, Hashable {
        /// The requests, at least 1.
        public let count: Int
        /// The time, at least 1 ms.
        public let window: Duration

        /// Creates a rate.
        public init(_ count: Int, per window: Duration) {
            self.count = max(count, 1)
            self.window = max(window, .milliseconds(1))
        }
    }

    private let rates: [String: Rate]
    /// The times that are taken, by line, in order; no more than the rate's count are of interest, and those to come.
    private let taken = Locked<[String: [TimeSource.Instant]]>([:])

    /// Creates a pacing.
    ///
    /// - Parameters:
    ///   - begun: How many sign-ins, and how many sign-ups, are begun. Default: 5 in 10 s.
    ///   - attempted: How many factors of sign-ins, and verifications of sign-ups, are attempted. Default: 3 in 10 s.
    public init(
        begun: Rate = Rate(5, per: .seconds(10)),
        attempted: Rate = Rate(3, per: .seconds(10))
    ) {
        rates = [
            "create sign-in": begun, "create sign-up": begun, "attempt sign-in": attempted,
            "attempt sign-up": attempted,
        ]
    }

    /// A place in the line of a request's class.
    private struct Place {
        var line: String
        var time: TimeSource.Instant
    }

    /// Lets a request go when its place has come; one that Clerk does not count goes out at once.
    public func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
        guard attempt.isDue else { return .go() }
        let name = ClerkEndpoint(method: attempt.request.method, path: attempt.request.pathWithoutQuery).className
        guard let rate = rates[name] else { return .go() }
        let place = Place(line: "\(attempt.origin) \(name)", time: context.runtime.time.now)
        return takePlace(place, rate, within: attempt.longestWait)
    }

    /// Gives a place back that was not used; those behind it stay where they are.
    public func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? {
        guard case .notSent = end, let place = permit.value as? Place else { return nil }
        taken.withLock { taken in
            guard let index = taken[place.line]?.lastIndex(of: place.time) else { return }
            taken[place.line]?.remove(at: index)
        }
        return nil
    }

    /// Takes the next place in a line; one that is farther away than the limit is not taken.
    ///
    /// - Parameter wish: The line, and the present.
    private func takePlace(_ wish: Place, _ rate: Rate, within limit: Duration) -> PlannedAttempt.Answer {
        let now = wish.time
        var place = wish
        let isTaken = taken.withLock { taken in
            var times = (taken[place.line] ?? []).filter { $0.advanced(by: rate.window) > now }
            if times.count >= rate.count {
                place.time = max(now, times[times.count - rate.count].advanced(by: rate.window))
            }
            let isTaken = now.duration(to: place.time) <= limit
            if isTaken { times.append(place.time) }
            taken[place.line] = times
            return isTaken
        }
        let delay = now.duration(to: place.time)
        let outcome = Outcome(.rateLimited, processed: .no, retryAfter: delay, remedies: [.wait])
        return .wait(
            delay,
            because: outcome,
            permit: isTaken ? PlannedAttempt.Permit(place, kept: .throughItsWait) : nil
        )
    }
}
