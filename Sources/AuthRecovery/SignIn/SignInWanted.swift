import HTTPRecovery

/// What a sign-in waits for between two steps.
enum SignInWanted: Sendable {
    /// That it is begun.
    case beginning
    /// The answer to a question; it may be asked from then on whether it was given elsewhere.
    case answer(Challenge, pollsAt: Timestamp?)
    /// A choice between factors, instead of another perhaps.
    case choice([Factor], SignInDetour?)
    /// A choice between ways to unlock the account; without one the refusal stands.
    case unlocking([Factor], RecoveryError)
    /// That somebody answers elsewhere.
    case poll(Poll)
    /// Nothing any more.
    case nothing

    /// What fits it, in words for whoever has written the program.
    var words: String {
        switch self {
        case .beginning: "to be begun"
        case .answer(let challenge, _): "an answer to \(challenge.key.rawValue)"
        case .choice: "a choice of a factor"
        case .unlocking: "a choice of a way to unlock the account"
        case .poll: "a poll"
        case .nothing: "nothing, for it is over"
        }
    }

    /// What is asked again after a pause.
    struct Poll: Sendable {
        /// What the person is shown.
        var challenge: Challenge
        /// Whether they have been shown it before the last pause.
        var isShown = false
        var pause: SignInContext.Pause
        /// When the pause is over.
        var opensAt: Timestamp
        /// What the polls belong to.
        var origin: SignInCallSource
    }
}

/// The way from one factor to another.
struct SignInDetour: Sendable {
    var question: Challenge
    /// The sorts of factors that may stand in; nil allows any.
    var keys: [Factor.Key]?
    /// Why another is needed; nil if the person wants one.
    var refusal: RecoveryError?
}

/// What a call of the machine was about, which decides what its refusal means.
struct SignInCallSource: Sendable {
    /// The question that it answered.
    var answered: Challenge?
    /// The question whose factor it tried.
    var tried: Challenge?
    /// The question whose message was sent again.
    var resent: Challenge?
    /// Whether the person has wished for that message.
    var isWish = false
    var detour: SignInDetour?
    /// The error that has left a step in doubt, if its fate was read.
    var doubt: RecoveryError?
    /// The question that this step answered.
    var doubted: Challenge?

    /// The question whose answer the call carries; an authenticator answers as soon as it is chosen.
    var submitted: Challenge? {
        answered ?? (tried?.key == .webauthn ? tried : nil)
    }
}
