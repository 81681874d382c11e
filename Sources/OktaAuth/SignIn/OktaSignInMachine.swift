import AuthRecovery
import HTTPRecovery

/// A transaction as a machine: its states, and the steps that lead from one to the next.
struct OktaSignInMachine: SignInMachine {
    /// What it is run for.
    enum Goal {
        case signIn
        /// A new password in place of a forgotten one; the person is reached this way, or chooses.
        case recover(OktaFactorType?)
        /// A transaction that was begun elsewhere, and this is its state token.
        case resume(Secret)
        /// What the token of a link leads to.
        case redeem(OktaLinkToken)

        /// The token of a link; nil without one.
        var token: OktaLinkToken? {
            if case .redeem(let token) = self { token } else { nil }
        }
    }

    var api: OktaAPI
    private(set) var context: SignInContext?
    var identifier: String
    var goal: Goal

    /// What ``begin()`` presents; forgotten once it was refused, learned once it was accepted.
    var password: Secret?
    /// A new password that waits for the old one.
    var newPassword: Secret?
    /// The transaction under way, as the server told it last.
    var state: OktaState?
    /// The factor that is being enrolled.
    var enrollment: OktaFactor?
    /// The longest that the step under way waits for a limit; nil for no bound but the client's own.
    var patience: Duration?
    /// How many pushes were sent.
    var pushes = 0
    /// The factors whose code was sent in the transaction.
    var sent: [Factor] = []
    /// Whether more than the password was asked for.
    var hasUsedFactors = false
    /// Whether a recovery is under way that somebody has wished for; it ends once, and its token is redeemed once.
    var recovery = (isOpen: false, hasRedeemed: false)
    /// How many session tokens were exchanged.
    var exchanges = 0
    /// A new password of which nobody knows whether the server has taken it.
    var doubtfulPassword: Secret?
    var unattended = 0
    /// How the push that was sent is asked after.
    var polling: OktaPolling?

    init(api: OktaAPI, goal: Goal, identifier: String, password: Secret?) {
        self.api = api
        self.goal = goal
        self.identifier = identifier
        self.password = password
    }

    mutating func enter(_ context: SignInContext) {
        self.context = context
        api = api.within(context.operation)
        api.account = LockoutLedger.account(for: identifier)
        // The steps of a state are those of the operation that it is left by.
        state = state.map { OktaState($0.transaction, api: api) }
    }

    mutating func abandon() async throws {
        guard let token = state?.transaction.stateToken else { return }
        try await api.cancel(token)
    }

    var openingFactor: Factor? {
        guard case .signIn = goal else { return nil }
        return password.map { _ in Self.passwordFactor }
    }

    var unlockFactors: [Factor] { Self.ways(.unlock) }

    mutating func begin() async throws -> SignInStep<OktaSession> {
        state = nil
        enrollment = nil
        if case .resume(let token) = goal { return try await follow { try await $0.read(token) } }
        if let token = goal.token {
            do {
                return try await follow { try await $0.redeem(token) }
            } catch let error as RecoveryError where error.outcome.code == OktaCodes.code(16) && token.isOfActivation {
                // There is nothing left to activate.
                goal = .signIn
                await context?.notice(error.outcome)
            }
        }
        guard !identifier.isEmpty else { return .ask(.identifier) }
        switch goal {
        case .recover(let type?): return try await recover(.password, via: type)
        case .recover(nil): return .choose(Self.ways(.password))
        default:
            if password == nil, api.configuration.beginsWithoutPassword { return try await authenticate(nil) }
            guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
            return try await authenticate(password)
        }
    }

    mutating func resync() async throws -> SignInStep<OktaSession> {
        guard let token = state?.transaction.stateToken else {
            // Nothing tells what became of the password.
            password = nil
            return try await begin()
        }
        return try await follow { try await $0.read(token) }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        if let recovery = factor.id.flatMap(Self.recovery) {
            return try await recover(recovery, via: OktaFactorType(reading: factor.providerName))
        }
        if case .enrolling(let enrolling) = state { return try await enroll(factor, enrolling) }
        guard let offer, factor.key != .password else { return .ask(Challenge(factor: factor)) }
        guard let chosen = offer.factors.first(where: { $0.factor?.isSame(as: factor) == true }) else {
            throw missing("verify")
        }
        return try await verify(chosen, factor, offer)
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<OktaSession> {
        switch challenge.key {
        case .text where challenge.factor.isSame(as: .identifier):
            identifier = answer.reveal()
            api.account = LockoutLedger.account(for: identifier)
            return try await begin()
        case .password: return try await submit(password: answer)
        case .newPassword: return try await submit(newPassword: answer)
        case .phoneNumber: return try await enroll(phoneNumber: answer)
        case .securityAnswer: return try await submit(.answer(answer), of: challenge)
        case .webauthn: return try await submit(webAuthn: answer, of: challenge)
        case .push:
            // The answer is given on the phone; without the wish for another push there is nothing to do here.
            throw RecoveryError(outcome: challenge.previousFailure ?? Outcome(.declined), reason: .notRecoverable)
        default: return try await submit(.passCode(answer), of: challenge)
        }
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<OktaSession> {
        patience = limit
        defer { patience = nil }
        if factor.key == .push { return try await sendPush(factor, isWished: true) }
        if let offer, factor.key.isSent,
            let chosen = offer.factors.first(where: { $0.factor?.isSame(as: factor) == true })
        {
            return try await sendCode(chosen, factor, offer, isWished: true)
        }
        let step: OktaQuietStep? =
            switch state {
            case .factorChallenge(let challenge): challenge.resend
            case .activating(let activating): activating.resend
            case .recoveryChallenge(let challenge): challenge.resend
            default: nil
            }
        guard let step else { return try await choose(factor) }
        // The answer may leave out what the step before has told.
        _ = try await step.waiting(atMost: patience)()
        return .ask(Challenge(factor: factor))
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<OktaSession> {
        // Without a name there is nothing else.
        if factor.isSame(as: .identifier), refusal == nil { return .choose([factor]) }
        if let offer { return .choose(choices(offer)) }
        switch state {
        case nil, .unauthenticated, .recoveryChallenge, .lockedOut: return .choose(Self.ways(.password))
        case .passwordWarning(let warning):
            guard let skip = warning.skip else { break }
            return try await follow { _ in try await skip.perform(()) }
        case .factorChallenge(let challenge):
            guard let previous = challenge.previous else { break }
            return try await follow { _ in try await previous.perform(()) }
        case .activating(let activating):
            guard let previous = activating.previous else { break }
            return try await follow { _ in try await previous.perform(()) }
        case .enrolling(let enrolling): return .choose(open(enrolling))
        default: break
        }
        if let refusal { throw refusal }
        return .choose([factor])
    }
}
