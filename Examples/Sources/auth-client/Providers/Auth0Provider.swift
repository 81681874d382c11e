import Auth0Auth
import AuthRecovery
import CommandLineSupport
import HTTPRecovery

extension ProviderSetup {
    /// An Auth0 tenant: every way to sign in, and an app's tokens.
    func auth0() throws -> Auth0Commands {
        var configuration = Auth0Configuration(
            clientID: options.clientID ?? "",
            clientSecret: try options.clientSecret(),
            realm: options.auth0.connection,
            audience: options.auth0.audience,
            passwordless: options.auth0.passwordless,
            authenticator: try options.softwareKey.map { try KeptAuthenticator(path: $0) },
            allowsSignUp: options.auth0.allowsSignUp,
            redirectURI: redirectURI
        )
        if let scope = options.scope { configuration.scope = scope }
        for (name, value) in options.auth0.loginParameters { configuration.loginParameters.add(name, value) }
        do {
            return Auth0Commands(
                try Auth0(tenant: options.baseURL, client: client, tokens: tokens, configuration: configuration),
                notice
            )
        } catch {
            throw InputError("--base-url: \(error)")
        }
    }
}

/// The commands at an Auth0 tenant: those that all providers have, and what a tenant has beside.
struct Auth0Commands: ProviderCommands {
    private let auth0: Auth0
    private let standard: StandardCommands<Auth0>

    init(_ auth0: Auth0, _ notice: @escaping @Sendable (ScreenText) -> Void) {
        self.auth0 = auth0
        standard = StandardCommands(provider: auth0, notice: notice) { input in
            try await Self.telling(input) { responder, options in
                try await auth0.signIn(Self.method(of: input, at: auth0), answering: responder, options: options)
            }
        } renew: { input in
            try await Self.telling(input) { try await auth0.refresh(answering: $0, options: $1) }
        }
    }

    // MARK: Commands

    func signIn(_ input: SignInInput) async throws -> Report.Session? {
        guard case .resetPassword = input.options.auth0.way else { return try await standard.signIn(input) }
        let address = try await input.identifier()
        try await auth0.sendPasswordReset(email: address)
        input.tell("If \(address, limit: 200) has an account, a mail with a link to set a new password is on its way.")
        return nil
    }

    func signOut() async throws {
        // Only a sign-in in a browser has a session there, which the address names as long as its ID token is held.
        let hasBrowser = try await auth0.endSessionURL().reveal().contains("id_token_hint=")
        try await standard.signOut()
        guard hasBrowser else { return }
        // Without the ID token, which is forgotten by now: what stands on a screen is no secret.
        let address = try await auth0.endSessionURL().reveal()
        standard.notice("Your browser is still signed in at the tenant. To sign out there, open this address in it:")
        standard.notice("  \(address, limit: 2000)")
    }

    func status() async throws -> Report.Session { try await standard.status() }

    func send(_ request: ProviderRequest, answering input: SignInInput?) async throws -> RecoveredResponse {
        try await standard.send(request, answering: input)
    }

    func token(answering input: SignInInput?) async throws -> Secret { try await standard.token(answering: input) }

    func refresh(answering input: SignInInput?) async throws -> Report.Session {
        try await standard.refresh(answering: input)
    }

    var tokenManager: TokenManager? { standard.tokenManager }

    // MARK: Sign-in

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

    /// What the sign-in begins with; an account is made before it, if that is wanted.
    private static func method(of input: SignInInput, at auth0: Auth0) async throws -> Auth0SignInMethod {
        let options = input.options.auth0
        switch options.way {
        case .password, .resetPassword:
            return .identifier(try await input.identifier(), password: try await input.openingPassword())
        case .browser: return .browser(loginHint: input.options.identifier)
        case .device: return .device
        case .passwordless(.passkey): return .passkey
        case .passwordless(let way): return .passwordless(way, to: try await input.identifier())
        case .newPasskey:
            return .newPasskey(Auth0NewAccount(email: try await input.identifier(), username: options.newUsername))
        case .signUp:
            let address = try await input.identifier()
            guard var password = try await input.openingPassword() else {
                throw InputError("a new account needs a password, by the answers file or --password-stdin")
            }
            while true {
                do {
                    try await auth0.signUp(email: address, password: password, username: options.newUsername)
                    return .identifier(address, password: password)
                } catch let error as RecoveryError
                    where error.kind == .passwordRejected || error.kind == .passwordCompromised
                {
                    password = try await input.password(after: error)
                }
            }
        }
    }
}
