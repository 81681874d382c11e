public import HTTPRecovery

extension Simulation {
    /// What has become of a simulation's calls.
    public struct Report: Sendable, Hashable {
        /// One attempt, as the server has seen it.
        public struct Attempt: Sendable, Hashable {
            /// When it was sent.
            public var time: Duration
            /// When it was answered; nil for one that was cut off.
            public var end: Duration?
            /// The status that it was answered with; nil without an answer.
            public var status: Int?
            /// What is known where no complete answer came; nil where one came, or the attempt was cut off.
            public var error: TransportError.Certainty?
            /// What the retry budget had left after it and after the charge for the retry that follows; nil without a budget.
            public var budgetLeft: Double?
            /// Where the circuit breaker stood after it; nil without one.
            public var breaker: Recovery.CircuitBreaker.State?
        }

        /// One wait.
        public struct Wait: Sendable, Hashable {
            /// When it began.
            public var time: Duration
            /// How long it was to last.
            public var duration: Duration
            /// What was waited for.
            public var reason: Outcome.Kind
        }

        /// How a call has ended.
        public enum End: String, Sendable, Hashable {
            /// With a response.
            case ok
            /// With an error.
            case failed
            /// By its caller.
            case cancelled
        }

        /// One call.
        public struct Call: Sendable, Hashable {
            /// Its attempts, in order.
            public var attempts: [Attempt] = []
            /// Its waits, in order.
            public var waits: [Wait] = []
            /// How it ended.
            public var end = End.failed
            /// What it came to; nil for one that was cancelled.
            public var kind: Outcome.Kind?
            /// Why it was given up; nil for one that was not.
            public var reason: History.StopReason?
            /// The status of its last answer; nil without one.
            public var status: Int?
            /// When it ended.
            public var time = Duration.zero
        }

        /// The calls, as the simulation has them.
        public var calls: [Call]
        /// What the retry budget of the last call's origin had left at the end; nil without a budget.
        public var budgetLeft: Double?
        /// Where its circuit breaker stood; nil without one.
        public var breaker: Recovery.CircuitBreaker.State?
        /// How many attempts a second the adaptive rate allowed; nil without one, and before the first throttle.
        public var rate: Double?
    }
}
