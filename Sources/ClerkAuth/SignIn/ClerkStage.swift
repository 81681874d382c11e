import AuthRecovery
import HTTPRecovery

/// A part of a sign-in at Clerk: signing in, signing up, or finishing the tasks of a session.
protocol ClerkStage: Sendable {
    /// The name under which it is remembered.
    static var name: String { get }

    /// All that it has to know to go on.
    var recalled: JSONValue { get }

    var api: ClerkAPI { get set }

    /// Where a proof against abuse goes; nil where only the client takes one.
    var placeOfProofs: AbuseQuestion.Place? { get }

    /// What ``begin()`` presents an answer to.
    var openingFactor: Factor? { get }

    /// Whether the server can be asked what has become of a step whose answer was lost.
    var canBeLookedUp: Bool { get }

    mutating func enter(_ context: SignInContext)
    mutating func begin() async throws -> ClerkStep
    /// Reads where it stands.
    ///
    /// - Parameter doubt: The error of a step of which nobody knows what has become; what it has spent is not spent again.
    mutating func resync(after doubt: RecoveryError?) async throws -> ClerkStep
    mutating func choose(_ factor: Factor) async throws -> ClerkStep
    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> ClerkStep
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep
    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> ClerkStep
    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> ClerkStep
    /// Goes on with what the server says to a proof against abuse.
    mutating func follow(_ answer: ClerkAnswer) async throws -> ClerkStep
}

extension ClerkStage {
    /// By default nothing is answered elsewhere: where it stands is read.
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> ClerkStep {
        if let bound { throw bound }
        return try await resync(after: nil)
    }
}

/// What a part of a sign-in wants next.
enum ClerkStep: Sendable {
    case ask(Challenge)
    case choose([Factor])
    case pending(Challenge, SignInContext.Pause)
    /// A proof against abuse is wanted before the flow goes on; where nobody can be asked, the error stands.
    case prove(JSONValue, orElse: RecoveryError)
    /// The session exists; it may have tasks.
    case finished(ClerkSession)
    /// Who has proved themselves has an account, by this name if that is known: the proof is a sign-in's.
    case transferToSignIn(account: String?)
    /// Who has proved themselves has no account: the proof is a sign-up's.
    case transferToSignUp(ClerkSignUpRequest)

    init(_ step: SignInStep<ClerkSession>) {
        switch step {
        case .ask(let question): self = .ask(question)
        case .choose(let factors): self = .choose(factors)
        case .pending(let question, let pause): self = .pending(question, pause)
        case .finished(let session): self = .finished(session)
        }
    }
}
