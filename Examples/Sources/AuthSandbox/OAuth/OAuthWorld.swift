/// An OAuth 2 and OpenID Connect provider as a value: people, clients, tokens, and what a request does to them.
struct OAuthWorld: Sendable {
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
    var random: SeededGenerator
    let signingKey: [UInt8]

    init(users: [SandboxUser], clients: [SandboxOAuthClient], seed: UInt64) {
        random = SeededGenerator(seed: seed ^ 0x6F61_7574_6832)
        signingKey = Array(random.letters(32).utf8)
        for client in clients { self.clients[client.id] = client }
        for user in users { add(user) }
    }

    /// Adds a person; one with the same identifier is replaced and keeps the subject.
    mutating func add(_ user: SandboxUser) {
        let id = person(named: user.identifier)?.id ?? "00u" + random.letters(17)
        people[id] = OAuthPerson(id: id, user: user)
        for name in user.emails + user.phones + [user.username].compactMap({ $0 }) {
            peopleByIdentifier[name.lowercased()] = id
        }
    }

    /// The person that a subject, an e-mail address, a phone or a user name stands for.
    func person(named name: String) -> OAuthPerson? {
        people[name] ?? peopleByIdentifier[name.lowercased()].flatMap { people[$0] }
    }

    /// Answers one request.
    mutating func handle(
        _ request: SandboxRequest,
        route: OAuthRoute,
        context: inout SandboxContext
    ) -> SandboxResponse {
        let settings = context.settings.oauth
        let exchange = OAuthExchange(request, route: route, now: context.now, settings: settings)
        prune(now: context.now)
        var response: SandboxResponse
        do {
            response = try answer(exchange, context: &context)
        } catch {
            response = error.response
        }
        if settings.dpop != "off", settings.demandsNonce, route.endpoint == .token || route.endpoint.isResource {
            response.setHeader("DPoP-Nonce", currentNonce(settings, now: context.now))
        }
        if route.endpoint != .discovery, route.endpoint != .keys { response.setHeader("Cache-Control", "no-store") }
        return response
    }

    private mutating func answer(
        _ exchange: OAuthExchange,
        context: inout SandboxContext
    ) throws(OAuthFailure) -> SandboxResponse {
        let method = exchange.request.method
        if let methods = exchange.route.endpoint.methods, !methods.contains(method) {
            var failure = OAuthFailure("invalid_request", "The method is not allowed here.", status: 405)
            failure.headers = [.init(name: "Allow", value: methods.joined(separator: ", "))]
            throw failure
        }
        switch exchange.route.endpoint {
        case .discovery: return .json(discovery(exchange))
        case .keys: return .json(["keys": []])
        case .token: return .json(try token(exchange, context: &context))
        case .revoke: return try revoke(exchange)
        case .introspect: return .json(try introspect(exchange))
        case .device: return .json(try authorizeDevice(exchange, context: &context))
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
        if codes.count > Self.capacity { codes = codes.filter { $0.value.expiresAt > now } }
        if codes.count > Self.capacity { codes = [:] }
        if devices.count > Self.capacity { devices = devices.filter { $0.value.expiresAt > now } }
        if devices.count > Self.capacity { devices = [:] }
        if usedIdentifiers.count > Self.capacity { usedIdentifiers = usedIdentifiers.filter { $0.value > now } }
        if usedIdentifiers.count > Self.capacity { usedIdentifiers = [:] }
    }

    /// Notes that an identifier was used; false when it was before.
    mutating func use(_ identifier: String, until time: Int64) -> Bool {
        usedIdentifiers.updateValue(time, forKey: identifier) == nil
    }
}
