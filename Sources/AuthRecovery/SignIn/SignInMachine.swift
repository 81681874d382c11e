public import HTTPRecovery

/// One provider's sign-in: it talks to the server and says what it wants next.
///
/// The machine knows the provider's states and calls; whom to ask, how often, and what to fall back to is decided by
/// ``SignInFlow``, alike for all providers. Every function throws `RecoveryError` for what the server refused. A machine is
/// a value that can be written down between two steps, and taken up again at another machine.
public protocol SignInMachine<Session>: Sendable {
    /// What a finished sign-in gives.
    associatedtype Session: Sendable

    /// The factor that ``begin()`` presents an answer to, such as a password that was given beforehand; nil if it presents
    /// none, or not any more, because the answer was refused.
    ///
    /// A refusal of ``begin()`` is treated like that of an answer to this factor.
    var openingFactor: Factor? { get }

    /// The ways in which the person can unlock a locked account by themselves; ``choose(_:)`` takes the one they want.
    ///
    /// The flow offers them if a refusal says so, and only goes on if one is chosen. Default: none.
    var unlockFactors: [Factor] { get }

    /// Told, before each step, what its calls belong to and how the person is told something.
    mutating func enter(_ context: SignInContext)

    /// Begins the sign-in, or begins it again after its flow has died.
    mutating func begin() async throws -> SignInStep<Session>

    /// Reads at the server where the sign-in stands, and says what it wants; begins it again if it is gone.
    mutating func resync() async throws -> SignInStep<Session>

    /// Goes on with a factor that was chosen; the server may send a code now.
    mutating func choose(_ factor: Factor) async throws -> SignInStep<Session>

    /// Submits an answer. An answer is a thing to spend: it is sent once.
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<Session>

    /// Asks the server once whether what is answered elsewhere was answered, after a step of the sort
    /// ``SignInStep/pending(_:_:)``, or while a question is asked that may be answered elsewhere (``Challenge/poll``):
    /// if it was not, the same is asked for again, and what is pending there leads to another step.
    ///
    /// - Parameter bound: Why the pause before it was not made, if it was not: a bound of the caller's. Nothing is sent then;
    ///   the machine says what the sign-in comes to.
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Session>

    /// Has the code of a factor sent again.
    ///
    /// - Parameters:
    ///   - factor: The factor.
    ///   - limit: The longest that is waited for a limit on new codes; nil for no bound but the client's own.
    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<Session>

    /// Says what can be used instead of a factor, mostly by ``SignInStep/choose(_:)``; without a factor if there is nothing
    /// else.
    ///
    /// - Parameters:
    ///   - factor: The factor that is not wanted any more.
    ///   - refusal: What the server said about it; nil if it is the person who wants another.
    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<Session>

    /// Whether a refusal is about the name of the account, so that no other answer to the same question can help.
    ///
    /// Default: whether it concerns the parameter `identifier`.
    func isAboutName(_ refusal: Outcome) -> Bool

    /// What is left to be done before the session that there is can be used, in the provider's word; nil if that is nothing.
    ///
    /// An error that ends the sign-in says so (`Outcome.openTask`), and a question that nobody answers
    /// (``Challenge/NoAnswer/task``). Default: nil.
    var openTask: String? { get }

    /// Ends at the server what has begun there, if it knows such an end. Default: nothing is done.
    mutating func abandon() async throws

    /// All that the machine has to know to go on, secrets included; the flow seals it with the rest.
    var memory: JSONValue { get }
}

extension SignInMachine {
    /// By default nothing is left to be done.
    public var openTask: String? { nil }

    /// By default what a refusal concerns tells whether it is about the name.
    public func isAboutName(_ refusal: Outcome) -> Bool { refusal.parameter == Factor.identifier.providerName }

    /// By default there is no way to unlock an account.
    public var unlockFactors: [Factor] { [] }

    /// By default the flow begins again.
    public mutating func resync() async throws -> SignInStep<Session> {
        try await begin()
    }

    /// By default nothing is answered elsewhere: where the sign-in stands is read.
    public mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<Session> {
        if let bound { throw bound }
        return try await resync()
    }

    /// By default there is nothing to end.
    public mutating func abandon() async throws {}
}
