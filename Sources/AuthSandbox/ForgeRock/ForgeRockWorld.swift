import HTTPRecovery

extension SandboxProvider {
    /// PingAM (ForgeRock AM, OpenAM), with a gateway before an application.
    public static let forgerock = SandboxProvider(ForgeRockWorld.self)
}

extension SandboxWorld {
    var forgerock: ForgeRockWorld {
        get { self[ForgeRockWorld.self] }
        set { self[ForgeRockWorld.self] = newValue }
    }
}

/// PingAM as a value: accounts, journeys, sessions, tokens, and what a request does to them.
struct ForgeRockWorld: ProviderWorld {
    static let name = "forgerock"
    static let settings: (any SandboxPart.Type)? = SandboxForgeRockSettings.self
    static let person: (any SandboxPart.Type)? = SandboxForgeRockUser.self
    /// How much is remembered of each kind before the oldest is forgotten.
    static let capacity = 20_000

    var accounts: [String: ForgeRockAccount] = [:]
    /// Names, e-mail addresses and phones in lower case.
    var accountsByIdentifier: [String: String] = [:]
    var runs: [String: ForgeRockRun] = [:]
    var suspended: [String: ForgeRockSuspended] = [:]
    var sessions: [String: ForgeRockSession] = [:]
    var lastSession = 0
    var transactions: [String: ForgeRockTransaction] = [:]
    /// Flows of PingOne by their ids.
    var flows: [String: ForgeRockFlow] = [:]
    /// Whom the identity provider has sent back with which key.
    var visits: [String: ForgeRockVisit] = [:]
    /// The OAuth 2 side has tokens of its own.
    var oauth: OAuthWorld
    var counters = SandboxForgeRockCounters()
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SplitMix64
    let signingKey: [UInt8]

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        random = SplitMix64(seed: seed ^ 0x616D_5F77_6F72_6C64)
        signingKey = Array(random.letters(32).utf8)
        oauth = OAuthWorld(scenario: scenario, seed: seed ^ 0x616D_6F61_7574, context: &context)
    }

    /// Adds a person; one with the same identifier is replaced and keeps the name.
    mutating func add(_ user: SandboxUser, context: inout SandboxContext) {
        let former = accountsByIdentifier[user.identifier.lowercased()]
        let plain = user.emails.first.map { String($0.prefix { $0 != "@" }) } ?? user.phones.first ?? "somebody"
        var name = user.forgerock.name ?? user.username ?? former ?? plain
        if former != name, accounts[name.lowercased()] != nil { name = user.identifier }
        if let former { accountsByIdentifier = accountsByIdentifier.filter { $0.value != former } }
        accounts[name.lowercased()] = ForgeRockAccount(name: name, user: user, now: context.now)
        for text in [name] + user.names {
            accountsByIdentifier[text.lowercased()] = name.lowercased()
        }
        oauth.people[name] = OAuthPerson(id: name, user: user)
    }

    /// The account that a name, an e-mail address or a phone stands for in a realm.
    func account(named text: String, realm: String? = nil) -> ForgeRockAccount? {
        guard let account = accountsByIdentifier[text.lowercased()].flatMap({ accounts[$0] }) else { return nil }
        guard let realm, let own = account.user.forgerock.realms else { return account }
        let isThere = own.contains { ForgeRockRoute.plain(realm: $0) == realm }
        return isThere ? account : nil
    }

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool {
        context.serves(Self.self) && ForgeRockRoute.find(request.path) != nil
    }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard let route = ForgeRockRoute.find(request.path) else { return OAuthFailure.notFound.response }
        prune(now: context.now)
        var exchange = ForgeRockExchange(request, route: route, now: context.now, settings: context.settings.forgerock)
        do throws(ForgeRockFailure) {
            switch route.endpoint {
            case .oauth(let endpoint): return try answerOAuth(exchange, endpoint, context: &context)
            case .gateway(let rest): return gateway(exchange, rest, context: &context)
            case .flow(let id, let isWrapped):
                return flow(exchange, id, isWrapped: isWrapped, context: &context)
            case .identityProvider(let isSAML): return try visit(exchange, isSAML: isSAML)
            default: break
            }
            exchange.version = try version(exchange)
            try checkRealm(exchange)
            switch route.endpoint {
            case .authenticate: return try authenticate(exchange, context: &context)
            case .sessions: return try session(exchange)
            case .serverInfo: return serverInfo(exchange)
            case .users(let name): return try users(exchange, name)
            default: throw ForgeRockFailure.notFound
            }
        } catch {
            var response = error.response(exchange.settings, version: exchange.version)
            response.setHeader("Cache-Control", "no-store")
            return response
        }
    }

    // MARK: What holds for all of the REST API

    private static let versions: [String: Set<String>] = [
        "authenticate": ["1.0", "1.1", "2.0", "2.1"],
        "sessions": ["1.0", "1.1", "1.2", "2.0", "2.1", "3.0", "3.1", "4.0"],
        "serverinfo": ["1.0", "1.1", "2.0"],
        "users": ["1.0", "2.0", "2.1", "3.0", "4.0"],
    ]

    /// The version of the resource that is asked for; nil where any will do.
    private func version(_ exchange: ForgeRockExchange) throws(ForgeRockFailure) -> String? {
        guard let text = exchange.request.header("accept-api-version") else {
            if !exchange.settings.requiresVersion { return nil }
            throw ForgeRockFailure(400, "Accept-API-Version is missing: no requested version specified")
        }
        var asked: [String: String] = [:]
        for part in text.split(separator: ",") {
            let halves = part.split(separator: "=", maxSplits: 1).map { half in
                String(half.filter { $0 != " " && $0 != "\t" })
            }
            guard halves.count == 2, ["resource", "protocol"].contains(halves[0]),
                asked.updateValue(halves[1], forKey: halves[0]) == nil
            else { throw ForgeRockFailure(400, "Accept-API-Version cannot be read") }
        }
        if let wanted = asked["protocol"], !["1.0", "2.0", "2.1"].contains(wanted) {
            throw unknownVersion(exchange)
        }
        let name: String =
            switch exchange.route.endpoint {
            case .authenticate: "authenticate"
            case .sessions: "sessions"
            case .serverInfo: "serverinfo"
            default: "users"
            }
        if let wanted = asked["resource"], Self.versions[name]?.contains(wanted) == false {
            throw unknownVersion(exchange)
        }
        return asked["resource"]
    }

    private func unknownVersion(_ exchange: ForgeRockExchange) -> ForgeRockFailure {
        ForgeRockFailure(
            exchange.settings.unknownVersionStatus,
            "The API version that Accept-API-Version asks for is not there"
        )
    }

    func checkRealm(_ exchange: ForgeRockExchange) throws(ForgeRockFailure) {
        let realm = exchange.realm
        guard exchange.settings.hasRealm(realm) else {
            throw ForgeRockFailure(400, "Invalid realm, \(realm.prefix(200))")
        }
    }

    private func serverInfo(_ exchange: ForgeRockExchange) -> SandboxResponse {
        .json([
            "domains": [], "protectedUserAttributes": ["telephoneNumber", "mail"],
            "cookieName": .string(exchange.settings.cookieName), "secureCookie": false, "forgotPassword": "false",
            "selfRegistration": "false", "lang": "en-US", "realm": .string(exchange.realm),
            "xuiUserSessionValidationEnabled": true,
        ])
    }

    /// The profile of somebody, for that person.
    private mutating func users(_ exchange: ForgeRockExchange, _ name: String?) throws(ForgeRockFailure)
        -> SandboxResponse
    {
        guard let session = use(exchange.sessionToken, exchange), let own = accounts[session.account] else {
            throw .accessDenied
        }
        if name == nil, exchange.request.method == "POST", exchange.request.queryItem("_action") == "idFromSession" {
            return .json([
                "id": .string(own.name), "realm": .string(session.realm),
                "dn": .string(own.universalID(realm: session.realm)), "successURL": "/am/console",
                "fullLoginURL": .null,
            ])
        }
        guard exchange.request.method == "GET" else {
            throw ForgeRockFailure(501, "The operation is not supported here.")
        }
        guard let name, account(named: name)?.name == own.name else { throw .forbidden }
        let user = own.user
        var profile: JSONValue = [
            "_id": .string(own.name), "_rev": "1", "username": .string(own.name), "realm": .string(session.realm),
            "universalid": [.string(own.universalID(realm: session.realm))],
            "inetUserStatus": [.string(own.state == "active" ? "Active" : "Inactive")],
        ]
        if !user.emails.isEmpty { profile = profile.adding("mail", .array(user.emails.map(JSONValue.string))) }
        if let first = user.firstName { profile = profile.adding("givenName", [.string(first)]) }
        if let last = user.lastName { profile = profile.adding("sn", [.string(last)]) }
        return .json(profile)
    }

    /// Forgets the oldest once there is too much of something.
    private mutating func prune(now: Int64) {
        // A journey that was left behind is told to be too old by its proof alone.
        if runs.count > Self.capacity { runs = [:] }
        if suspended.count > Self.capacity { suspended = suspended.filter { $0.value.expiresAt > now } }
        if suspended.count > Self.capacity { suspended = [:] }
        if sessions.count > Self.capacity {
            let limit = lastSession - Self.capacity / 2
            sessions = sessions.filter { $0.value.number > limit && !$0.value.isOver }
        }
        if transactions.count > Self.capacity { transactions = transactions.filter { $0.value.expiresAt > now } }
        if transactions.count > Self.capacity { transactions = [:] }
        if visits.count > Self.capacity { visits = [:] }
        if flows.count > Self.capacity { flows = [:] }
    }
}
