import AuthRecovery
import HTTPRecovery

extension Okta {
    /// Signs in again, as strongly and as freshly as a refusal wants it: as the person who is signed in, and as nobody
    /// else.
    ///
    /// The tokens that are held stay until those of the sign-in take their place.
    func stepUp(because refusal: RecoveryError, answering responder: any ChallengeResponder) async throws {
        let held = try await tokens.store.read().credentials
        guard let app = api.configuration.app, let holder = held.oktaSubject else { throw refusal }
        let advice = OktaAssurance(advice: refusal.outcome.advice)
        var okta = demanding(app.assurance.with(advice))
        okta.api.holder = holder
        let identity = held.idToken.flatMap(OAuthClient.IDToken.init)
        let name = identity?.login ?? identity?.email ?? ""
        var flow = okta.flow(.signIn, name, nil, .okta, because: refusal.outcome)
        do {
            _ = try await flow.run(answering: responder)
        } catch let error as RecoveryError where error.reason == .identityChanged {
            var refusal = refusal
            refusal.reason = .identityChanged
            throw refusal
        }
    }
}

extension OktaAPI {
    /// Checks that a sign-in has led to the tokens of whom it was for; others are revoked, and not kept.
    func check(_ answer: OAuthClient.TokenAnswer, of app: OktaApp) async throws {
        guard let holder else { return }
        var credentials = answer.merged(into: Credentials())
        credentials.idToken = answer.idToken
        guard credentials.oktaSubject != holder else { return }
        await giveUp(OktaRecoveryToken(answer), of: app)
        if let token = answer.refreshToken {
            try? await oauth(for: app, by: waiting(atMost: .zero).client).revoke(token, hint: .refresh)
        }
        throw RecoveryError(
            outcome: Outcome(.stateConflict, processed: .yes, remedies: [.restartFlow]),
            reason: .identityChanged
        )
    }
}

extension Credentials {
    /// The person's id, as the tokens claim it; nil if none does.
    fileprivate var oktaSubject: String? {
        let access = accessToken.flatMap { UnverifiedJWT($0) }
        return idToken.flatMap { UnverifiedJWT($0) }?.subject ?? access?.claims["uid"]?.string ?? access?.subject
    }
}
