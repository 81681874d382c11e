import AuthRecovery
import HTTPRecovery

/// Passwords, and new ones in their place.
extension OktaSignInMachine {
    mutating func submit(password answer: Secret) async throws -> SignInStep<OktaSession> {
        // The old password, for a change.
        if let newPassword {
            password = answer
            return try await submit(newPassword: newPassword)
        }
        return try await authenticate(answer)
    }

    mutating func submit(newPassword answer: Secret) async throws -> SignInStep<OktaSession> {
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
    mutating func change(
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

    func askForNewPassword(
        _ transaction: OktaTransaction,
        because occasion: Outcome = Outcome(.challengeRequired)
    ) -> SignInStep<OktaSession> {
        let factor = Factor(key: .newPassword, providerName: transaction.status.rawValue)
        return .ask(Challenge(factor: factor, occasion: occasion, hint: transaction.passwordPolicy?.summary))
    }

    /// When the password, which is still good, expires.
    func expiryWarning(_ transaction: OktaTransaction) -> Outcome {
        var warning = failure(.continue, [.changePassword]).outcome
        warning.userMessage = OktaPasswordPolicy.warning(inDays: transaction.passwordPolicy?.expiresInDays)
        return warning
    }
}
