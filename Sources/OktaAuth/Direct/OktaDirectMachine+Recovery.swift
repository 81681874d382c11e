import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// What a factor has brought in place of a forgotten password: a token that sets a new one, and nothing else.
struct OktaRecoveryToken: RememberedFields {
    var token = Secret("")
    var type: String?

    init() {}

    init(_ answer: OAuthClient.TokenAnswer) {
        (token, type) = (answer.accessToken, answer.tokenType)
    }

    static var fields: [RememberedField<OktaRecoveryToken>] {
        [.init("token", \.token), .init("type", \.type)]
    }
}

/// Recovering a forgotten password: another factor proves the person, and its token sets the new password at the
/// MyAccount API of the identity engine. The sign-in goes on with that password.
extension OktaDirectMachine {
    /// The way to a new password, beside the factors.
    static let recovery = Factor(key: .newPassword, providerName: "recover", id: "recover")
    static let recoveryScope = "okta.myAccount.password.manage"

    /// What the token endpoint is told the sign-in is for; nil for a sign-in.
    var intent: String? { recovers ? "recovery" : nil }

    var newPassword: SignInStep<OktaSession> {
        .ask(Challenge(factor: Factor(key: .newPassword, providerName: "password")))
    }

    /// Sets the new password, and signs in with it.
    mutating func submit(newPassword answer: Secret) async throws -> SignInStep<OktaSession> {
        guard let recoveryToken else { throw failure(.flowExpired, [.restartFlow]) }
        do {
            try await api.setPassword(answer, with: recoveryToken, of: app)
        } catch var error as RecoveryError where error.isInDoubt {
            // It may be set; whoever is asked again may give the same, or another.
            error.outcome.remedies = [.resync, .askUser]
            throw error
        } catch let error as RecoveryError where error.outcome.credential == .access {
            // It is good for minutes; the person proves themselves anew.
            self.recoveryToken = nil
            throw failure(.flowExpired, [.restartFlow])
        }
        self.recoveryToken = nil
        (recovers, mfaToken, challengeTypes) = (false, nil, [])
        await api.giveUp(recoveryToken, of: app)
        return try await submit(password: answer)
    }
}

extension OktaAPI {
    private static let accountType = "application/json; okta-version=1.0.0"

    /// Sets the password of whoever a token stands for.
    func setPassword(_ password: Secret, with token: OktaRecoveryToken, of app: OktaApp) async throws {
        var held = Credentials(accessToken: token.token)
        held.tokenType = token.type?.lowercased() == "bearer" ? nil : token.type
        let tokens = TokenManager(store: InMemoryTokenStore(held), renewer: nil)
        var call = Call(
            request: org.request(.put, path: "/idp/myaccount/password"),
            body: ["profile": ["password": .string(password.reveal())]],
            presents: .access,
            purpose: .plain
        )
        call.request.headerFields[.accept] = Self.accountType
        call.layers = [app.dpop?.layer(for: tokens, at: org.origin) ?? Authorization(tokens, audience: [org.origin])]
        if app.dpop != nil { call.policies = [DPoPAuthorization.NonceRetry()] }
        _ = try await send(call)
    }

    /// Revokes a token that has done its duty; it ends by itself, if that fails.
    func giveUp(_ token: OktaRecoveryToken, of app: OktaApp) async {
        let client = waiting(atMost: .zero).client
        try? await oauth(for: app, by: client).revoke(token.token, hint: .access)
    }
}
