import AuthRecovery
import HTTPRecovery

/// A transaction as a machine: its states, and the steps that lead from one to the next.
struct OktaSignInMachine: SignInMachine {
    /// What it is run for.
    enum Goal {
        case signIn
        /// A new password in place of a forgotten one; the person is reached this way, or chooses.
        case recover(OktaFactorType?)
    }

    private(set) var api: OktaAPI
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
        guard !identifier.isEmpty else { return .ask(.identifier) }
        switch goal {
        case .recover(let type?): return try await recover(.password, via: type)
        case .recover(nil): return .choose(Self.ways(.password))
        case .signIn:
            guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
            return try await authenticate(password)
        }
    }

    mutating func resync() async throws -> SignInStep<OktaSession> {
        guard let token = state?.transaction.stateToken else { return try await begin() }
        return try await follow { try await $0.read(token) }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        if factor.isSame(as: .identifier) { return .ask(.identifier) }
        if let recovery = factor.id.flatMap(Self.recovery) {
            return try await recover(recovery, via: OktaFactorType(reading: factor.providerName))
        }
        switch state {
        case .factorRequired(let required):
            guard let chosen = required.factors.first(where: { $0.factor?.isSame(as: factor) == true }) else {
                throw missing("verify")
            }
            return try await verify(chosen, factor, required)
        case .enrolling(let enrolling): return try await enroll(factor, enrolling)
        default: return .ask(Challenge(factor: factor))
        }
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
        if case .factorRequired(let required) = state, factor.key.isSent,
            let chosen = required.factors.first(where: { $0.factor?.isSame(as: factor) == true })
        {
            return try await sendCode(chosen, factor, required, isWished: true)
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
        case .factorRequired(let required): return .choose(required.factors.compactMap(\.factor))
        case .enrolling(let enrolling): return .choose(open(enrolling))
        default: break
        }
        if let refusal { throw refusal }
        return .choose([factor])
    }

    // MARK: Beginning

    static let passwordFactor = Factor(key: .password, providerName: "password")

    /// The ways to reach a person who cannot sign in.
    private static func ways(_ recovery: OktaAPI.Recovery) -> [Factor] {
        let id = "recovery/\(recovery.rawValue)"
        let call = recovery == .password ? [Factor(key: .phoneCode, providerName: "CALL", id: id)] : []
        return [
            Factor(key: .emailCode, providerName: "EMAIL", id: id),
            Factor(key: .phoneCode, providerName: "SMS", id: id),
        ] + call
    }

    private static func recovery(_ id: String) -> OktaAPI.Recovery? {
        id.hasPrefix("recovery/") ? OktaAPI.Recovery(rawValue: String(id.dropFirst("recovery/".count))) : nil
    }

    mutating func authenticate(_ password: Secret) async throws -> SignInStep<OktaSession> {
        state = nil
        sent = []
        self.password = password
        let credentials = OktaCredentials(username: identifier, password: password)
        do {
            return try await follow { try await $0.authenticate(credentials) }
        } catch let error as RecoveryError where error.kind == .invalidCredentials && state == nil {
            self.password = nil
            throw error
        }
    }

    private mutating func recover(
        _ what: OktaAPI.Recovery,
        via type: OktaFactorType
    ) async throws -> SignInStep<OktaSession> {
        let request = OktaRecoveryRequest(username: identifier, via: type)
        if what == .password { password = nil }
        recovery = (isOpen: true, hasRedeemed: false)
        // The link that came with the lock, if there is one.
        if what == .unlock, case .lockedOut(let locked) = state, let unlock = locked.unlock {
            return try await follow { _ in try await unlock.perform(request) }
        }
        return try await follow { try await $0.recover(what, request) }
    }

    private mutating func submit(password answer: Secret) async throws -> SignInStep<OktaSession> {
        // The old password, for a change.
        if let newPassword {
            password = answer
            return try await submit(newPassword: newPassword)
        }
        return try await authenticate(answer)
    }

    private mutating func submit(newPassword answer: Secret) async throws -> SignInStep<OktaSession> {
        var change: OktaStep<OktaPasswordChange>?
        switch state {
        case .passwordReset(let reset):
            guard let step = reset.resetPassword else { throw missing("resetPassword") }
            let next = try await self.change(to: answer) { _ in try await step.perform(OktaPasswordReset(answer)) }
            password = answer
            return next
        case .passwordExpired(let expired): change = expired.changePassword
        case .passwordWarning(let warning): change = warning.changePassword
        default: break
        }
        guard let change else { throw missing("changePassword") }
        guard let password else {
            newPassword = answer
            return .ask(Challenge(factor: Self.passwordFactor))
        }
        newPassword = nil
        do {
            let step = try await self.change(to: answer) { _ in
                try await change.perform(OktaPasswordChange(from: password, to: answer))
            }
            self.password = answer
            return step
        } catch let error as RecoveryError where error.kind == .invalidCredentials {
            self.password = nil
            throw error
        }
    }

    /// Takes the step that sets a new password, and keeps it in mind if its answer is lost.
    private mutating func change(
        to answer: Secret,
        _ step: (OktaAPI) async throws -> OktaTransaction?
    ) async throws -> SignInStep<OktaSession> {
        do {
            return try await follow(step)
        } catch let error as RecoveryError where error.outcome.processed == .unknown {
            doubtfulPassword = answer
            throw error
        }
    }

    // MARK: Where the transaction stands

    /// More steps than a sign-in takes by itself; beyond it something goes round in circles.
    private static let maximumUnattended = 16

    /// Takes a step that nobody is asked about.
    mutating func goOn(
        _ step: (OktaAPI) async throws -> OktaTransaction?
    ) async throws -> SignInStep<OktaSession> {
        unattended += 1
        guard unattended <= Self.maximumUnattended else { throw circles }
        return try await follow(step)
    }

    /// Takes a step, and says what the state wants that it leads to.
    mutating func follow(
        _ step: (OktaAPI) async throws -> OktaTransaction?
    ) async throws -> SignInStep<OktaSession> {
        do {
            guard let transaction = try await step(api.waiting(atMost: patience)) else {
                throw RecoveryError(.unreadable, in: nil)
            }
            return try await follow(OktaState(transaction, api: api))
        } catch let error as RecoveryError {
            note(error)
            throw error
        }
    }

    /// Takes into account what an error leaves behind.
    mutating func note(_ error: RecoveryError) {
        if let left = api.transaction(leftBy: error) { state = OktaState(left, api: api) }
        // Only Okta's own code for a refused state token tells that it is dead; after any other answer nobody knows what
        // was spent, and the password does not go out again by itself.
        let isDead = error.outcome.tokenAction == .clear && error.outcome.code != nil
        if error.kind == .flowExpired, !isDead { password = nil }
    }

    mutating func follow(_ next: OktaState) async throws -> SignInStep<OktaSession> {
        state = next
        if let changed = doubtfulPassword {
            doubtfulPassword = nil
            switch next {
            case .passwordExpired, .passwordWarning, .passwordReset: break
            default: password = changed
            }
        }
        switch next {
        case .unauthenticated: return .ask(Challenge(factor: Self.passwordFactor))
        case .passwordWarning(let warning):
            if !api.configuration.warnsOfExpiry, let skip = warning.skip {
                return try await goOn { _ in try await skip.perform(()) }
            }
            return askForNewPassword(warning.transaction, because: expiryWarning(warning.transaction))
        case .passwordExpired(let expired):
            var expiry = failure(.passwordExpired, [.changePassword]).outcome
            expiry.userMessage = "The password has expired and has to be changed."
            return askForNewPassword(expired.transaction, because: expiry)
        case .passwordReset(let reset): return askForNewPassword(reset.transaction)
        case .recovery(let recovery):
            if let redeem = recovery.redeem {
                guard !self.recovery.hasRedeemed else { throw circles }
                self.recovery.hasRedeemed = true
                return try await goOn { _ in try await redeem.perform(()) }
            }
            let factor = Factor(key: .securityAnswer, providerName: "question", id: "recovery")
            return .ask(Challenge(factor: factor, prompt: recovery.question))
        case .recoveryChallenge(let challenge): return try await follow(challenge)
        case .lockedOut: throw failure(.accountLocked, [.unlock, .contactAdmin])
        case .enrolling(let enrolling): return try await follow(enrolling)
        case .activating(let activating): return try await follow(activating)
        case .factorRequired(let required):
            let factors = required.factors.filter { !$0.links["verify"].isEmpty }.compactMap(\.factor)
            guard !factors.isEmpty else { throw failure(.factorUnavailable, [.contactAdmin]) }
            return .choose(factors)
        case .factorChallenge(let challenge): return try await follow(challenge)
        case .success(let success): return try await finish(success)
        case .unknown(let unknown):
            var error = failure(.unknown)
            error.outcome.statusType = unknown.status.rawValue
            // The word of a status that nobody knows is all there is to go by.
            error.outcome.code = unknown.status.rawValue
            error.outcome.details = nil
            throw error
        }
    }

    private func askForNewPassword(
        _ transaction: OktaTransaction,
        because occasion: Outcome = Outcome(.challengeRequired)
    ) -> SignInStep<OktaSession> {
        let factor = Factor(key: .newPassword, providerName: transaction.status.rawValue)
        return .ask(Challenge(factor: factor, occasion: occasion, hint: transaction.passwordPolicy?.summary))
    }

    /// When the password, which is still good, expires.
    private func expiryWarning(_ transaction: OktaTransaction) -> Outcome {
        var warning = failure(.continue, [.changePassword]).outcome
        warning.userMessage =
            switch transaction.passwordPolicy?.expiresInDays {
            case 0: "The password expires today."
            case 1: "The password expires in a day."
            case let days? where days > 1: "The password expires in \(days) days."
            default: "The password expires soon."
            }
        return warning
    }

    private func follow(_ challenge: OktaRecoveryChallenge) async throws -> SignInStep<OktaSession> {
        guard !challenge.isByMail else {
            // What the mail unlocks is not held back here any longer than there.
            if challenge.transaction.recoveryType == "UNLOCK" { await forgetLockout() }
            throw failure(.userActionRequired, [.visitProvider])
        }
        let type = challenge.factorType ?? .sms
        return .ask(Challenge(factor: Factor(key: .phoneCode, providerName: type.rawValue, id: "recovery")))
    }

    // MARK: Errors

    func missing(_ link: String) -> RecoveryError {
        var error = failure(.stateConflict, [.resync])
        error.cause = OktaLinkError.missing(link)
        return error
    }

    /// The end of a sign-in that leads nowhere.
    var circles: RecoveryError {
        var error = failure(.stateConflict)
        error.reason = .attemptsExhausted
        return error
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Outcome.Remedy] = []) -> RecoveryError {
        var outcome = Outcome(kind, processed: .yes, remedies: remedies)
        outcome.statusType = state?.transaction.status.rawValue
        outcome.factorResult = state?.transaction.factorResult?.rawValue
        if kind == .accountLocked {
            outcome.scope = .account
            outcome.lockout = .indefinite
        }
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}
