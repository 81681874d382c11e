import AuthRecovery
import HTTPRecovery

/// Where the transaction stands, and what that wants.
extension OktaSignInMachine {
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
        case .unauthenticated(let waiting):
            if let login = waiting.transaction.login, identifier.isEmpty { identifier = login }
            return offer.map { .choose(choices($0)) } ?? .ask(Challenge(factor: Self.passwordFactor))
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
            let factors = choices(required)
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

    func follow(_ challenge: OktaRecoveryChallenge) async throws -> SignInStep<OktaSession> {
        guard !challenge.isByMail else {
            // What the mail unlocks is not held back here any longer than there.
            if challenge.transaction.recoveryType == "UNLOCK" { await forgetLockout() }
            var error = failure(.userActionRequired, [.visitProvider])
            error.outcome.userMessage = "An e-mail was sent. Please follow the link in it, and sign in again then."
            throw error
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
