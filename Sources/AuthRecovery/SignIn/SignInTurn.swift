public import HTTPRecovery

/// What a step of a sign-in has led to.
public struct SignInTurn<Session: Sendable>: Sendable {
    /// What is wanted next.
    public var step: SignInStep<Session>
    /// What the person should know first, in order: why an answer was refused, why something is asked for.
    public var notices: [Outcome]
    /// What continues a suspended sign-in, for whoever holds it; nil if it is not suspended, or over.
    public var ticket: Secret?

    /// Creates a turn.
    public init(_ step: SignInStep<Session>, notices: [Outcome] = [], ticket: Secret? = nil) {
        self.step = step
        self.notices = notices
        self.ticket = ticket
    }
}
