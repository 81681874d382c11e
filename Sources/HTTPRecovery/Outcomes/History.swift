/// What a call has done: each attempt, wait and repair, in order.
public struct History: Sendable, Hashable {
    /// One thing that the call has done.
    @nonexhaustive public enum Step: Sendable, Hashable {
        /// An attempt ended.
        case attempt(Attempt)
        /// A wait ended, or was cut short.
        case wait(Wait)
        /// A repair ended, such as the renewal of a credential.
        case repair(name: String, succeeded: Bool)
    }

    /// One attempt.
    public struct Attempt: Sendable, Hashable {
        /// The ordinal, counted from 1.
        public var number: Int
        /// Why it was made.
        public var cause: History.Cause
        /// What it came to.
        public var kind: Outcome.Kind
        /// The HTTP status, if a response came.
        public var status: Int?
        /// The provider's code, if there was one.
        public var code: String?
        /// Whether the server has processed the request.
        public var processed: Outcome.Processed
        /// The time from sending to judging.
        public var elapsed: Duration
    }

    /// One wait.
    public struct Wait: Sendable, Hashable {
        /// Why.
        public var reason: Outcome.Kind
        /// How long it lasted.
        public var duration: Duration
    }

    /// The steps in order; of more than 2048 the latest.
    public private(set) var steps: [Step] = []

    /// Why the call was given up after them; nil if it was not.
    public private(set) var end: History.StopReason?

    /// Creates an empty history.
    public init() {}

    /// The most steps that are kept: a watch may last for weeks.
    static let limit = 2048

    mutating func append(contentsOf new: [Step]) {
        end = nil
        for case .wait(let wait) in new { waited = waited.saturatingAdding(wait.duration) }
        // Most calls have one step alone, for which no array has to grow.
        if steps.isEmpty { return steps = new }
        steps += new
        if steps.count > Self.limit { steps.removeFirst(steps.count - Self.limit / 2) }
    }

    /// Takes note of why the call is given up.
    mutating func giveUp(_ reason: History.StopReason) {
        end = reason
    }

    /// The attempts in order.
    public var attempts: [Attempt] {
        steps.compactMap { if case .attempt(let attempt) = $0 { attempt } else { nil } }
    }

    /// The waits in order.
    public var waits: [Wait] {
        steps.compactMap { if case .wait(let wait) = $0 { wait } else { nil } }
    }

    /// The time spent waiting.
    public private(set) var waited = Duration.zero
}
