import HTTPRecovery
import HTTPRecoveryTesting

extension SandboxProvider {
    /// OAuth 2 and OpenID Connect.
    public static let oauth = SandboxProvider(OAuthWorld.self)
}

extension SandboxWorld {
    var oauth: OAuthWorld {
        get { self[OAuthWorld.self] }
        set { self[OAuthWorld.self] = newValue }
    }
}

/// An OAuth 2 and OpenID Connect provider: people, clients, tokens, and what a request does to them.
struct OAuthWorld: ProviderWorld {
    static let name = "oauth"
    static let settings: (any SandboxPart.Type)? = SandboxOAuthSettings.self
    static let scenario: (any SandboxPart.Type)? = OAuthClientList.self
    /// How much is remembered of each kind before the oldest is forgotten.
    static let capacity = 20_000

    var people: [String: OAuthPerson] = [:]
    /// E-mail addresses, phones and user names in lower case.
    var peopleByIdentifier: [String: String] = [:]
    var clients: [String: SandboxOAuthClient] = [:]
    var families: [Int: OAuthFamily] = [:]
    var lastFamily = 0
    var accessTokens: [String: OAuthAccessToken] = [:]
    var lastAccessToken = 0
    var refreshTokens: [String: OAuthRefreshToken] = [:]
    var codes: [String: OAuthCode] = [:]
    var devices: [String: OAuthDevice] = [:]
    var lastDevice = 0
    var counters = SandboxOAuthCounters()
    var clientCounters: [String: SandboxOAuthCounters] = [:]
    /// Client assertions and proofs that were used, and until when they are remembered.
    var usedIdentifiers: [String: Int64] = [:]
    /// How many requests the resources have answered with success.
    var servedRequests: Int64 = 0
    /// The nonce that proofs of possession need now, and since when.
    var nonce: (value: String, since: Int64)?
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SplitMix64
    let signingKey: [UInt8]

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        random = SplitMix64(seed: seed ^ 0x6F61_7574_6832)
        signingKey = Array(random.letters(32).utf8)
        for client in scenario.oauthClients { clients[client.id] = client }
    }

    /// Adds a person; one with the same identifier is replaced and keeps the subject.
    mutating func add(_ user: SandboxUser, context: inout SandboxContext) {
        let id =
            person(named: user.identifier)?.id ?? context.subjects[user.identifier] ?? "00u" + random.letters(17)
        people[id] = OAuthPerson(id: id, user: user)
        for name in user.names { peopleByIdentifier[name.lowercased()] = id }
        context.subjects[user.identifier] = id
    }

    /// The person that a subject, an e-mail address, a phone or a user name stands for.
    func person(named name: String) -> OAuthPerson? {
        people[name] ?? peopleByIdentifier[name.lowercased()].flatMap { people[$0] }
    }

    // MARK: Requests

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool {
        guard let route = OAuthRoute.find(request.path) else { return false }
        // Okta's authorization servers are this provider, and so are its resources to who has an access token.
        if context.serves(OktaWorld.self), route.base.hasPrefix("/oauth2") || OktaRoute.find(request.path) != nil {
            return true
        }
        // Clerk's API may have any path before its /v1.
        let isClerks =
            route.endpoint == .resource && context.serves(ClerkWorld.self)
            && ["/api/v1/client", "/api/v1/environment", "/api/v1/me"].contains { prefix in
                request.path == prefix || request.path.hasPrefix(prefix + "/")
            }
        return context.serves(Self.self) && !isClerks
    }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard let route = OAuthRoute.find(request.path) else { return OAuthFailure.notFound.response }
        return answer(request, route, context: &context)
    }

    /// Answers a request to one of the endpoints.
    mutating func answer(
        _ request: SandboxRequest,
        _ route: OAuthRoute,
        context: inout SandboxContext
    ) -> SandboxResponse {
        // They are this provider's from here on.
        codes.merge(context.interactionCodes) { $1 }
        for newcomer in context.newcomers { add(newcomer, context: &context) }
        (context.interactionCodes, context.newcomers) = ([:], [])
        let exchange = OAuthExchange(request, route: route, context: context)
        prune(now: context.now)
        let (endpoint, settings) = (route.endpoint, exchange.settings)
        var response: SandboxResponse
        do {
            response = try answer(exchange)
        } catch {
            response = error.response
        }
        context.log += exchange.log
        if settings.dpop != "off", settings.demandsNonce, endpoint == .token || endpoint.isResource {
            response.setHeader("DPoP-Nonce", currentNonce(settings, now: context.now))
        }
        if endpoint != .discovery, endpoint != .keys { response.setHeader("Cache-Control", "no-store") }
        return response
    }

    private mutating func answer(_ exchange: OAuthExchange) throws(OAuthFailure) -> SandboxResponse {
        let endpoint = exchange.route.endpoint
        guard endpoint.methods.isEmpty || endpoint.methods.contains(exchange.request.method) else {
            var failure = OAuthFailure("invalid_request", "The method is not allowed here.", status: 405)
            failure.headers = [.init(name: "Allow", value: endpoint.methods.joined(separator: ", "))]
            throw failure
        }
        if endpoint.takesForm { exchange.form = try OAuthForm(exchange.request) }
        switch endpoint {
        case .discovery: return .json(discovery(exchange))
        case .keys: return .json(["keys": RSASigning.publicKeys(isHidden: exchange.settings.hidesKey)])
        case .token: return .json(try token(exchange))
        case .revoke: return try revoke(exchange)
        case .introspect: return .json(try introspect(exchange))
        case .device: return .json(try authorizeDevice(exchange))
        case .activate: return try activate(exchange)
        case .authorize: return try authorize(exchange)
        case .userinfo: return .json(try userinfo(exchange))
        case .resource: return .json(try resource(exchange))
        }
    }

    /// Forgets the oldest once there is too much of something.
    private mutating func prune(now: Int64) {
        if accessTokens.count > Self.capacity {
            accessTokens = accessTokens.filter { $0.value.expiresAt > now && !$0.value.isRevoked }
            let limit = lastAccessToken - Self.capacity / 2
            if accessTokens.count > Self.capacity / 2 { accessTokens = accessTokens.filter { $0.value.number > limit } }
        }
        if families.count > Self.capacity {
            let limit = lastFamily - Self.capacity / 2
            families = families.filter { $0.key > limit }
        }
        if refreshTokens.count > Self.capacity {
            // The newest of each family stay; of the others those that were replaced last.
            let replaced = refreshTokens.values.compactMap(\.replacedAt).sorted()
            let limit = replaced.isEmpty ? now : replaced[replaced.count / 2]
            refreshTokens = refreshTokens.filter { token in
                families[token.value.family] != nil && (token.value.replacedAt.map { $0 > limit } ?? true)
            }
        }
        codes.forget(over: Self.capacity) { $0.expiresAt > now }
        devices.forget(over: Self.capacity) { $0.expiresAt > now }
        usedIdentifiers.forget(over: Self.capacity) { $0 > now }
    }

    /// Notes that an identifier was used; false when it was before.
    mutating func use(_ identifier: String, until time: Int64) -> Bool {
        usedIdentifiers.updateValue(time, forKey: identifier) == nil
    }

    // MARK: Faults and the log

    static func isTokenRequest(_ request: SandboxRequest) -> Bool { OAuthRoute.find(request.path)?.endpoint == .token }
    static func errorCode(of body: JSONValue) -> String? { body["error"]?.string }

    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let isResource = OAuthRoute.find(request.path)?.endpoint.isResource ?? false
        return OAuthFailure(fault, status: status, isResource: isResource).response
    }
}
