public import HTTPRecovery

/// What a sign-in wants next.
@nonexhaustive public enum SignInStep<Session: Sendable>: Sendable {
    /// An answer from the person.
    case ask(Challenge)
    /// A decision between several factors.
    case choose([Factor])
    /// Nothing of the program: the person answers elsewhere, on another device. The server is asked after the pause.
    case pending(Challenge, SignInContext.Pause)
    /// Nothing: the session exists.
    case finished(Session)
}

extension SignInContext {
    /// How long a sign-in waits before it asks the server again.
    public struct Pause: Sendable, Hashable {
        /// How long.
        public var duration: Duration
        /// What is waited for; `challenge_pending` unless something has gone wrong.
        public var reason: Outcome.Kind

        /// Creates a pause.
        public init(_ duration: Duration, reason: Outcome.Kind = .challengePending) {
            self.duration = max(duration, .zero)
            self.reason = reason
        }
    }
}
