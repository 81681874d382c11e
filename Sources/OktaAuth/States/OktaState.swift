public import HTTPRecovery

/// Where a transaction stands, with the steps that its links allow.
///
/// What comes next is what the server says and nothing else: an app reads the state, and takes one of its steps.
@nonexhaustive public enum OktaState: Sendable {
    /// Name and password are wanted.
    case unauthenticated(OktaUnauthenticated)
    /// The password expires soon.
    case passwordWarning(OktaPasswordWarning)
    /// The password has expired and has to be changed.
    case passwordExpired(OktaPasswordExpired)
    /// A new password is wanted, without the old one.
    case passwordReset(OktaPasswordResetting)
    /// The answer to the recovery question is wanted.
    case recovery(OktaRecovery)
    /// A recovery code is under way, or a mail that the person has to follow.
    case recoveryChallenge(OktaRecoveryChallenge)
    /// The account is locked.
    case lockedOut(OktaLockedOut)
    /// A factor has to be enrolled.
    case enrolling(OktaEnrolling)
    /// The factor that was enrolled has to be activated.
    case activating(OktaActivating)
    /// One of the person's factors is wanted.
    case factorRequired(OktaFactorRequired)
    /// A factor is being verified.
    case factorChallenge(OktaFactorChallenge)
    /// Done.
    case success(OktaSucceeded)
    /// A state that this version does not know.
    case unknown(OktaUnknownState)

    init(_ transaction: OktaTransaction, api: OktaAPI) {
        var api = api
        api.transactionEndsAt = transaction.endsAt
        let stage = OktaStage(transaction: transaction, api: api)
        switch transaction.status {
        case .unauthenticated: self = .unauthenticated(OktaUnauthenticated(stage: stage))
        case .passwordWarning: self = .passwordWarning(OktaPasswordWarning(stage: stage))
        case .passwordExpired: self = .passwordExpired(OktaPasswordExpired(stage: stage))
        case .passwordReset: self = .passwordReset(OktaPasswordResetting(stage: stage))
        case .recovery: self = .recovery(OktaRecovery(stage: stage))
        case .recoveryChallenge: self = .recoveryChallenge(OktaRecoveryChallenge(stage: stage))
        case .lockedOut: self = .lockedOut(OktaLockedOut(stage: stage))
        case .mfaEnroll: self = .enrolling(OktaEnrolling(stage: stage))
        case .mfaEnrollActivate: self = .activating(OktaActivating(stage: stage))
        case .mfaRequired: self = .factorRequired(OktaFactorRequired(stage: stage))
        case .mfaChallenge: self = .factorChallenge(OktaFactorChallenge(stage: stage))
        case .success: self = .success(OktaSucceeded(stage: stage))
        default: self = .unknown(OktaUnknownState(stage: stage))
        }
    }

    /// Reads the state that a refusal has left behind: a lockout, a push that was rejected.
    ///
    /// - Parameters:
    ///   - error: The error of a step.
    ///   - okta: The client that took it.
    /// - Returns: Nil if the server has answered with no state.
    public init?(after error: RecoveryError, continuing okta: Okta) {
        guard let transaction = okta.api.transaction(leftBy: error) else { return nil }
        self.init(transaction, api: okta.api)
    }

    /// The transaction as the server told it.
    public var transaction: OktaTransaction { state.transaction }

    /// The state without its sort.
    public var state: any OktaTransactionState {
        switch self {
        case .unauthenticated(let state): state
        case .passwordWarning(let state): state
        case .passwordExpired(let state): state
        case .passwordReset(let state): state
        case .recovery(let state): state
        case .recoveryChallenge(let state): state
        case .lockedOut(let state): state
        case .enrolling(let state): state
        case .activating(let state): state
        case .factorRequired(let state): state
        case .factorChallenge(let state): state
        case .success(let state): state
        case .unknown(let state): state
        }
    }
}
