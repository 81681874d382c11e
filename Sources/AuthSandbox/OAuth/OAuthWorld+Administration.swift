import HTTPRecovery

// What an administrator, or a test, does behind the back of the clients.
extension OAuthWorld {
    static let controls: [SandboxControl] = [
        view("GET oauth", "counters, clients, families of tokens, devices; fingerprints stand for the tokens") {
            $0.view(now: $1.now)
        },
        control(
            "POST oauth/issue",
            IssueOrder.self,
            """
            sign somebody in: {user, client?: "cli", scope?, expires_in?: seconds, acr?}; answered with {access_token, \
            refresh_token, token_type, expires_in, expires_at, scope, client_id, family}
            """
        ) { world, order, context throws(SandboxError) in
            let tokens = try world.issue(order, context: context)
            return JSONValue(of: tokens)
                .adding("token_type", "Bearer")
                .adding("expires_in", .int(max(1, (tokens.expiresAt - context.now) / 1000)))
                .adding("client_id", .string(order.client ?? "cli"))
        },
        control(
            "POST oauth/device",
            DeviceDecision.self,
            "decide about a device: {user_code?: else the newest that waits, decision?: approve|deny, user}"
        ) { world, decision, context throws(SandboxError) in
            ["user_code": .string(try world.decide(decision, now: context.now)), "decision": .string(decision.word)]
        },
        control(
            "POST oauth/revoke",
            RevokeOrder.self,
            """
            end tokens from afar: {family? or user? or client?, what?: all|access}; {} ends all; access leaves the \
            refresh tokens
            """
        ) { world, order, context throws(SandboxError) in
            let ended = try world.revoke(order, now: context.now)
            return ["families_revoked": .int(ended.families), "access_tokens_revoked": .int(ended.accessTokens)]
        },
    ]

    func standings(_ context: SandboxContext) -> [SandboxStanding] {
        people.values.map { SandboxStanding($0.user, now: context.now) }
            .sorted { $0.user.identifier < $1.user.identifier }
    }

    func links(callback: String, _ context: SandboxContext) -> [SandboxLink] {
        let user = context.settings.oauth.signedInUser ?? people.values.map(\.user.identifier).min() ?? ""
        return [
            SandboxLink(
                "OAuth 2: authorize, which signs \(user) in at once",
                "/authorize",
                [
                    "response_type": "code", "client_id": "cli", "redirect_uri": callback, "scope": "openid",
                    "state": "page", "login_hint": user,
                    // A plain one: the verifier is the same.
                    "code_challenge": String(repeating: "v", count: 43),
                ]
            ),
            SandboxLink("OAuth 2: sign in a device", "/activate"),
        ]
    }

    /// Whom to sign in.
    struct IssueOrder: SandboxInput {
        var user: String
        var client: String?
        var scope: String?
        /// The life of the first access token; nil for that of the settings.
        var lifetime: Seconds?
        var acr: String?

        enum CodingKeys: String, CodingKey {
            case user, client, scope
            case lifetime = "expires_in"
            case acr
        }
    }

    /// What a person, or nobody, decides about a device.
    struct DeviceDecision: SandboxInput {
        var userCode: String?
        var decision: String?
        var user: String?

        static let words = ["decision": ["approve", "deny"]]

        var word: String { decision ?? "approve" }
    }

    /// Which tokens to end: all that fit.
    struct RevokeOrder: SandboxInput {
        var family: String?
        var user: String?
        var client: String?
        var what: String?

        static let words = ["what": ["all", "access"]]
    }

    private func client(_ name: String) throws(SandboxError) -> SandboxOAuthClient {
        guard let client = clients[name] else { throw SandboxError(.invalidInput, "no such client: \(name)") }
        return client
    }

    private func person(_ name: String) throws(SandboxError) -> OAuthPerson {
        guard let person = person(named: name) else { throw SandboxError(.invalidInput, "no such user: \(name)") }
        return person
    }

    private func activePerson(_ name: String) throws(SandboxError) -> String {
        let person = try person(name)
        if person.user.state == "active" { return person.id }
        throw SandboxError(.invalidInput, "\(name) may not sign in: \(person.user.state)")
    }

