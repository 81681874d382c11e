import Auth0Auth
import AuthRecovery
import CommandLineSupport
import HTTPRecovery

extension ProviderSetup {
    /// An Auth0 tenant: every way to sign in, and an app's tokens.
    func auth0() throws -> StandardCommands<Auth0> {
        var configuration = Auth0Configuration(
            clientID: options.clientID ?? "",
            clientSecret: try options.clientSecret(),
            realm: options.auth0.connection,
            audience: options.auth0.audience,
            passwordless: options.auth0.passwordless,
            redirectURI: redirectURI
        )
        if let scope = options.scope { configuration.scope = scope }
        let auth0: Auth0
        do {
            auth0 = try Auth0(tenant: options.baseURL, client: client, tokens: tokens, configuration: configuration)
        } catch {
            throw InputError("--base-url: \(error)")
        }
        return StandardCommands(provider: auth0, notice: notice) { input in
            try await Self.telling(input) { try await auth0.signIn(Self.method(of: input), answering: $0, options: $1) }
        } renew: { input in
            try await Self.telling(input) { try await auth0.refresh(answering: $0, options: $1) }
        }
    }

    /// Signs in, and tells the person the recovery code that has taken the place of one that was used.
    private static func telling(
        _ input: SignInInput,
        _ signIn: (Responder, SignInOptions) async throws -> Auth0Session
    ) async throws -> Auth0Session {
        func tell(_ code: Secret) {
            input.tell("Your recovery code is used up. Write down the new one: \(code.reveal())")
        }
        do {
            let session = try await signIn(input.responder, input.options.bounding(SignInOptions()))
            if let code = session.recoveryCode { tell(code) }
            return session
        } catch let error as Auth0UnkeptRecoveryCode {
            tell(error.recoveryCode)
            throw error.cause
        }
    }

    /// What the sign-in begins with.
    private static func method(of input: SignInInput) async throws -> Auth0SignInMethod {
        switch input.options.auth0.way {
        case .password: .identifier(try await input.identifier(), password: try await input.openingPassword())
        case .browser: .browser(loginHint: input.options.identifier)
        case .device: .device
        case .passwordless(let way): .passwordless(way, to: try await input.identifier())
        }
    }
}
