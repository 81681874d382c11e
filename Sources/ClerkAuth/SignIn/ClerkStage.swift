import AuthRecovery
import HTTPRecovery

/// A part of what a person has to do with at Clerk: signing in, signing up, finishing the tasks of a session, proving
/// oneself again, or a request of the app's own.
protocol ClerkStage: Sendable {
    /// The name under which it is remembered.
    static var name: String { get }

    /// All that it has to know to go on.
    var recalled: JSONValue { get }

    var api: ClerkAPI { get set }

    /// Where a proof against abuse goes; nil where only the client takes one.
    var placeOfProofs: AbuseQuestion.Place? { get }

    /// What somebody is signed up with of whom the server finds, once they have proved themselves, that they have no account;
    /// nil if they are not.
    var signUpRequest: ClerkSignUpRequest? { get }

    /// What ``begin()`` presents an answer to.
    var openingFactor: Factor? { get }

    /// Whether the server can be asked what has become of a step whose answer was lost.
    var canBeLookedUp: Bool { get }

    /// The session within which people prove themselves again for what the part is about; nil if they never do.
    ///
    /// - Throws: `RecoveryError` of the kind `reauthentication_required` if it is over.
    func sessionToVerify() async throws -> ClerkSession?

    /// The key of the task that it carries out; nil for what is none.
    var openTask: String? { get }

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
    var signUpRequest: ClerkSignUpRequest? { nil }

    var openingFactor: Factor? { nil }

    var openTask: String? { nil }

    func sessionToVerify() async throws -> ClerkSession? { nil }

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
    /// The session is fresh; what tasks it has is not looked at.
    case verified(ClerkSession)
    /// What the server has said to a request of the app's own.
    case answered(Result<RecoveredResponse, RecoveryError>)
    /// Who has proved themselves has an account, by this name if that is known: the proof is a sign-in's.
    case transferToSignIn(account: String?)
    /// Who has proved themselves has no account: the proof is a sign-up's.
    case transferToSignUp(ClerkSignUpRequest)
}

/// What a sign-in at Clerk comes to.
protocol ClerkEnd: Sendable {
    /// The end that a step is; nil if it is none of this sort.
    init?(_ step: ClerkStep)
}

extension ClerkSession: ClerkEnd {
    init?(_ step: ClerkStep) {
        switch step {
        case .finished(let session), .verified(let session): self = session
        default: return nil
        }
    }
}

extension Result: ClerkEnd where Success == RecoveredResponse, Failure == RecoveryError {
    init?(_ step: ClerkStep) {
        guard case .answered(let result) = step else { return nil }
        self = result
    }
}
