import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The Authentication API of a tenant.
struct Auth0API: ClientBound, Sendable {
    let base: ServiceURL
    let configuration: Auth0Configuration
    /// Where tokens are kept.
    let store: any TokenStore
    /// What every OAuth server has: the login page, codes, renewal.
    ///
    /// It holds the client, too.
    private(set) var oauth: OAuthClient
    /// Whose sign-in the calls belong to, so that a lockout holds them back; nil outside of one.
    var account: String?
    /// For whom a server asks, so that blocks count against their address; nil for a program on the person's machine.
    var forwardedFor: String?

    init(
        base: ServiceURL,
        client: RecoveringClient,
        store: any TokenStore,
        configuration: Auth0Configuration
    ) throws(Origin.InvalidURL) {
        self.base = base
        self.configuration = configuration
        self.store = store
        oauth = OAuthClient(
            server: try OAuthServer(endpoints: [
                .authorization: "\(base)/authorize", .token: "\(base)/oauth/token",
                .revocation: "\(base)/oauth/revoke", .deviceAuthorization: "\(base)/oauth/device/code",
            ]),
            clientID: configuration.clientID,
            authentication: configuration.clientSecret.map { .clientSecretPost($0) } ?? .none,
            client: client,
            classifier: Auth0Classifier()
        )
    }

    var client: RecoveringClient {
        get { oauth.client }
        set { oauth.client = newValue }
    }

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
        if let forwardedFor, let name = HTTPField.Name("auth0-forwarded-for") {
            request.headerFields[name] = forwardedFor
        }
        if let bearer = call.bearer {
            var field = HTTPField(name: .authorization, value: "Bearer \(bearer.reveal())")
            field.indexingStrategy = .disallow
            request.headerFields[fields: .authorization] = [field]
        }
        let content = call.method == .post ? ProviderRequest.Content.json(.object(identified(call.members))) : nil
        let body = content?.body(typedIn: &request.headerFields)
        var options = RequestOptions()
        options.resend = call.resend
        options.account = account
        options.sendBy = call.sendBy
        options.presents = call.presents
        options.credentialID = "client \(configuration.clientID)"
        options.followsRedirects = false
        options.classifier = classifier(isPoll: call.isPoll)
        return try await Self.withoutResync {
            try await client.send(request, body: body, options: options)
        }
    }

    /// Obtains tokens for what an OAuth server takes of a browser.
    func tokens(_ grant: OAuthClient.Grant) async throws -> OAuthClient.TokenAnswer {
        try await Self.withoutResync { try await oauth.tokens(grant) }
    }

    private static func withoutResync<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch var error as RecoveryError {
            if error.outcome.processed != .no { error.outcome.remedies.removeAll { $0 == .resync } }
            throw error
        }
    }

    private func classifier(isPoll: Bool) -> any OutcomeClassifier {
        guard isPoll else { return Auth0Classifier() }
        let name = { @Sendable (method: HTTPRequest.Method, path: String) in "poll \(method.rawValue) \(path)" }
        return AdjustedClassifier(Auth0Classifier(), endpointClass: name) { outcome, _ in
            switch outcome.kind {
            // The flow goes on: it would be misleading if those who watch saw failures.
            case .challengePending: outcome.kind = .continue
            // Nobody has typed anything: the word of a wrong code is that of a person who has refused.
            case .challengeIncorrect: outcome.kind = .declined
            default: break
            }
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

    // MARK: The end of a sign-in

    /// Stores the tokens before anyone uses them; what belongs to somebody else goes.
    ///
    /// - Throws: ``Auth0UnkeptRecoveryCode`` if there is a new recovery code, and it could not be stored with what.
    func keep(_ answer: OAuthClient.TokenAnswer) async throws -> Auth0Session {
        let recoveryCode = answer.others.first { $0.key == "recovery_code" }?.value.string.map { Secret($0) }
        let now = time.wallTime
        do {
            try await store.keep { stored in
                var fresh = Credentials(
                    others: stored.others.filter { $0.key != Auth0.mark && $0.key != Auth0.idToken }
                )
                // Tells this sign-in from the next, however often its tokens are renewed.
                fresh.others.append(JSONValue.Member(Auth0.mark, .string(now.rfc3339)))
                // What stands there is kept up to date by renewals.
                if let token = answer.idToken {
                    fresh.others.append(JSONValue.Member(Auth0.idToken, .string(token.reveal())))
                }
                stored = answer.merged(into: fresh)
            }
        } catch {
            // It is told nowhere else, and the old one is used up.
            throw recoveryCode.map { Auth0UnkeptRecoveryCode($0, cause: error) } ?? error
        }
        return Auth0Session(answer, recoveryCode: recoveryCode)
    }

    /// The tokens in an answer that was accepted.
    func tokens(in response: RecoveredResponse) async throws -> OAuthClient.TokenAnswer {
        let clock = ServerClock(response.headerFields, receivedAt: time.wallTime)
        guard let answer = OAuthClient.TokenAnswer(try await response.json(), date: clock.now) else {
            throw RecoveryError(.unreadable, in: response)
        }
        return answer
    }
}
