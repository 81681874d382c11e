public import HTTPTypes

/// All that a policy decides by, as plain values.
public struct FailureContext: Sendable {
    /// What the last attempt (or the closed gate before it) came to.
    public var outcome: Outcome

    /// Whether the outcome comes from the server; false when a closed gate kept the request at home.
    public var wasSent: Bool

    /// The attempts that were sent so far.
    public var attempts: Int

    /// How many of the answers have told of a lockout.
    public var lockouts: Int

    /// The request's method.
    public var method: HTTPRequest.Method

    /// The names of the repairs that the call has seen already.
    public var repairs: [String]

    /// The time left until the deadline; nil without one.
    public var remaining: Duration?

    /// Creates a situation.
    public init(
        outcome: Outcome,
        wasSent: Bool = true,
        attempts: Int = 1,
        lockouts: Int = 0,
        method: HTTPRequest.Method = .get,
        repairs: [String] = [],
        remaining: Duration? = nil
    ) {
        self.outcome = outcome
        self.wasSent = wasSent
        self.attempts = attempts
        self.lockouts = lockouts
        self.method = method
        self.repairs = repairs
        self.remaining = remaining
    }
}
