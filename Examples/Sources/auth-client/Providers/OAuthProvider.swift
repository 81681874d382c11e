import AuthRecovery
import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// Any OAuth 2 server: the device flow, or an authorization code by a browser, and bearer tokens that are renewed.
struct OAuthProvider: ProviderCommands {
    private let options: ClientOptionsValue
    private let redirectURI: String?
    private let clientID: String
    private let endpoints: OAuthEndpoints
    private let tokens: TokenManager
    /// Presents the access token to the base URL.
    private let api: RecoveringClient
    private let makeClient: @Sendable (TokenManager, Origin) -> RecoveringClient

    init(_ setup: ProviderSetup) throws {
        options = setup.options
        redirectURI = setup.redirectURI
        guard let clientID = setup.options.clientID else { throw InputError("--client-id is missing") }
        self.clientID = clientID
        endpoints = try OAuthEndpoints(setup, clientID: clientID)
        tokens = TokenManager(store: setup.tokens, renewer: endpoints)
        makeClient = setup.makeClient
        api = setup.makeClient(tokens, try Self.origin(setup.options.baseURL))
    }

    private static func origin(_ url: String) throws -> Origin {
        Origin(of: try HTTPRequest(url: url))
    }

    // MARK: Commands

    func signIn(_ input: SignInInput) async throws -> Report.Session? {
        let answer = try await obtain(input)
        let stored = try await tokens.store.update { $0 = answer.merged(into: Credentials(others: $0.others)) }
        return session(stored.credentials, idToken: answer.idToken)
    }

    private func obtain(_ input: SignInInput) async throws -> OAuthClient.TokenAnswer {
        if let redirectURI {
            let oauth = try await endpoints.client(for: .token, .authorization)
            let request = try oauth.authorizationRequest(redirectURI: redirectURI, scope: options.scope)
            let factor = Factor(key: .redirect, providerName: "authorization_code")
            let visit = Challenge(factor: factor, url: Secret(request.url))
            guard case .text(let url) = try await input.responder.answer(visit) else {
                throw Challenge.NoAnswer(.redirect)
            }
            return try await oauth.tokens(for: request, redirectedTo: url.reveal())
        }
        let oauth = try await endpoints.client(for: .token, .deviceAuthorization)
        let device = try await oauth.authorizeDevice(scope: options.scope)
        input.tell("To sign in, open \(device.verificationURI)")
        input.tell("and enter the code  \(device.userCode)")
        if let url = device.verificationURIComplete { input.tell("or open \(url)") }
        return try await oauth.tokens(for: device)
    }

    func status() async throws -> Report.Session {
        let credentials = try await held()
        let server = try await endpoints.client(for: .userInfo).server
        guard let url = server[.userInfo] else { return session(credentials) }
        let directory = makeClient(tokens, try Self.origin(url))
        // The server knows best; a token that has expired is renewed on the way.
        let response = try await directory.send(HTTPRequest(url: url))
        let person = try? JSONValue(parsing: try await response.body.collect(upTo: 1 << 20))
        return session(try await held(), subject: person?["sub"]?.string)
    }

    func send(_ wanted: ProviderRequest, answering input: SignInInput?) async throws -> RecoveredResponse {
        _ = try await held()
        let base = options.baseURL.hasSuffix("/") ? String(options.baseURL.dropLast()) : options.baseURL
        let url = base + (wanted.path.hasPrefix("/") ? wanted.path : "/\(wanted.path)")
        var request: HTTPRequest
        do {
            request = try HTTPRequest(method: wanted.method, url: url)
        } catch {
            throw InputError("the path: \(error)")
        }
        request.headerFields = wanted.headerFields
        let body = wanted.body?.body(typedIn: &request.headerFields)
        return try await api.send(
            request,
            body: body,
            options: RequestOptions(resend: wanted.resend, classifier: OAuthClassifier())
        )
    }

    func token(answering input: SignInInput?) async throws -> Secret {
        try await tokens.lastingAccessToken(by: api) { try await tokens.renew(by: api) }
    }

    func refresh(answering input: SignInInput?) async throws -> Report.Session {
        _ = try await held()
        let context = CallContext(runtime: api.runtime)
        return session(try await tokens.renew(context).credentials)
    }

    func signOut() async throws {
        let credentials = try await tokens.store.read().credentials
        let oauth = try await endpoints.client(for: .revocation)
        if oauth.server[.revocation] != nil {
            // With the refresh token goes what was issued with it; without one the access token itself.
            if let token = credentials.refreshToken {
                try await oauth.revoke(token, hint: .refresh)
            } else if let token = credentials.accessToken {
                try await oauth.revoke(token, hint: .access)
            }
        }
        try await tokens.store.update { present in
            // What somebody has signed in with meanwhile stays.
            guard present.refreshToken == credentials.refreshToken else { return }
            present.remove(.refresh)
            present.remove(.access)
        }
    }

    var tokenManager: TokenManager? { tokens }

    /// The credentials; throws if there are none.
    private func held() async throws -> Credentials {
        let credentials = try await tokens.store.read().credentials
        guard credentials.accessToken != nil || credentials.refreshToken != nil else {
            throw RecoveryError.notSignedIn
        }
        return credentials
    }

    private func session(
        _ credentials: Credentials,
        idToken: Secret? = nil,
        subject: String? = nil
    ) -> Report.Session {
        let name = subject ?? idToken.flatMap { UnverifiedJWT($0)?.subject } ?? clientID
        return Report.Session(id: name, status: "active", expiresAt: credentials.expiresAt)
    }
}
