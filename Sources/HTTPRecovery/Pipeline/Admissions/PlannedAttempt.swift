public import HTTPTypes

/// An attempt that an ``Admission`` is asked about.
public struct PlannedAttempt: Sendable {
    /// The request.
    public let request: HTTPRequest
    /// Where it goes.
    public let origin: Origin
    /// Why it is made.
    public let cause: AttemptCause
    /// Whether it goes out as soon as it may; false while a wait is still to come.
    public let isDue: Bool
    /// The longest that the call can wait now, by its deadline and the engine's longest wait.
    public let longestWait: Duration

    /// Creates an attempt; for tests of an admission by itself.
    public init(
        _ request: HTTPRequest,
        cause: AttemptCause = .call,
        isDue: Bool = true,
        longestWait: Duration = .seconds(120)
    ) {
        self.init(request, origin: Origin(of: request), cause: cause, isDue: isDue, longestWait: longestWait)
    }

    init(_ request: HTTPRequest, origin: Origin, cause: AttemptCause, isDue: Bool, longestWait: Duration) {
        self.request = request
        self.origin = origin
        self.cause = cause
        self.isDue = isDue
        self.longestWait = longestWait
    }
}
