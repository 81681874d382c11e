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

    let api: OktaAPI
    let identifier: String
    let responder: any ChallengeResponder
    let watch: SignInWatch
    private let goal: Goal

    /// What ``begin()`` presents; forgotten once it was refused, learned once it was accepted.
    var password: Secret?
    /// A new password that waits for the old one.
    var newPassword: Secret?
    /// The transaction under way, as the server told it last.
    var state: OktaState?
    /// The factor that is being enrolled.
    var enrollment: OktaFactor?
    /// How many pushes were sent.
    var pushes = 0
    /// Whether more than the password was asked for.
    var hasUsedFactors = false
    private var exchanges = 0

    init(
        api: OktaAPI,
        goal: Goal,
        identifier: String,
        password: Secret?,
        responder: any ChallengeResponder,
        watch: SignInWatch
    ) {
        self.api = api
        self.goal = goal
        self.identifier = identifier
        self.password = password
        self.responder = responder
        self.watch = watch
    }

    var openingFactor: Factor? {
        guard case .signIn = goal else { return nil }
        return password.map { _ in Self.passwordFactor }
    }

    var unlockFactors: [Factor] { Self.ways(.unlock) }

    mutating func begin() async throws -> SignInStep<OktaSession> {
        state = nil
        enrollment = nil
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

    mutating func resend(_ factor: Factor) async throws -> SignInStep<OktaSession> {
        if factor.key == .push { return try await sendPush(factor, isWished: true) }
        let step: OktaQuietStep? =
            switch state {
            case .factorChallenge(let challenge): challenge.resend
            case .activating(let activating): activating.resend
            case .recoveryChallenge(let challenge): challenge.resend
            default: nil
            }
        guard let step else { return try await choose(factor) }
        // The answer may leave out what the step before has told.
        _ = try await step()
        return .ask(Challenge(factor: factor))
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<OktaSession> {
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

    private static let passwordFactor = Factor(key: .password, providerName: "password")

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

    private mutating func authenticate(_ password: Secret) async throws -> SignInStep<OktaSession> {
        state = nil
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
        // The link that came with the lock, where there is one.
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
            let next = try await follow { _ in try await step.perform(OktaPasswordReset(answer)) }
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
            let step = try await follow { _ in
                try await change.perform(OktaPasswordChange(from: password, to: answer))
            }
            self.password = answer
            return step
        } catch let error as RecoveryError where error.kind == .invalidCredentials {
            self.password = nil
            throw error
        }
    }

    // MARK: Where the transaction stands

    /// Takes a step, and says what the state wants that it leads to.
    mutating func follow(
        _ step: (OktaAPI) async throws -> OktaTransaction?
    ) async throws -> SignInStep<OktaSession> {
        do {
            guard let transaction = try await step(api) else { throw api.failure(.unreadable, in: nil) }
            return try await follow(OktaState(transaction, api: api))
        } catch let error as RecoveryError {
            if let left = api.transaction(leftBy: error) { state = OktaState(left, api: api) }
            throw error
        }
    }

    mutating func follow(_ next: OktaState) async throws -> SignInStep<OktaSession> {
        state = next
        switch next {
        case .unauthenticated: return .ask(Challenge(factor: Self.passwordFactor))
        case .passwordWarning(let warning):
            if !api.configuration.warnsOfExpiry, let skip = warning.skip {
                return try await follow { _ in try await skip.perform(()) }
            }
            return askForNewPassword(warning.transaction, because: expiryWarning(warning.transaction))
        case .passwordExpired(let expired):
            var expiry = failure(.passwordExpired, [.changePassword]).outcome
            expiry.userMessage = "The password has expired and has to be changed."
            return askForNewPassword(expired.transaction, because: expiry)
        case .passwordReset(let reset): return askForNewPassword(reset.transaction)
        case .recovery(let recovery):
            if let redeem = recovery.redeem { return try await follow { _ in try await redeem.perform(()) } }
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
        because occasion: Outcome? = nil
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

    private mutating func finish(_ success: OktaSucceeded) async throws -> SignInStep<OktaSession> {
        let transaction = success.transaction
        guard let token = success.sessionToken else {
            guard transaction.recoveryType == "UNLOCK" else { throw failure(.unreadable) }
            await forgetLockout()
            guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
            return try await authenticate(password)
        }
        if transaction.recoveryType == "UNLOCK" { await forgetLockout() }
        state = nil
        exchanges += 1
        do {
            return .finished(try await api.exchange(token, of: transaction))
        } catch let error as RecoveryError where exchanges == 1 && !hasUsedFactors && Self.wantsNewToken(error) {
            // The token is used up, the session not there; the password was right, so it serves again for a new token.
            guard let password else { throw error }
            return try await authenticate(password)
        }
    }

    /// Whether an exchange failed for a reason that a new session token takes away.
    private static func wantsNewToken(_ error: RecoveryError) -> Bool {
        let bounds: [StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
        if bounds.contains(error.reason) { return false }
        switch error.kind {
        case .rateLimited, .transport, .timedOut, .unavailable: return true
        case .credentialRejected: return error.outcome.credential == .code
        default: return false
        }
    }

    private func forgetLockout() async {
        let ledger = LockoutLedger(runtime: api.client.runtime, origin: api.org.origin)
        await ledger.forget(LockoutLedger.account(for: identifier))
    }

    // MARK: Errors

    func missing(_ link: String) -> RecoveryError {
        var error = failure(.stateConflict, [.resync])
        error.cause = OktaLinkError.missing(link)
        return error
    }

    func failure(_ kind: Outcome.Kind, _ remedies: [Remedy] = []) -> RecoveryError {
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
