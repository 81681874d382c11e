extension RequestOptions {
    /// Until when a request is good for anything, and what it comes to when it could not leave before.
    ///
    /// A one-time code, a ticket or a signed statement has an end: sent after it, the request is refused, or worse, taken
    /// for theft. Such a request is never sent late, whatever holds it up: a queue, a connection, a gate, the scheduler.
    public struct SendBy: Sendable, Hashable {
        /// The first moment at which the request must not leave any more.
        public var moment: Timestamp

        /// What the call comes to when the request could not leave in time; it holds no status, as nothing was sent.
        public var outcome: Outcome

        /// Creates a limit.
        ///
        /// - Parameters:
        ///   - moment: The first moment at which the request must not leave any more.
        ///   - outcome: What the call comes to then, so that a flow is told the same as by a server that refuses what has
        ///     expired. Default: `timed_out`, without a remedy.
        public init(_ moment: Timestamp, orElse outcome: Outcome = Outcome(.timedOut, processed: .no)) {
            self.moment = moment
            self.outcome = outcome
        }

        /// The earlier of two limits.
        static func earlier(_ first: RequestOptions.SendBy?, _ second: RequestOptions.SendBy?) -> RequestOptions.SendBy?
        {
            guard let first, let second else { return first ?? second }
            return second.moment < first.moment ? second : first
        }
    }
}
