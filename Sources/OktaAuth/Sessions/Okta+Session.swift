public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

extension Okta {
    // MARK: The session

    /// The session that the store holds, as the server sees it now; nil if there is none any more.
    ///
    /// An org's session is read; of an app's tokens, the access token is asked about, and renewed first if it has
    /// expired. What the server says is over is removed from the store.
    ///
    /// - Throws: `RecoveryError` when the server cannot be asked; nothing is removed then. `CancellationError` as soon as
    ///   the task is cancelled.
    public func session() async throws -> OktaSession? {
        let held = try await tokens.store.read().credentials
        do {
            if let app = api.configuration.app {
                guard held.accessToken != nil || held.refreshToken != nil else { return nil }
                return try await api.client.operation { try await currentTokens(of: app, in: $0) }
            }
            guard held.sessionID != nil else { return nil }
            return try await currentOrgSession()
        } catch let error as RecoveryError where Self.saysGone(error) {
            return nil
        }
    }

    /// Sends a request with the session's credential: the app's access token, else the org's session.
    ///
    /// An access token that was refused is renewed, once for everybody, and the request sent once more. What the server
    /// has definitely refused and nothing can renew is removed from the store.
    ///
    /// Where a stronger or a fresher sign-in is wanted, the person signs in again as is advised, once, and the
    /// request, which was refused, is sent once more with the tokens of that. They have all the time they need, and
    /// what is sent then is a call with bounds of its own, as far as no operation around sets them. Nobody but the
    /// person who is signed in, as their tokens name them, gets through: a request is not sent again as somebody else.
    ///
    /// - Parameters:
    ///   - request: The request; its path is below the org's URL, such as `/api/v1/users/me`.
    ///   - responder: Asked if a step-up is wanted, for an app's tokens; nil leaves that to the caller
    ///     (``demanding(_:)``).
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in,
    ///   `step_up_required` if they have to do it more strongly and nobody can be asked. `Challenge.NoAnswer` if the
    ///   responder had none; `CancellationError` as soon as the task is cancelled.
    public func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        guard let responder, api.configuration.app != nil else { return try await send(request) }
        return try await client.attended(
            request,
            where: { error in
                error.kind == .stepUpRequired && error.outcome.processed == .no
                    && request.body?.body.canBeRead ?? true
            },
            send: { request, operation in try await within(operation).send(request) },
            asking: { error, operation in
                try await within(operation).stepUp(because: error, answering: responder)
                return request
            }
        )
    }

    private func send(_ request: ProviderRequest) async throws -> RecoveredResponse {
        var call = OktaAPI.Call(
            request: api.org.request(request.method, path: request.path, query: request.query),
            content: request.body,
            resend: request.resend,
            purpose: .plain
        )
        call.request.headerFields = request.headerFields
        return try await send(call)
    }

    /// Renews what can be renewed: the app's tokens, or the time that the org's session lasts.
    ///
    /// - Returns: The session then.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if nothing is held that could be renewed.
    ///   `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func refresh() async throws -> OktaSession {
        guard api.configuration.app == nil else {
            return try await api.client.operation { operation in
                Self.session(of: try await tokens.renew(operation.context).credentials)
            }
        }
        let call = OktaAPI.Call(
            request: api.org.request(.post, path: "/api/v1/sessions/me/lifecycle/refresh"),
            // Renewing it twice renews it once.
            resend: .replayable,
            purpose: .plain
        )
        return try await session(in: send(call))
    }

    /// Signs out: revokes the app's tokens, ends the org's session, and forgets them.
    ///
    /// What the server does not know any more counts as ended.
    ///
    /// - Throws: `RecoveryError` when the server could not be told; the store still holds them then, so that signing out
    ///   can be tried again. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        try await api.client.operation { try await signOut(in: $0) }
        return .ended
    }

    // MARK: How

    private func send(_ call: OktaAPI.Call) async throws -> RecoveredResponse {
        var call = call
        let held = try await tokens.store.read().credentials
        let kind: Outcome.CredentialKind = api.configuration.app == nil ? .session : .access
        guard held[kind] != nil || (kind == .access && held.refreshToken != nil) else {
            throw RecoveryError.signedOut
        }
        call.presents = kind
        call.layers =
            kind == .session
            ? [OktaSessionCookie(tokens: tokens.store)]
            : [
                api.configuration.app?.dpop?.layer(for: tokens, at: api.org.origin)
                    ?? Authorization(tokens, audience: [api.org.origin])
            ]
        // Okta's codes say which credential is over, with a 401, a 403 or a 404 alike.
        call.policies = [SessionRenewal(tokens) { $0.credential == kind && $0.tokenAction == .clear }]
        if api.configuration.app?.dpop != nil { call.policies.insert(DPoPAuthorization.NonceRetry(), at: 0) }
        return try await api.send(call)
    }

    private func signOut(in operation: RecoveryOperation) async throws {
        let held = try await tokens.store.read().credentials
        if let app = api.configuration.app {
            let oauth = try api.oauth(for: app, by: api.client.within(operation))
            if let token = held.refreshToken { try await oauth.revoke(token, hint: .refresh) }
            if let token = held.accessToken { try await oauth.revoke(token, hint: .access) }
            try await forget(.refresh, of: held, in: operation)
            try await forget(.access, of: held, in: operation)
            if let idToken = held.idToken { try await end(idToken, of: app, in: operation) }
        }
        guard held.sessionID != nil else { return }
        do {
            let call = OktaAPI.Call(
                request: api.org.request(.delete, path: "/api/v1/sessions/me"),
                resend: .replayable,
                purpose: .plain,
                layers: [OktaSessionCookie(tokens: tokens.store)]
            )
            _ = try await api.within(operation).send(call)
        } catch let error as RecoveryError where Self.saysGone(error) {
            // That is what was wanted.
        }
        try await forget(.session, of: held, in: operation)
    }

    /// Ends the session of an ID token, as far as that is known at the server, and forgets the token.
    private func end(_ idToken: Secret, of app: OktaApp, in operation: RecoveryOperation) async throws {
        do {
            var call = OktaAPI.Call(
                request: api.endSession(idToken, for: app, redirectURI: nil, state: nil),
                resend: .replayable,
                purpose: .plain
            )
            call.presents = .id
            _ = try await api.within(operation).waiting(atMost: .zero).send(call)
        } catch is RecoveryError {
            // The tokens are revoked; a browser's session that nobody here holds is ended where the browser is.
            try Task.checkCancellation()
        }
        try await tokens.store.update { credentials in
            if credentials.idToken == idToken { credentials.idToken = nil }
        }
    }

    /// The address that ends the session of the person's browser, for an app that has sent them to a page of the org's:
    /// the browser opens it, and comes back.
    ///
    /// It has to be asked for before signing out, which forgets the ID token.
    ///
    /// - Parameters:
    ///   - redirectURI: Where the browser comes back, as it is registered; nil leaves it at the org.
    ///   - state: What comes back with it.
    /// - Returns: Nil without an ID token.
    /// - Throws: What the store throws; `CancellationError` as soon as the task is cancelled.
    public func endSessionURL(redirectURI: String? = nil, state: Secret? = nil) async throws -> Secret? {
        guard let app = api.configuration.app, let idToken = try await tokens.store.read().credentials.idToken else {
            return nil
        }
        let request = api.endSession(idToken, for: app, redirectURI: redirectURI, state: state)
        return Secret("\(api.org.origin)\(request.path ?? "/")")
    }

    private func currentOrgSession() async throws -> OktaSession {
        try await session(
            in: send(
                OktaAPI.Call(
                    request: api.org.request(.get, path: "/api/v1/sessions/me"),
                    resend: .byMethod,
                    purpose: .plain
                )
            )
        )
    }

    private func session(in response: RecoveredResponse) throws -> OktaSession {
        guard let bytes = response.body.bytesInMemory, let json = try? JSONValue(parsing: Array(bytes)),
            let session = OktaSession(json)
        else { throw RecoveryError(.unreadable, in: response) }
        return session
    }

    private func currentTokens(of app: OktaApp, in operation: RecoveryOperation) async throws -> OktaSession? {
        let held = try await tokens.credentials(for: operation.context).credentials
        guard let token = held.accessToken else { return nil }
        let oauth = try api.oauth(for: app, by: api.client.within(operation))
        let introspection = try await oauth.introspect(token, hint: .access)
        guard introspection.isActive else {
            try await forget(.access, of: held, in: operation)
            // It was the word on that token alone.
            guard held.refreshToken != nil else { return nil }
            return Self.session(of: try await tokens.renew(operation.context).credentials)
        }
        var session = Self.session(of: held)
        session.userID = introspection.claims["uid"]?.string ?? introspection.subject
        session.login = introspection.claims["username"]?.string
        session.expiresAt = introspection.expiresAt ?? held.expiresAt
        return session
    }

    /// What an app's tokens tell by themselves.
    private static func session(of credentials: Credentials) -> OktaSession {
        let claims = credentials.accessToken.flatMap { UnverifiedJWT($0) }
        let identity = credentials.idToken.flatMap(OAuthClient.IDToken.init)
        return OktaSession(
            userID: claims?.claims["uid"]?.string ?? claims?.subject ?? identity?.subject,
            status: "ACTIVE",
            expiresAt: credentials.expiresAt,
            idToken: identity
        )
    }

    private func forget(
        _ kind: Outcome.CredentialKind,
        of held: Credentials,
        in operation: RecoveryOperation
    ) async throws {
        guard let version = held.version(of: kind) else { return }
        if try await tokens.store.clear(kind, ifVersion: version) { operation.emit(.clear(kind)) }
    }

    /// Whether an error says that there is no such session any more.
    private static func saysGone(_ error: RecoveryError) -> Bool {
        switch error.kind {
        case .credentialRejected: error.outcome.credential == .session || error.outcome.credential == .access
        case .reauthenticationRequired: true
        default: false
        }
    }
}
