/// Decides what to do about a failure.
///
/// A policy is a pure value: the same situation gives the same decision. It does not sleep, send, lock, log or read a
/// clock; the engine does what it decides, within the limits that hold for every policy.
public protocol RecoveryPolicy: Sendable {
    /// Decides what to do; ``FailureContext/Decision/pass`` leaves it to the next policy.
    func decide(_ situation: FailureContext) -> FailureContext.Decision
}

extension FailureContext {
    /// What a policy wants done.
    @nonexhaustive public enum Decision: Sendable {
        /// Nothing: another policy may know.
        case pass
        /// Send the request (again) after the delay.
        ///
        /// - Parameter after: The least time to wait; spreading and closed gates only add to it.
        case retry(after: Duration)
        /// Send the request (again) after the time that the server states, or else after the backoff's next delay.
        case backOff(Backoff)
        /// Repair something, then replay the request once without charge.
        case repair(any FailureContext.Remediation)
        /// Give up, for this reason.
        case giveUp(History.StopReason)
    }
}
