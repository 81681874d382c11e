public import HTTPTypes

/// An attempt that an ``Admission`` is asked about.
public struct PlannedAttempt: Sendable {
    /// The request.
    public let request: HTTPRequest
    /// Where it goes; found out anew each time, as most attempts are nothing to anybody.
    public var origin: Origin { Origin(of: request) }
    /// Why it is made.
    public let cause: History.Cause
    /// Whether it goes out as soon as it may; false while a wait is still to come.
    public let isDue: Bool
    /// The longest that the call can wait now, by its deadline and the engine's longest wait.
    public let longestWait: Duration

    /// Creates an attempt; for tests of an admission by itself.
    public init(
        _ request: HTTPRequest,
        cause: History.Cause = .call,
        isDue: Bool = true,
        longestWait: Duration = .seconds(120)
    ) {
        self.request = request
        self.cause = cause
        self.isDue = isDue
        self.longestWait = longestWait
    }
}
