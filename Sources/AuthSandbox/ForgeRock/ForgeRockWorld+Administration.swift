import HTTPRecovery

// What an administrator, or a test, does behind the back of the clients.
extension ForgeRockWorld {
    static let controls: [SandboxControl] = [
        view(
            "GET forgerock",
            "PingAM's counters, journeys, accounts and live sessions; fingerprints stand for the tokens"
        ) { $0.view(settings: $1.settings.forgerock, now: $1.now) },
        control(
            "POST forgerock/session",
            SessionOrder.self,
            #"sign somebody in at once: {user, realm?: "/alpha"}; answered with {tokenId, cookieName, realm}"#
        ) { world, order, context throws(SandboxError) in
            let (realm, settings) = (order.realm ?? "/alpha", context.settings.forgerock)
            let token = try world.issueSession(for: order.user, realm: realm, settings: settings, now: context.now)
            return [
                "tokenId": .string(token), "cookieName": .string(settings.cookieName), "realm": .string(realm),
            ]
        },
        control("POST forgerock/end", MaybeUser.self, "end sessions from afar: {user?}; answered with {ended}") {
            world,
            order,
            _ in ["ended": .int(world.endSessions(of: order.user))]
        },
        control(
            "POST forgerock/lock",
            LockOrder.self,
            "lock an account: {user, seconds: a number, or null until somebody unlocks}"
        ) { world, order, context throws(SandboxError) in
            try world.set(order.lock(now: context.now), of: order.user)
            return ["locked": .string(order.user)]
        },
        control("POST forgerock/unlock", NamedUser.self, "unlock an account: {user}") {
            world,
            order,
            _ throws(SandboxError) in
            try world.set(.open, of: order.user)
            return ["unlocked": .string(order.user)]
        },
        control(
            "POST forgerock/push",
            PushDecision.self,
            "decide about the pushes that wait: {user?, decision?: approve|deny}; answered with {answered}"
        ) { world, order, context throws(SandboxError) in
            ["answered": .int(try world.decide(order.decision != "deny", for: order.user, now: context.now))]
        },
        control(
            "POST forgerock/revoke",
            RevokeOrder.self,
            "end tokens from afar: {user?, what?: all|access}; access leaves the refresh tokens"
        ) { world, order, context throws(SandboxError) in
            let user = try order.user.map { name throws(SandboxError) in try world.known(name).name }
            let ended = try world.oauth.revoke(.init(user: user, what: order.what), now: context.now)
            return ["families_revoked": .int(ended.families), "access_tokens_revoked": .int(ended.accessTokens)]
        },
    ]

    private struct SessionOrder: SandboxInput {
        var user: String
        var realm: String?
    }

    private struct PushDecision: SandboxInput {
        var user: String?
        var decision: String?

        static let words = ["decision": ["approve", "deny"]]
    }

    private struct RevokeOrder: SandboxInput {
        var user: String?
        var what: String?

        static let words = ["what": ["all", "access"]]
    }

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        let live = sessions.values.filter { isLive($0, context.settings.forgerock, now: context.now) }
            .reduce(into: [:]) { $0[$1.account, default: 0] += 1 }
        return accounts.sorted { $0.key < $1.key }.map { key, account in
            var standing = SandboxStanding(account.user, now: context.now)
            standing.password = account.password
            (standing.failures, standing.lock) = (account.failures, account.lock)
            standing.sessions = live[key] ?? 0
            return standing
        }
    }

    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] {
        let user = context.settings.forgerock.providerUser
        return [
            SandboxLink(
                "PingAM: the identity provider, which signs \(user) in at once",
                "/am/idp/authorize",
                ["redirect_uri": callback, "state": "page"]
            )
        ]
    }

    func known(_ name: String) throws(SandboxError) -> ForgeRockAccount {
        guard let account = account(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return account
    }

    /// Ends sessions, and tells how many there were.
    mutating func endSessions(of name: String?, realm: String? = nil) -> Int {
        let owner = name.flatMap { account(named: $0)?.name.lowercased() }
        var ended = 0
        for (token, session) in sessions where !session.isOver {
            guard name == nil || session.account == owner, realm == nil || session.realm == realm else { continue }
            sessions[token]?.isOver = true
            ended += 1
        }
        return ended
    }

    /// Signs somebody in at once.
    mutating func issueSession(
        for name: String,
        realm: String,
        settings: SandboxForgeRockSettings,
        now: Int64
    ) throws(SandboxError) -> String {
        let account = try known(name)
        let path = ForgeRockRoute.plain(realm: realm)
        guard settings.hasRealm(path) else {
            throw SandboxError(.invalidInput, "no such realm: \(path)")
        }
        return makeSession(
            account: account.name.lowercased(),
            realm: path,
            journeys: [settings.defaultJourney],
            now: now
        )
    }

    /// Locks or unlocks an account.
    mutating func set(_ lock: SandboxLock, of name: String) throws(SandboxError) {
        let key = try known(name).name.lowercased()
        accounts[key]?.lock = lock
        if lock == .open { accounts[key]?.failures = 0 }
    }

    /// Everything there is; fingerprints stand for the tokens.
    func view(settings: SandboxForgeRockSettings, now: Int64) -> JSONValue {
        let exchange = ForgeRockExchange(
            SandboxRequest(method: "GET", target: "/"),
            route: ForgeRockRoute(endpoint: .serverInfo, base: "", realm: "/"),
            now: now,
            settings: settings
        )
        let journeys = ForgeRockTree.list.map { tree in
            ["name": .string(tree.name), "what": .string(tree.summary)] as JSONValue
        }
        let people = accounts.values.sorted { $0.name < $1.name }.prefix(1000).map { account in
            [
                "name": .string(account.name), "user": .string(account.user.identifier),
                "failures": .int(account.failures), "locked": .bool(account.lock.isClosed(now: now)),
                "state": .string(account.state), "credentials": .int(Int64(account.credentials.count)),
                "credential_names": .array(account.credentials.map { .string($0.name) }),
            ] as JSONValue
        }
        let live = sessions.filter { isLive($0.value, exchange) }.sorted { $0.value.number < $1.value.number }
        let sessionViews = live.suffix(1000).map { token, session in
            [
                "token": .string(Masking.fingerprint(token)), "user": .string(session.account),
                "realm": .string(session.realm),
                "journeys": .array(session.journeys.sorted().map(JSONValue.string)),
            ] as JSONValue
        }
        return [
            "counters": JSONValue(of: counters),
            "tokens": JSONValue(of: oauth.counters),
            "journeys": .array(journeys),
            "accounts": .array(Array(people)),
            "sessions": .array(Array(sessionViews)),
            "transactions": .int(Int64(transactions.count)),
        ]
    }
}