    /// Signs somebody in on a client.
    mutating func issue(_ order: IssueOrder, context: SandboxContext) throws(SandboxError) -> SandboxOAuthTokens {
        let request = SandboxRequest(method: "POST", target: "/")
        let exchange = OAuthExchange(request, route: OAuthRoute(endpoint: .token, base: ""), context: context)
        exchange.client = try client(order.client ?? "cli")
        if let lifetime = order.lifetime { exchange.settings.accessLifetime = lifetime.milliseconds }
        let subject = try activePerson(order.user)
        let scope: [String]
        do {
            let client = order.scope == nil ? nil : exchange.client
            scope = try scopes(order.scope ?? exchange.settings.defaultScope, client: client)
        } catch {
            throw SandboxError(.invalidInput, "scope: \(error.description)")
        }
        var grant = OAuthGrant(client: exchange.client.id, subject: subject, scope: scope)
        grant.authentication = .init(time: context.now, acr: order.acr)
        let (body, family) = signIn(grant, exchange)
        return SandboxOAuthTokens(
            accessToken: body["access_token"]?.string ?? "",
            refreshToken: body["refresh_token"]?.string,
            scope: scope.joined(separator: " "),
            expiresAt: context.now + exchange.settings.accessLifetime,
            family: Self.familyID(family)
        )
    }

    /// Decides about a device, and tells its user code.
    mutating func decide(_ decision: DeviceDecision, now: Int64) throws(SandboxError) -> String {
        var subject: String?
        if decision.word == "approve" {
            guard let user = decision.user else { throw SandboxError(.invalidInput, "user is missing") }
            subject = try activePerson(user)
        }
        guard let (code, device) = pendingDevice(userCode: decision.userCode, now: now) else {
            throw SandboxError(.invalidInput, "no such device waits: \(decision.userCode ?? "none at all")")
        }
        devices[code]?.decision = subject.map { .approved(subject: $0, at: now) } ?? .denied
        return device.userCode
    }

    /// Ends tokens from afar, and tells how many families were revoked, and how many live access tokens are so no
    /// longer.
    mutating func revoke(_ order: RevokeOrder, now: Int64) throws(SandboxError) -> (families: Int, accessTokens: Int) {
        if let name = order.client { _ = try client(name) }
        let subject = try order.user.map { name throws(SandboxError) in try person(name).id }
        let fitting = families.values.filter { family in
            order.family ?? Self.familyID(family.number) == Self.familyID(family.number)
                && subject ?? family.grant.subject == family.grant.subject
                && order.client ?? family.grant.client == family.grant.client
        }
        let chosen = Set(fitting.map(\.number))
        if let family = order.family, chosen.isEmpty, subject == nil, order.client == nil {
            throw SandboxError(.invalidInput, "no such family: \(family)")
        }
        // A client's own token belongs to no family.
        let isForOwn = order.family == nil && subject == nil
        let ended = accessTokens.filter { _, token in
            guard isLive(token, now: now) else { return false }
            guard let family = token.grant.family else {
                return isForOwn && order.client ?? token.grant.client == token.grant.client
            }
            return chosen.contains(family)
        }
        for text in ended.keys { accessTokens[text]?.isRevoked = true }
        return (order.what == "access" ? 0 : chosen.count { revokeFamily($0, by: "administrator") }, ended.count)
    }

    // MARK: The view

    private func view(now: Int64) -> JSONValue {
        let live = accessTokens.values.filter { isLive($0, now: now) }
        let liveByFamily = Dictionary(grouping: live) { $0.grant.family }
        return [
            "counters": JSONValue(of: counters),
            "served_requests": .int(servedRequests),
            "clients": .array(
                clients.keys.sorted().map { id in
                    ["client_id": .string(id), "counters": JSONValue(of: clientCounters[id] ?? .init())]
                }
            ),
            "families": .array(
                families.values.sorted { $0.number < $1.number }.suffix(1000).map { family in
                    [
                        "family": .string(Self.familyID(family.number)), "client_id": .string(family.grant.client),
                        "user": .optional(people[family.grant.subject]?.user.identifier),
                        "sub": .string(family.grant.subject),
                        "scope": .string(family.grant.scope.joined(separator: " ")),
                        "started_at": .int(family.startedAt), "revoked_by": .optional(family.revokedBy),
                        "generation": .int(family.generation),
                        "refresh_token": .optional(family.newest.map(Masking.fingerprint)),
                        "live_access_tokens": .int(liveByFamily[family.number]?.count ?? 0),
                        "counters": JSONValue(of: family.counters),
                    ]
                }
            ),
            "devices": .array(
                devices.values.sorted { $0.number < $1.number }.suffix(1000).map { device in
                    [
                        "user_code": .string(device.userCode), "client_id": .string(device.client),
                        "state": .string(device.state(now: now)), "polls": .int(device.polls),
                        "slow_downs": .int(device.slowDowns), "interval_s": .seconds(device.interval),
                    ]
                }
            ),
        ]
    }

    /// What a family is called outside.
    static func familyID(_ number: Int) -> String { "fam_\(number)" }
}
