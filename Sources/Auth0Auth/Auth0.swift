public import AuthRecovery
public import HTTPRecovery
import HTTPTypes

/// An Auth0 tenant: every way to sign in that its Authentication API has, tokens, and their end.
///
/// ```swift
/// let auth0 = try Auth0(
///     tenant: "https://example.eu.auth0.com", client: client, tokens: FileTokenStore(path: path),
///     configuration: Auth0Configuration(clientID: "abc")
/// )
/// let session = try await auth0.signIn(identifier: email, password: password, answering: prompts)
/// ```
public struct Auth0: AuthProvider {
    var api: Auth0API

    /// Keeps the tokens, and renews them by the refresh token, which the tenant may rotate.
    public let tokens: TokenManager

    /// Creates a client of a tenant.
    ///
    /// - Parameters:
    ///   - tenant: The tenant's URL, or its custom domain's.
    ///   - client: Sends the requests.
    ///   - tokens: Keeps the tokens.
    ///   - configuration: Which app it is, and what it wants.
    /// - Throws: `Origin.InvalidURL` when the text is no such URL, or has a query or a fragment.
    public init(
        tenant: String,
        client: RecoveringClient,
        tokens: any TokenStore,
        configuration: Auth0Configuration
    ) throws(Origin.InvalidURL) {
        let base = try ServiceURL(tenant)
        self.init(try Auth0API(base: base, client: client, store: tokens, configuration: configuration))
    }

    init(_ api: Auth0API) {
        let grant = RefreshTokenGrant(client: api.oauth, reuse: api.configuration.reuse)
        let renewer = RefreshTokenGrant.VerifyingIDTokens(grant) { token, operation in
            try await api.within(operation).verify(token)
        }
        self.api = api
        self.tokens = TokenManager(store: api.store, renewer: renewer)
    }

    /// What accounts and credentials belong to.
    public var origin: Origin { api.base.origin }

    /// Sends the requests.
    public var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    // MARK: The session

    /// Who is signed in, as the tenant sees it now; nil if nobody is any more.
    ///
    /// - Throws: `RecoveryError` when the tenant cannot be asked; nothing is removed then. `CancellationError` as soon as
    ///   the task is cancelled.
    public func session() async throws -> Auth0Session? {
        let profile: JSONValue
        do {
            profile = try await send(path: "/userinfo").json()
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            return nil
        }
        let held = try await tokens.store.read().credentials
        return Auth0Session(
            subject: profile["sub"]?.string,
            email: profile["email"]?.string,
            expiresAt: held.expiresAt,
            identity: held.auth0Identity
        )
    }

    /// Renews the tokens, once for everybody who asks at the time.
    ///
    /// - Returns: What the new tokens tell by themselves.
    /// - Throws: `RecoveryError`: of the kind `reauthentication_required` if a person has to sign in, `step_up_required`
    ///   if the tenant wants a second factor first, which ``refresh(answering:options:)`` asks for; the refresh token stays
    ///   then. `CancellationError` as soon as the task is cancelled.
    @discardableResult
    public func refresh() async throws -> Auth0Session {
        _ = try await held()
        return try await tokens.auth0Session(renewedBy: client)
    }

    /// What is held; a session whose own end has come is forgotten.
    func held() async throws -> Credentials {
        let held = try await tokens.store.read().credentials
        guard held.isOverAtAuth0(at: client.runtime.time.wallTime) else { return held }
        return try await tokens.store.update { present in
            if present.idToken == held.idToken { present.endAuth0Session() }
        }.credentials
    }

    /// Sends a request to the tenant with the access token.
    ///
    /// - Parameters:
    ///   - request: The request; its path is below the tenant's URL.
    ///   - responder: Asked for the second factor that the tenant may want before it renews the tokens; the request, which
    ///     was refused, is sent once more then. It is shown the recovery code that takes the place of one that was used. Nil
    ///     leaves that to the caller.
    /// - Throws: `RecoveryError`; of the kind `reauthentication_required` if a person has to sign in, `step_up_required` if a
    ///   second factor is wanted and nobody can be asked. `Challenge.NoAnswer` if the responder had none;
    ///   `CancellationError` as soon as the task is cancelled.
    public func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        guard let responder else { return try await send(request) }
        return try await client.attended(
            request,
            where: { $0.kind == .stepUpRequired && $0.outcome.processed == .no },
            send: { request, operation in try await within(operation).send(request) },
            asking: { error, operation in
                let before = try await tokens.store.read().credentials.auth0Mark
                let session = try await within(operation).refresh(answering: responder)
                if let code = session.recoveryCode {
                    await responder.show(Auth0SignInMachine.newRecoveryCode(code, "The old one is used up."))
                }
                guard try await tokens.store.read().credentials.auth0Mark == before else {
                    var error = error
                    error.reason = .identityChanged
                    throw error
                }
                return request
            }
        )
    }

    private func send(_ request: ProviderRequest) async throws -> RecoveredResponse {
        let held = try await held()
        guard held.accessToken != nil || held.refreshToken != nil else { throw RecoveryError.signedOut }
        var wanted = api.base.request(request.method, path: request.path, query: request.query)
        wanted.headerFields = request.headerFields
        let body = request.body?.body(typedIn: &wanted.headerFields)
        var options = RequestOptions()
        options.resend = request.resend
        options.classifier = Auth0Classifier()
        options.presents = .access
        let dpop = api.configuration.dpop
        options.attemptLayers = [dpop?.layer(for: tokens, at: origin) ?? Authorization(tokens, audience: [origin])]
        options.policies = [SessionRenewal(tokens)]
        if dpop != nil { options.policies.insert(DPoPAuthorization.NonceRetry(), at: 0) }
        return try await client.send(wanted, body: body, options: options)
    }

    /// Signs out: revokes the refresh token, and forgets it and the access token, which lives on until its end.
    ///
    /// A browser's session is ended in the browser, by ``endSessionURL(redirectURI:state:isFederated:)``, which is asked
    /// for before this forgets the ID token.
    ///
    /// Tokens that a renewal brings meanwhile are of the same session: they are revoked, too. What somebody has signed in
    /// with meanwhile stays.
    ///
    /// - Returns: That the tenant knows, as far as there was something to tell it.
    /// - Throws: `RecoveryError` when the tenant could not be told; the tokens are still held then. `CancellationError` as
    ///   soon as the task is cancelled.
    @discardableResult
    public func signOut() async throws -> SignOutResult {
        let first = try await tokens.store.read().credentials
        var held = first
        // A renewal that is under way rotates once; more would be somebody else's doing.
        for _ in 0..<3 {
            if let token = held.refreshToken { try await revoke(token) }
            let revoked = held
            let present = try await tokens.store.update { present in
                guard present.refreshToken == revoked.refreshToken else { return }
                present.endAuth0Session()
            }
            held = present.credentials
            guard held.refreshToken != nil, held.auth0Mark == first.auth0Mark else { break }
        }
        return .ended
    }

    private func revoke(_ token: Secret) async throws {
        _ = try await api.send(
            Auth0API.Call(
                path: "/oauth/revoke",
                members: [JSONValue.Member("token", .string(token.reveal()))],
                // Revoking twice revokes once.
                resend: .replayable
            )
        )
    }
}
