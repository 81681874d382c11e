import AuthRecovery
import ForgeRockAuth
import HTTPRecovery

/// PingAM (ForgeRock AM, OpenAM): journeys, the session, and with a client's registration tokens.
struct ForgeRockProvider: ProviderCommands {
    private let options: ClientOptionsValue
    private let forgeRock: ForgeRock
    private let tokens: any TokenStore

    init(_ setup: ProviderSetup) throws {
        options = setup.options
        tokens = setup.tokens
        do {
            forgeRock = try ForgeRock(
                baseURL: setup.options.baseURL,
                client: setup.client,
                tokens: setup.tokens,
                configuration: ForgeRockConfiguration(
                    realm: setup.options.forgeRock.realm ?? "",
                    journey: setup.options.forgeRock.journey,
                    oauth: try Self.oauth(setup.options),
                    authenticator: try setup.options.softwareKey.map { try KeptAuthenticator(path: $0) },
                    deviceName: setup.options.forgeRock.deviceName,
                    identityProviders: setup.options.forgeRock.identityProviders,
                    cookieName: setup.options.forgeRock.cookieName
                )
            )
        } catch let error as Origin.InvalidURL {
            throw InputError("--base-url: \(error)")
        }
    }

    private static func oauth(_ options: ClientOptionsValue) throws -> OAuthSettings? {
        guard let clientID = options.clientID, let redirectURI = options.redirectURI else { return nil }
        var settings = OAuthSettings(clientID: clientID, redirectURI: redirectURI)
        if let scope = options.scope { settings.scope = scope }
        if let secret = try options.clientSecret() { settings.authentication = .clientSecretBasic(secret) }
        return settings
    }

    // MARK: Commands

    func signIn(_ input: SignInInput) async throws -> Report.Session? {
        let callbacks = PreparedOutcomes(input: input)
        let session: ForgeRockSession
        if let id = options.forgeRock.resume, !id.contains("://") {
            session = try await forgeRock.resume(
                suspendedID: Secret(id),
                identifier: options.identifier,
                answering: input.responder,
                callbacks: callbacks,
                options: options.bounding(SignInOptions())
            )
        } else if let link = options.forgeRock.resume {
            session = try await forgeRock.resume(
                link,
                identifier: options.identifier,
                answering: input.responder,
                callbacks: callbacks,
                options: options.bounding(SignInOptions())
            )
        } else {
            // What else is asked is asked by the journey: not every one wants a name or a password.
            session = try await forgeRock.signIn(
                options.forgeRock.start,
                with: options.forgeRock.journeyOptions,
                identifier: options.identifier,
                // What goes out with the first request has to be at hand.
                password: try await options.forgeRock.journeyOptions.presentsLoginAtOnce
                    ? input.preparedPassword() : input.passwordFromInput(),
                answering: input.responder,
                callbacks: callbacks,
                options: options.bounding(SignInOptions())
            )
        }
        guard session.exists else {
            if options.forgeRock.journeyOptions.skipsSession { return nil }
            // A journey that only confirms something is of no use to the commands.
            throw RecoveryError(
                outcome: Outcome(.misconfigured, processed: .yes, remedies: [.fixRequest]),
                reason: .notRecoverable
            )
        }
        if options.clientID != nil { _ = try await forgeRock.accessToken() }
        return try await described(fallback: session.username ?? options.identifier)
    }

    func status() async throws -> Report.Session {
        if let session = try await forgeRock.session() { return Report.Session(session) }
        let held = try await tokens.read().credentials
        guard options.clientID != nil, held.accessToken != nil || held.refreshToken != nil else {
            throw RecoveryError.notSignedIn
        }
        // Tokens may outlive the session that they were made with.
        let claims = try await forgeRock.userInfo()
        let expiresAt = try await tokens.read().credentials.expiresAt
        return Report.Session(id: claims["sub"]?.string ?? "", status: "active", expiresAt: expiresAt)
    }

    func send(_ request: ProviderRequest, answering input: SignInInput?) async throws -> RecoveredResponse {
        let held = try await tokens.read().credentials
        guard held.ssoToken != nil || held.accessToken != nil || held.refreshToken != nil else {
            throw RecoveryError.notSignedIn
        }
        return try await forgeRock.send(
            request,
            answering: input?.responder,
            callbacks: PreparedOutcomes(input: input),
            options: options.bounding(SignInOptions())
        )
    }

    func token(answering input: SignInInput?) async throws -> Secret {
        let held = try await tokens.read().credentials
        guard options.clientID == nil else {
            // With a session alone, tokens are obtained by it.
            guard held.accessToken != nil || held.refreshToken != nil else { return try await forgeRock.accessToken() }
            return try await forgeRock.tokens.lastingAccessToken(by: forgeRock.client) { try await forgeRock.refresh() }
        }
        // Of a session the server alone knows whether it lasts.
        guard held.ssoToken != nil, try await forgeRock.session() != nil,
            let token = try await tokens.read().credentials.ssoToken
        else { throw RecoveryError.notSignedIn }
        return token
    }

    func refresh(answering input: SignInInput?) async throws -> Report.Session {
        let held = try await tokens.read().credentials
        guard held.ssoToken != nil || held.refreshToken != nil else { throw RecoveryError.notSignedIn }
        try await forgeRock.refresh()
        return try await described(fallback: nil)
    }

    func signOut() async throws {
        try await forgeRock.signOut()
    }

    var tokenManager: TokenManager? { forgeRock.tokens }

    /// The session as the server tells it; if it cannot be asked now, what is known without.
    ///
    /// What was to be done is done already, so an outage in between does not undo it.
    private func described(fallback: String?) async throws -> Report.Session {
        do {
            if let session = try await forgeRock.session() { return Report.Session(session) }
        } catch is RecoveryError {
            try Task.checkCancellation()
        }
        let expiresAt = try await tokens.read().credentials.expiresAt
        return Report.Session(id: fallback ?? "unknown", status: "active", expiresAt: expiresAt)
    }
}

/// Puts a prepared outcome of a WebAuthn ceremony into the hidden callback.
///
/// For `unsupported`, and without a prepared one, nothing is answered here: the library says `unsupported` by itself.
struct PreparedOutcomes: JourneyCallbackResponder {
    let input: SignInInput?

    func answer(_ callback: inout JourneyCallback, in step: JourneyStep) -> Bool {
        guard callback.isWebAuthnOutcome, let outcome = input?.takeWebAuthnOutcome(),
            outcome.reveal() != "unsupported"
        else { return false }
        callback.setInput(.string(outcome.reveal()))
        return true
    }
}
