public import AuthRecovery

/// A sign-in has used up a recovery code, and its tokens could not be stored: the new code is here, and nowhere else.
///
/// The person is not signed in; their next sign-in needs this code.
public struct Auth0UnkeptRecoveryCode: Error, CustomStringConvertible {
    /// Show it to the person, who has to write it down: it is told this once.
    public let recoveryCode: Secret
    /// What the store has thrown.
    public let cause: any Error

    init(_ recoveryCode: Secret, cause: any Error) {
        self.recoveryCode = recoveryCode
        self.cause = cause
    }

    /// What the store has thrown, without the code.
    public var description: String { "\(cause)" }
}
