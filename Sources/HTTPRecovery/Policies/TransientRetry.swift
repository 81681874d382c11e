/// Repeats what failed for a passing reason (a lost connection, a 5xx, an attempt that took too long), if repeating
/// is safe.
public struct TransientRetry: RecoveryPolicy {
    /// The delay before each resend.
    public var backoff: Backoff

    /// Creates the policy.
    ///
    /// - Parameter backoff: The delay before each resend. Default: exponential from 100 ms to 20 s, full jitter.
    public init(backoff: Backoff = .exponential()) {
        self.backoff = backoff
    }

    /// Repeats whatever the classifier calls worth repeating.
    public func decide(_ situation: FailureContext) -> FailureContext.Decision {
        let outcome = situation.outcome
        return outcome.remedies.contains(.retry) || outcome.waitsForNothing ? .backOff(backoff) : .pass
    }
}
