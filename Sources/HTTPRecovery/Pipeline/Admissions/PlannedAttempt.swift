public import HTTPTypes

/// An attempt that an ``Admission`` is asked about.
public struct PlannedAttempt: Sendable {
    /// The request.
    public let request: HTTPRequest
    /// Where it goes; found out anew each time, as most attempts are nothing to anybody.
    public var origin: Origin { Origin(of: request) }
    /// What its request says of that.
    let scheme, authority: String?
    /// Why it is made.
    public let cause: History.Cause
    /// What the attempt before came to, for one that repeats it.
    public var failure: Outcome? { lastFailure.optional }
    private let lastFailure: BoxedIfPresent<Outcome>
    /// Whether it goes out as soon as it may; false while a wait is still to come.
    public let isDue: Bool
    /// How long the call is going to wait before it, as far as it knows now; zero for one that is due.
    public let delay: Duration
    /// The longest that the call can wait now, by its deadline and the engine's longest wait.
    public let longestWait: Duration

    /// Those of the attempt once it has ended, if they came with its answer; else the record has them, behind its lock.
    var times: AttemptTimes?

    /// When the attempt ended, and how long it took.
    func times(in context: CallContext) -> AttemptTimes { times ?? context.record.lastAttempt }

    /// Creates an attempt; for tests of an admission by itself.
    public init(
        _ request: HTTPRequest,
        cause: History.Cause = .call,
        after failure: Outcome? = nil,
        isDue: Bool = true,
        delay: Duration = .zero,
        longestWait: Duration = .seconds(120)
    ) {
        self.request = request
        (scheme, authority) = (request.scheme, request.authority)
        self.cause = cause
        self.lastFailure = BoxedIfPresent(failure)
        self.isDue = isDue
        self.delay = delay
        self.longestWait = longestWait
    }
}
