/// Waits out rate limits: for the time the server states, else with a backoff of its own.
///
/// The time holds for the scope of the limit. While it lasts the engine sends nothing of that scope, from any call;
/// afterwards the waiting calls leave one after the other. Quotas of an hour and more are waited for
/// only if the engine's longest wait allows it.
public struct RateLimitBackoff: RecoveryPolicy {
    /// The delay if the server states none.
    public var backoff: Backoff

    /// Creates the policy.
    ///
    /// - Parameter backoff: The delay if the server states none. Default: exponential from 1 s to 20 s, full jitter
    ///   over at least half of it.
    public init(backoff: Backoff = .exponential(base: .seconds(1), cap: .seconds(20), jitter: .equal)) {
        self.backoff = backoff
    }

    /// Waits for rate limits and for stated outages.
    public func decide(_ situation: FailureContext) -> FailureContext.Decision {
        let outcome = situation.outcome
        // A server can also say that it does not want to be asked again; then waiting is no remedy.
        guard outcome.remedies.contains(.wait) else { return .pass }
        // If another factor helps sooner, the flow decides.
        if outcome.remedies.first == .switchFactor, outcome.retryAfter == nil { return .pass }
        switch outcome.kind {
        case .rateLimited: break
        // A lockout has its own policy.
        case .accountLocked: return .pass
        default: guard outcome.retryAfter != nil, !outcome.waitsForNothing else { return .pass }
        }
        return .backOff(backoff)
    }
}
