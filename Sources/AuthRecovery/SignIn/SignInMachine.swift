/// What a sign-in wants next.
public enum SignInStep<Session: Sendable>: Sendable {
    /// An answer from the person.
    case ask(Challenge)
    /// A decision between several factors.
    case choose([Factor])
    /// Nothing: the session exists.
    case finished(Session)
}

/// One provider's sign-in: it talks to the server and says what it wants next.
///
/// The machine knows the provider's states and calls; whom to ask, how often, and what to fall back to is decided by
/// ``SignInFlow``, alike for all providers. Every function throws `RecoveryError` for what the server refused.
public protocol SignInMachine {
    /// What a finished sign-in gives.
    associatedtype Session: Sendable

    /// Begins the sign-in, or begins it again after its flow has died.
    mutating func begin() async throws -> SignInStep<Session>

    /// Goes on with a factor that was chosen; the server may send a code now.
    mutating func choose(_ factor: Factor) async throws -> SignInStep<Session>

    /// Submits an answer. An answer is a thing to spend: it is sent once.
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<Session>

    /// Has the code of a factor sent again.
    mutating func resend(_ factor: Factor) async throws -> SignInStep<Session>

    /// The factors that can be used instead of one that failed; empty where the server offers none.
    mutating func alternatives(to factor: Factor) async throws -> [Factor]
}
