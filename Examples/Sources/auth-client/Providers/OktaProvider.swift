import AuthRecovery
import HTTPRecovery
import OktaAuth

/// An Okta org: its own session, or an app's tokens.
struct OktaProvider: AuthProvider {
    private let okta: Okta
    /// The same, for a person who can be told that their password expires soon.
    private let warningOkta: Okta

    init(_ setup: ProviderSetup) throws {
        var configuration = OktaConfiguration(pollInterval: .seconds(2), app: try Self.app(setup.options))
        configuration.authenticator = try setup.options.softwareKey.map { try KeptAuthenticator(path: $0) }
        do {
            okta = try Okta(
                org: setup.options.baseURL,
                client: setup.client,
                tokens: setup.tokens,
                configuration: configuration
            )
            configuration.warnsOfExpiry = true
            warningOkta = try Okta(
                org: setup.options.baseURL,
                client: setup.client,
                tokens: setup.tokens,
                configuration: configuration
            )
        } catch {
            throw InputError("--org: \(error)")
        }
    }

    /// The app that tokens are obtained for; nil where none is named.
    private static func app(_ options: ClientOptionsValue) throws -> OktaApp? {
        guard let clientID = options.clientID else { return nil }
        guard let redirectURI = options.redirectURI else { throw InputError("--redirect-uri is missing") }
        var app = OktaApp(clientID: clientID, redirectURI: redirectURI, authorizationServer: options.authServer)
        if let scope = options.scope { app.scope = scope }
        if let secret = try options.clientSecret() { app.authentication = .clientSecretBasic(secret) }
        return app
    }

    func signIn(_ input: SignInInput) async throws -> Report.Session {
        let identifier = try await input.identifier()
        // Where there is none, the flow asks: at Okta another way than the password begins with its name alone.
        let password = try await input.preparedPassword()
        let okta = input.hasNewPassword ? warningOkta : okta
        let session = try await okta.signIn(
            identifier: identifier,
            password: password,
            answering: input.responder,
            options: input.options.bounding(.okta)
        )
        return Report.Session(session)
    }

    func status() async throws -> Report.Session {
        guard let session = try await okta.session() else { throw RecoveryError.notSignedIn }
        return Report.Session(session)
    }

    func get(_ path: String) async throws -> RecoveredResponse {
        try await okta.send(path: path)
    }

    func refresh() async throws -> Report.Session {
        let renewed = try await okta.refresh()
        guard renewed.userID == nil else { return Report.Session(renewed) }
        // Tokens that tell nothing by themselves: the server knows whose they are.
        let known = try? await okta.session()
        try Task.checkCancellation()
        return Report.Session(known ?? renewed)
    }

    func signOut() async throws {
        try await okta.signOut()
    }

    var tokenManager: TokenManager? { okta.tokens }
}

extension Report.Session {
    /// The person stands for the session: its own id opens it like a password.
    init(_ session: OktaSession) {
        self.init(
            id: session.userID ?? session.login ?? "session",
            status: session.status ?? "ACTIVE",
            expiresAt: session.expiresAt
        )
    }
}
