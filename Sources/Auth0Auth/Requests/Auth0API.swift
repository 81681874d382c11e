import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The Authentication API of a tenant.
struct Auth0API: Sendable {
    let base: ServiceURL
    var client: RecoveringClient
    let configuration: Auth0Configuration

    /// What one call is.
    struct Call {
        var method = HTTPRequest.Method.post
        var path: String
        /// The members of the body; the client's own are added to those of a POST.
        var members: [JSONValue.Member] = []
        var presents: Outcome.CredentialKind?
        /// A credential that goes into the `Authorization` field.
        var bearer: Secret?
        var resend = RequestOptions.ResendPermission.spending
        /// The account that a lockout holds for.
        var account: String?
        /// When what is presented ends, and what the tenant would say then.
        var sendBy: RequestOptions.SendBy?
        /// Whether "not yet" is a good answer.
        var isPoll = false
    }

    /// Performs a call.
    ///
    /// - Throws: `RecoveryError`. One that leaves open whether the tenant has done something has no remedy that would do it
    ///   again: there is nothing that tells where a sign-in stands.
    func send(_ call: Call) async throws -> RecoveredResponse {
        var request = base.request(call.method, path: call.path)
        request.headerFields[.accept] = "application/json"
        if let bearer = call.bearer {
            var field = HTTPField(name: .authorization, value: "Bearer \(bearer.reveal())")
            field.indexingStrategy = .disallow
            request.headerFields[fields: .authorization] = [field]
        }
        let content = call.method == .post ? ProviderRequest.Content.json(.object(identified(call.members))) : nil
        let body = content?.body(typedIn: &request.headerFields)
        var options = RequestOptions()
        options.resend = call.resend
        options.account = call.account
        options.sendBy = call.sendBy
        options.presents = call.presents
        options.credentialID = "client \(configuration.clientID)"
        options.followsRedirects = false
        options.classifier = classifier(isPoll: call.isPoll)
        do {
            return try await client.send(request, body: body, options: options)
        } catch var error as RecoveryError {
            if error.outcome.processed != .no { error.outcome.remedies.removeAll { $0 == .resync } }
            throw error
        }
    }

    private func classifier(isPoll: Bool) -> any OutcomeClassifier {
        guard isPoll else { return Auth0Classifier() }
        let name = { @Sendable (method: HTTPRequest.Method, path: String) in "poll \(method.rawValue) \(path)" }
        return AdjustedClassifier(Auth0Classifier(), endpointClass: name) { outcome, _ in
            // The flow goes on: it would be misleading if those who watch saw failures.
            if outcome.kind == .challengePending { outcome.kind = .continue }
        }
    }

    /// The members with who the client is.
    private func identified(_ members: [JSONValue.Member]) -> [JSONValue.Member] {
        var own = [JSONValue.Member("client_id", .string(configuration.clientID))]
        if let secret = configuration.clientSecret {
            own.append(JSONValue.Member("client_secret", .string(secret.reveal())))
        }
        return own + members
    }

    // MARK: Grants

    /// Presents name and password; spent by every answer but a refusal that says so.
    func password(_ identifier: String, _ password: Secret) async throws -> RecoveredResponse {
        var members: [JSONValue.Member] = [
            JSONValue.Member("username", .string(identifier)), JSONValue.Member("password", .string(password.reveal())),
            JSONValue.Member("scope", .string(configuration.scope)),
        ]
        if let audience = configuration.audience { members.append(JSONValue.Member("audience", .string(audience))) }
        var type = "password"
        if let realm = configuration.realm {
            type = "http://auth0.com/oauth/grant-type/password-realm"
            members.append(JSONValue.Member("realm", .string(realm)))
        }
        var call = grant(type, members)
        call.account = LockoutLedger.account(for: identifier)
        return try await send(call)
    }

    /// Presents the answer of a second factor, or asks whether it was given on another device.
    ///
    /// - Parameters:
    ///   - name: The grant's name, such as `mfa-otp`.
    ///   - token: The mfa token.
    ///   - members: What the grant has beside.
    ///   - isPoll: Whether nothing is spent by it.
    func factor(
        _ name: String,
        _ token: MFAToken,
        _ members: [JSONValue.Member],
        isPoll: Bool = false
    ) async throws -> RecoveredResponse {
        var call = grant(
            "http://auth0.com/oauth/grant-type/\(name)",
            [JSONValue.Member("mfa_token", .string(token.value.reveal()))] + members
        )
        call.presents = .state
        call.sendBy = token.sendBy
        call.isPoll = isPoll
        if isPoll { call.resend = .replayable }
        return try await send(call)
    }

    private func grant(_ type: String, _ members: [JSONValue.Member]) -> Call {
        Call(path: "/oauth/token", members: [JSONValue.Member("grant_type", .string(type))] + members)
    }

    // MARK: Second factors

    /// What the person has enrolled and can use.
    func authenticators(_ token: MFAToken) async throws -> [Auth0Authenticator] {
        let response = try await send(
            Call(
                method: .get,
                path: "/mfa/authenticators",
                presents: .state,
                bearer: token.value,
                resend: .byMethod,
                sendBy: token.sendBy
            )
        )
        guard let list = try await response.json().array else { throw RecoveryError(.unreadable, in: response) }
        return list.prefix(64).compactMap { Auth0Authenticator($0) }
    }

    /// Has a code or a push sent.
    func challenge(_ authenticator: String, _ token: MFAToken) async throws -> Auth0Challenge {
        let response = try await send(
            Call(
                path: "/mfa/challenge",
                members: [
                    JSONValue.Member("mfa_token", .string(token.value.reveal())),
                    JSONValue.Member("challenge_type", "oob"),
                    JSONValue.Member("authenticator_id", .string(authenticator)),
                ],
                presents: .state,
                sendBy: token.sendBy
            )
        )
        guard let challenge = Auth0Challenge(try await response.json()) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return challenge
    }
}
