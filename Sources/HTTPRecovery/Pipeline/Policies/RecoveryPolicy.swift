/// Decides what to do about a failure.
///
/// A policy is a pure value: the same situation gives the same decision. It does not sleep, send, lock, log or read a
/// clock; the engine does what it decides, within the limits that hold for every policy.
public protocol RecoveryPolicy: Sendable {
    /// Decides what to do; ``Decision/pass`` leaves it to the next policy.
    func decide(_ situation: Situation) -> Decision
}

/// What a policy wants done.
@nonexhaustive public enum Decision: Sendable {
    /// Nothing: another policy may know.
    case pass
    /// Send the request (again) after the delay.
    ///
    /// - Parameter after: The least time to wait; spreading and closed gates only add to it.
    case retry(after: Duration)
    /// Repair something, then replay the request once without charge.
    case repair(any Repair)
    /// Give up, for this reason.
    case giveUp(StopReason)
}

/// Collects policies, the first asked first.
@resultBuilder
public enum PolicyBuilder {
    /// A policy.
    public static func buildExpression(_ policy: some RecoveryPolicy) -> [any RecoveryPolicy] { [policy] }
    /// A list of policies.
    public static func buildExpression(_ policies: [any RecoveryPolicy]) -> [any RecoveryPolicy] { policies }
    /// Several lines.
    public static func buildBlock(_ parts: [any RecoveryPolicy]...) -> [any RecoveryPolicy] { parts.flatMap(\.self) }
    /// `if` without `else`.
    public static func buildOptional(_ part: [any RecoveryPolicy]?) -> [any RecoveryPolicy] { part ?? [] }
    /// The first branch of an `if`.
    public static func buildEither(first part: [any RecoveryPolicy]) -> [any RecoveryPolicy] { part }
    /// The second branch of an `if`.
    public static func buildEither(second part: [any RecoveryPolicy]) -> [any RecoveryPolicy] { part }
}
