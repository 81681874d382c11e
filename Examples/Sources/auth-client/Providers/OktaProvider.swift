import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import OktaAuth

extension ProviderSetup {
    /// An Okta org: its own session, or an app's tokens.
    func okta() throws -> StandardCommands<Okta> {
        var configuration = OktaConfiguration(pollInterval: .seconds(2), app: try oktaApp())
        configuration.way = options.okta.way
        configuration.remembersDevice = options.okta.remembersDevice
        configuration.deviceToken = try options.okta.deviceToken.map { try KeptDeviceToken.read($0) }
        configuration.authenticator = try options.softwareKey.map { try KeptAuthenticator(path: $0) }
        let okta = try okta(configuration)
        // For a person who can be told that their password expires soon.
        configuration.warnsOfExpiry = true
        let warning = try self.okta(configuration)
        var commands = StandardCommands(provider: okta, notice: notice) { input in
            if let token = try input.options.okta.linkToken() {
                var flow = okta.signInFlow(
                    redeeming: token,
                    identifier: input.options.identifier,
                    options: input.options.bounding(.okta)
                )
                return try await flow.run(answering: input.responder)
            }
            return try await (input.hasNewPassword ? warning : okta).signIn(
                identifier: input.identifier(),
                // If there is none, the flow asks: at Okta another way than the password begins with its name alone.
                password: input.preparedPassword(),
                answering: input.responder,
                options: input.options.bounding(.okta)
            )
        }
        if options.clientID == nil { commands.presented = { try await Self.sessionID(of: okta) } }
        return commands
    }

    /// What the org's own session is known by; the server alone knows whether it lasts.
    private static func sessionID(of okta: Okta) async throws -> Secret {
        guard try await okta.session() != nil, let id = try await okta.tokens.store.read().credentials[.session] else {
            throw RecoveryError.notSignedIn
        }
        return id
    }

    private func okta(_ configuration: OktaConfiguration) throws -> Okta {
        do {
            return try Okta(org: options.baseURL, client: client, tokens: tokens, configuration: configuration)
        } catch {
            throw InputError("--org: \(error)")
        }
    }

    /// The app that tokens are obtained for; nil if none is named.
    private func oktaApp() throws -> OktaApp? {
        guard let clientID = options.clientID else { return nil }
        guard let redirectURI = options.redirectURI else { throw InputError("--redirect-uri is missing") }
        var app = OktaApp(clientID: clientID, redirectURI: redirectURI, authorizationServer: options.authServer)
        if let scope = options.scope { app.scope = scope }
        app.issuer = options.okta.issuer
        if let assurance = options.okta.assurance { app.assurance = assurance }
        if let secret = try options.clientSecret() { app.authentication = .clientSecretBasic(secret) }
        return app
    }
}
