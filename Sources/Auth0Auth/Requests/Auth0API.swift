import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// The Authentication API of a tenant.
struct Auth0API: ClientBound, Sendable {
    let base: ServiceURL
    var configuration: Auth0Configuration
    /// Where tokens are kept.
    var store: any TokenStore
    /// What every OAuth server has: the login page, codes, renewal.
    ///
    /// It holds the client, too.
    private(set) var oauth: OAuthClient
    /// The keys that the tenant signs with, as far as they are known.
    let knownKeys = OAuthClient.IDTokenKeys()
    /// What its answers with tokens have told of the tenant's clock.
    let clocks = ServerClocks(capacity: 1)
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
        let layers: [(any ClientLayer)?] = [
            ServerClocks.Learning(clocks), configuration.dpop?.layer(at: base.origin),
        ]
        oauth = OAuthClient(
            server: try OAuthServer(
                issuer: configuration.issuer ?? "\(base)/",
                endpoints: [
                    .authorization: "\(base)/authorize", .token: "\(base)/oauth/token",
                    .revocation: "\(base)/oauth/revoke", .deviceAuthorization: "\(base)/oauth/device/code",
                ]
            ),
            clientID: configuration.clientID,
            authentication: configuration.proof,
            client: client,
            attemptLayers: layers.compactMap(\.self),
            classifier: Auth0Classifier()
        )
        if configuration.dpop != nil { oauth.policies = [DPoPAuthorization.NonceRetry()] }
    }

    var client: RecoveringClient {
        get { oauth.client }
        set { oauth.client = newValue }
    }

    /// Who issues the tenant's tokens.
    var issuer: String { configuration.issuer ?? "\(base)/" }

    /// What one call is.
    struct Call {
        var method = HTTPRequest.Method.post
        var path: String
        /// The members of the body; the client's proof is added to those of a POST.
        var members: [JSONValue.Member] = []
        var presents: Outcome.CredentialKind?
        /// A credential that goes into the `Authorization` field.
        var bearer: Secret?
        var resend = RequestOptions.ResendPermission.spending
        /// When what is presented ends, and what the tenant would say then.
        var sendBy: RequestOptions.SendBy?
        /// What its answers mean beside what they mean everywhere.
        var reading = Reading.plain
    }

    /// How the answers of a call are read.
    enum Reading {
        case plain
        /// "Not yet" is a good answer.
        case poll
        /// Nobody has typed anything that could be wrong.
        case passkey
        /// What could be wrong is a token.
        case exchange
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
        let members = call.members
        let content = { @Sendable (proof: FormFields) -> MessageBody in
            let own = proof.names.map { name in
                JSONValue.Member(name, .string(proof[name].last?.reveal() ?? ""))
            }
            return MessageBody(JSONValue.object(own + members).description)
        }
        var options = RequestOptions()
        if call.method == .post {
            request.headerFields[.contentType] = "application/json"
            options.attemptLayers = [oauth.proof(beside: call.bearer, in: content)]
            // Tokens are bound where they are issued; what else the tenant is asked has no token of that kind.
            if call.path == "/oauth/token" {
                options.attemptLayers += oauth.attemptLayers
                options.policies = oauth.policies
            }
        } else if let bearer = call.bearer {
            var field = HTTPField(name: .authorization, value: "Bearer \(bearer.reveal())")
            field.indexingStrategy = .disallow
            request.headerFields[fields: .authorization] = [field]
        }
        // What the engine looks at; each attempt writes its own.
        let body = call.method == .post ? content(FormFields()) : nil
        options.resend = call.resend
        options.account = account
        options.sendBy = call.sendBy
        options.presents = call.presents
        options.credentialID = "client \(configuration.clientID)"
        options.followsRedirects = false
        options.classifier = classifier(call.reading)
        return try await Self.once(spending: call.resend == .spending) {
            try await client.send(request, body: body, options: options)
        }
    }

    /// Obtains tokens for what an OAuth server takes of a browser.
    func tokens(_ grant: OAuthClient.Grant) async throws -> OAuthClient.TokenAnswer {
        try await Self.once { try await oauth.tokens(grant) }
    }

    /// Does something once: an error that leaves open whether it was done has no remedy that would do it again.
    ///
    /// What was presented may be asked for.
    private static func once<Result>(
        spending isSpending: Bool = true,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch var error as RecoveryError where isSpending && error.outcome.processed != .no {
            let others = error.remedies.filter { $0 != .retry && $0 != .resync }
            if others != error.remedies { error.outcome.remedies = [.askUser] + others }
            throw error
        }
    }

    private func classifier(_ reading: Reading) -> any OutcomeClassifier {
        // A limit that states no end is not waited out with the code in hand, which would count again: another factor
        // helps sooner.
        let base = AdjustedClassifier(Auth0Classifier()) { outcome, _ in
            if outcome.remedies == [.wait, .switchFactor] { outcome.remedies = [.switchFactor, .wait] }
        }
        switch reading {
        case .plain: return base
        case .poll:
            let name = { @Sendable (method: HTTPRequest.Method, path: String) in "poll \(method.rawValue) \(path)" }
            return AdjustedClassifier(base, endpointClass: name) { outcome, _ in
                switch outcome.kind {
                // The flow goes on: it would be misleading if those who watch saw failures.
                case .challengePending: outcome.kind = .continue
                // Nobody has typed anything: the word of a wrong code is that of a person who has refused.
                case .challengeIncorrect: outcome.kind = .declined
                default: break
                }
            }
        case .passkey:
            return AdjustedClassifier(base) { outcome, _ in
                guard outcome.kind == .invalidCredentials else { return }
                // The challenge is spent, and the same key would sign the next one.
                (outcome.kind, outcome.remedies) = (.challengeIncorrect, [.switchFactor])
            }
        case .exchange:
            return AdjustedClassifier(base) { outcome, _ in
                guard outcome.kind == .invalidCredentials else { return }
                (outcome.kind, outcome.remedies) = (.credentialRejected, [])
            }
        }
    }
}
