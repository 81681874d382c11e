import AuthRecovery
import HTTPRecovery

/// The end of a transaction: a session, or the way back from a recovery.
extension OktaSignInMachine {
    /// Ends the sign-in, or goes on behind a recovery.
    mutating func finish(_ success: OktaSucceeded) async throws -> SignInStep<OktaSession> {
        let transaction = success.transaction
        guard let token = success.sessionToken else {
            if let redirect = success.redirect, let session = try ended(transaction, at: redirect) {
                state = nil
                return .finished(session)
            }
            // A recovery that nobody has begun, or that has ended already, ends nothing.
            guard transaction.recoveryType == "UNLOCK", recovery.isOpen else { throw failure(.unreadable) }
            recovery.isOpen = false
            await forgetLockout()
            guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
            return try await authenticate(password)
        }
        if transaction.recoveryType == "UNLOCK" { await forgetLockout() }
        state = nil
        exchanges += 1
        do {
            return .finished(try await api.exchange(token, of: transaction))
        } catch var error as RecoveryError where Self.wantsNewToken(error) {
            // The token is used up, the session not there; the password was right, so it serves again for a new token.
            if exchanges == 1, !hasUsedFactors, let password { return try await authenticate(password) }
            // A second one that is refused alike is not the token's fault: a third would cost a password and help nobody.
            if exchanges > 1 { error.outcome.remedies.removeAll { $0 == .restartFlow } }
            throw error
        }
    }

    /// The session of a step-up, which was the browser's before and stays there.
    private func ended(_ transaction: OktaTransaction, at redirect: String) throws -> OktaSession? {
        switch goal {
        case .resume:
            return OktaSession(
                userID: transaction.userID,
                login: transaction.login,
                status: transaction.type,
                expiresAt: nil,
                redirect: redirect
            )
        case .signIn where transaction.recoveryType == nil: throw failure(.userActionRequired, [.visitProvider])
        default: return nil
        }
    }

    /// Whether an exchange failed for a reason that a new session token takes away.
    private static func wantsNewToken(_ error: RecoveryError) -> Bool {
        let bounds: [History.StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
        if bounds.contains(error.reason) { return false }
        switch error.kind {
        case .rateLimited, .transport, .timedOut, .unavailable: return true
        case .credentialRejected: return error.outcome.credential == .code
        default: return false
        }
    }

    /// Forgets that the account was locked.
    func forgetLockout() async {
        let ledger = LockoutLedger(runtime: api.client.runtime, origin: api.org.origin)
        await ledger.forget(LockoutLedger.account(for: identifier))
    }
}
