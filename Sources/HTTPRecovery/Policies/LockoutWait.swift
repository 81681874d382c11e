/// Waits until a locked account is unlocked, by the server's own count of the time that remains.
///
/// Without this policy, and for a lockout that is longer than allowed or has no end, the call fails at once with the
/// time left, and no further attempt for the account leaves the client until then. What has met a lockout is sent again
/// once: a second one may be of its own making.
public struct LockoutWait: RecoveryPolicy {
    /// The longest lockout to wait for.
    public var limit: Duration

    /// Creates the policy.
    ///
    /// - Parameter limit: The longest lockout to wait for. Default: 2 minutes.
    public init(atMost limit: Duration = .seconds(120)) {
        self.limit = limit
    }

    /// Waits for lockouts within the limit.
    public func decide(_ situation: FailureContext) -> FailureContext.Decision {
        guard situation.outcome.kind == .accountLocked else { return .pass }
        guard case .remaining(let time) = situation.outcome.lockout, !situation.wasSent || situation.lockouts < 2
        else { return .giveUp(.accountLocked) }
        // A lockout that should be over and is not: each attempt counts, so never at once.
        return time > limit ? .giveUp(.waitExceedsLimit) : .retry(after: max(time, .seconds(1)))
    }
}
