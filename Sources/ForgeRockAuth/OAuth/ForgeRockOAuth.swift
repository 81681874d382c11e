import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The OAuth 2 side of PingAM: exchanges the session for tokens, without a browser.
struct ForgeRockOAuth: Sendable, ClientBound {
    private(set) var api: ForgeRockAPI
    let settings: OAuthSettings
    private let server: OAuthServer

    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    init(api: ForgeRockAPI, settings: OAuthSettings) throws(Origin.InvalidURL) {
        self.api = api
        self.settings = settings
        let base = api.server.origin.description
        server = try OAuthServer(endpoints: [
            .token: base + api.server.oauth("access_token"), .authorization: base + api.server.oauth("authorize"),
            .revocation: base + api.server.oauth("token/revoke"),
            .introspection: base + api.server.oauth("introspect"), .userInfo: base + api.server.oauth("userinfo"),
            .endSession: base + api.server.oauth("connect/endSession"),
        ])
    }

    /// The client for one purpose, which interceptors are told.
    func client(for action: ForgeRockAction) -> OAuthClient {
        OAuthClient(
            server: server,
            clientID: settings.clientID,
            authentication: settings.authentication,
            client: client,
            attemptLayers: api.interception(of: action)
        )
    }

    /// Presents the refresh token once.
    func refresh(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        let grant = RefreshTokenGrant(client: client(for: .refreshToken), reuse: settings.reuse)
        return try await grant.renew(credentials, in: operation)
    }

    /// Exchanges a session for tokens: an authorization code by the session's cookie and PKCE, then the tokens.
    ///
    /// - Throws: `RecoveryError`; one that refuses the session only if the server definitely says that it is dead.
    func exchange(_ session: Secret) async throws -> OAuthClient.TokenAnswer {
        let oauth = client(for: .exchangeToken)
        let request = try oauth.authorizationRequest(redirectURI: settings.redirectURI, scope: settings.scope)
        let query = request.url.split(separator: "?", maxSplits: 1).last.map(String.init) ?? ""
        var form = FormFields(parsing: query.utf8)
        form.add("decision", "allow")
        form.add("csrf", secret: session)
        let response: RecoveredResponse
        do {
            response = try await api.send(
                ForgeRockAPI.Call(
                    path: api.server.oauth("authorize"),
                    form: form,
                    action: .authorize,
                    presents: .session,
                    session: session,
                    // A code more that nobody uses does no harm.
                    resend: .replayable,
                    followsRedirects: false
                )
            )
        } catch let error as RecoveryError where error.outcome.code == "login_required" {
            throw try await unaccepted(session, error)
        } catch let error as RecoveryError
            where error.kind != .unknown && error.outcome.status.map((300..<400).contains) == true
        {
            // The way to the sign-in: a session that lives has to be made stronger there.
            let more = error.response.map { RecoveryError(.userActionRequired, [.visitProvider], in: $0) } ?? error
            throw try await unaccepted(session, more)
        }
        guard (300..<400).contains(response.status.code),
            let location = response.headerFields[values: .location].first, isRedirect(location)
        else {
            // A page to sign in or to consent at, or the way there.
            let error = RecoveryError(.userActionRequired, [.visitProvider], in: response)
            throw try await unaccepted(session, error)
        }
        return try await oauth.tokens(for: request, redirectedTo: location)
    }

    /// Revokes a token.
    func revoke(_ token: Secret, kind: Outcome.CredentialKind) async throws {
        try await client(for: .revokeToken).revoke(token, hint: kind)
    }

    /// Ends the session that an ID token was made for (OpenID Connect RP-Initiated Logout).
    ///
    /// Nobody is sent anywhere afterwards: what the server redirects to is not followed.
    func endSession(_ idToken: Secret) async throws {
        _ = try await api.send(
            ForgeRockAPI.Call(
                method: .get,
                path: endSessionPath(idToken),
                action: .endSession,
                presents: .id,
                resend: .replayable,
                followsRedirects: false
            )
        )
    }

    /// The path that ends a session, with its query.
    func endSessionPath(_ idToken: Secret, redirectURI: String? = nil, state: Secret? = nil) -> String {
        var query = FormFields()
        query.add("id_token_hint", secret: idToken)
        if let redirectURI { query.add("post_logout_redirect_uri", redirectURI) }
        if let state { query.add("state", secret: state) }
        return "\(api.server.oauth("connect/endSession"))?\(query.encoded)"
    }

    /// Whether a location is the client's own redirect URI.
    private func isRedirect(_ location: String) -> Bool {
        guard location.hasPrefix(settings.redirectURI) else { return false }
        let rest = location.dropFirst(settings.redirectURI.count)
        return rest.isEmpty || rest.hasPrefix("?") || rest.hasPrefix("&") || rest.hasPrefix("#")
    }

    /// What it means that the session was not enough: that it is dead, if the server says so when asked; else the error.
    private func unaccepted(_ session: Secret, _ error: RecoveryError) async throws -> RecoveryError {
        do {
            guard try await api.information(on: session) == nil else { return error }
        } catch let doubt as RecoveryError where doubt.refusesSession {
            return error
        }
        var dead = error
        dead.outcome.kind = .credentialRejected
        dead.outcome.credential = .session
        dead.outcome.scope = .credential
        dead.outcome.tokenAction = .clear
        dead.outcome.remedies = [.reauthenticate]
        return dead
    }
}
