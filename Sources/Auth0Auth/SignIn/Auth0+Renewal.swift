public import AuthRecovery
import HTTPRecovery

extension Auth0 {
    /// Renews the tokens, and asks for the second factor if the tenant wants one for that.
    ///
    /// It is a sign-in of the method ``Auth0SignInMethod/renewal``: with ``signInFlow(_:options:)`` a web backend steps it.
    /// Whoever is signed in stays so, whatever it comes to.
    ///
    /// - Parameters:
    ///   - responder: Answers what is asked.
    ///   - options: How to deal with what goes wrong; nil for the usual.
    /// - Returns: What the new tokens tell by themselves; they are stored before this returns.
    /// - Throws: `RecoveryError`: of the kind `reauthentication_required` if a person has to sign in, `state_conflict` if
    ///   another has signed in meanwhile; as ``signIn(_:answering:options:)`` else. `CancellationError` as soon as the task is
    ///   cancelled.
    @discardableResult
    public func refresh(
        answering responder: any ChallengeResponder,
        options: SignInOptions? = nil
    ) async throws -> Auth0Session {
        try await signIn(.renewal, answering: responder, options: options)
    }
}

extension TokenManager {
    /// What tokens tell that were renewed now.
    func auth0Session(renewedBy client: RecoveringClient) async throws -> Auth0Session {
        let held = try await renew(by: client).credentials
        let identity = held.auth0Identity
        return Auth0Session(
            subject: identity?.subject ?? held.accessToken.flatMap { UnverifiedJWT($0) }?.subject,
            email: identity?.claims["email"]?.string,
            expiresAt: held.expiresAt,
            identity: identity
        )
    }
}

/// A renewal for which the tenant may want a second factor.
extension Auth0SignInMachine {
    /// Renews the tokens, or goes on with the second factor if that is wanted first.
    mutating func renew() async throws -> SignInStep<Auth0Session> {
        let held = try await tokens.store.read().credentials
        do {
            return .finished(try await tokens.auth0Session(renewedBy: api.client))
        } catch let error as RecoveryError where error.kind == .stepUpRequired {
            // What the tenant has said stands in the error of the renewal itself.
            guard let response = (error.cause as? RecoveryError)?.response ?? error.response else { throw error }
            mark = held.auth0Mark ?? .null
            return try await goOn(after: response)
        }
    }
}
