public import HTTPRecovery

/// How a sign-out has ended.
public enum SignOutResult: Sendable {
    /// The server has ended the session, or knew it as ended.
    case ended
    /// This machine has forgotten the session, but the server could not be reached; the provider tells it when it is
    /// reached again.
    case endedHere(RecoveryError)
}
