public import HTTPRecovery
public import HTTPTypes

/// Keeps the requests of a process within the rates that Clerk publishes for an address (its guide "System limits"): 5
/// sign-ins and 5 sign-ups begun in 10 s, and 3 attempts at each.
///
/// Requests beyond a rate wait for their place, visibly as `rate_limited`, or fail at once where their deadline or the
/// engine's longest wait comes first. Other processes at the same address are not counted; where they use the limit up,
/// the server says so, and its word holds. Share one value among all `Clerk` values that leave by one address.
public final class ClerkPacing: RequestPacing {
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

    /// Takes the next place in the line of the request's class; one that Clerk does not count goes out at once.
    public func takePlace(for request: HTTPRequest, at now: TimeSource.Instant, within limit: Duration) -> PacingPlace {
        let name = ClerkEndpoint(method: request.method, path: request.pathWithoutQuery).className
        let line = "\(Origin(of: request)) \(name)"
        guard let rate = rates[name] else { return PacingPlace(line: line, time: now, delay: .zero) }
        return taken.withLock { taken in
            var times = (taken[line] ?? []).filter { $0.advanced(by: rate.window) > now }
            var time = now
            if times.count >= rate.count { time = max(now, times[times.count - rate.count].advanced(by: rate.window)) }
            let place = PacingPlace(line: line, time: time, delay: now.duration(to: time))
            if place.delay <= limit { times.append(time) }
            taken[line] = times
            return place
        }
    }

    /// Gives a place back; those behind it stay where they are.
    public func giveBack(_ place: PacingPlace) {
        taken.withLock { taken in
            guard let index = taken[place.line]?.lastIndex(of: place.time) else { return }
            taken[place.line]?.remove(at: index)
        }
    }
}
