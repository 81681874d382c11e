public import HTTPRecovery

/// What a sign-in wants next.
@nonexhaustive public enum SignInStep<Session: Sendable>: Sendable {
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

    /// The factor that ``begin()`` presents an answer to, such as a password that was given beforehand; nil where it
    /// presents none, or not any more, because the answer was refused.
    ///
    /// A refusal of ``begin()`` is treated like that of an answer to this factor.
    var openingFactor: Factor? { get }

    /// The ways in which the person can unlock a locked account by themselves; ``choose(_:)`` takes the one they want.
    ///
    /// The flow asks for them where a refusal says so, and only goes on where the responder chooses one. Default: none.
    var unlockFactors: [Factor] { get }

    /// Begins the sign-in, or begins it again after its flow has died.
    mutating func begin() async throws -> SignInStep<Session>

    /// Reads at the server where the sign-in stands, and says what it wants; begins it again where it is gone.
    mutating func resync() async throws -> SignInStep<Session>

    /// Goes on with a factor that was chosen; the server may send a code now.
    mutating func choose(_ factor: Factor) async throws -> SignInStep<Session>

    /// Submits an answer. An answer is a thing to spend: it is sent once.
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<Session>

    /// Has the code of a factor sent again.
    ///
    /// - Parameters:
    ///   - factor: The factor.
    ///   - limit: The longest that is waited for a limit on new codes; nil for no bound but the client's own.
    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<Session>

    /// Says what can be used instead of a factor, mostly by ``SignInStep/choose(_:)``; without a factor where there is
    /// nothing else.
    ///
    /// - Parameters:
    ///   - factor: The factor that is not wanted any more.
    ///   - refusal: What the server said about it; nil where it is the person who wants another.
    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<Session>
}

extension SignInMachine {
    /// By default there is no way to unlock an account.
    public var unlockFactors: [Factor] { [] }

    /// By default the flow begins again.
    public mutating func resync() async throws -> SignInStep<Session> {
        try await begin()
    }
}
