import HTTPRecovery

extension SandboxProvider {
    /// Okta: its Authentication API, its sessions, and OAuth 2 below `/oauth2`.
    public static let okta = SandboxProvider(OktaWorld.self)
}

extension SandboxWorld {
    var okta: OktaWorld {
        get { self[OktaWorld.self] }
        set { self[OktaWorld.self] = newValue }
    }
}

/// An Okta org as a value: people, transactions and sessions, and what a request does to them.
struct OktaWorld: ProviderWorld {
    static let name = "okta"
    static let settings: (any SandboxPart.Type)? = SandboxOktaSettings.self
    static let person: (any SandboxPart.Type)? = SandboxOktaUser.self
    /// How much is remembered of each kind before what has expired is forgotten.
    static let capacity = 20_000

    var accounts: [String: OktaAccount] = [:]
    /// E-mail addresses, phones and user names in lower case.
    var accountsByLogin: [String: String] = [:]
    /// The accounts' ids in the order in which they were made.
    var accountOrder: [String] = []
    var transactions: [String: OktaTransaction] = [:]
    /// State tokens that a cancellation, a lockout or a success has ended are simply not here any more.
    var sessionTokens: [String: OktaOneTimeToken] = [:]
    var recoveryTokens: [String: OktaOneTimeToken] = [:]
    var sessions: [String: OktaSession] = [:]
    /// Flows of the identity engine, and the codes that they have ended with.
    var flows: [String: OktaFlow] = [:]
    var interactionCodes: [String: String] = [:]
    /// The proofs of captchas that were presented.
    var captchas: Set<String> = []
    /// The proofs and the transactions of Direct Authentication, by their handles.
    var directProofs: [String: OktaDirectProof] = [:]
    var directTransactions: [String: OktaDirectTransaction] = [:]
    /// What the keys of people have to sign who are known by name alone.
    var keyNonces: [String: String] = [:]
    /// The access tokens that set a new password in place of a forgotten one.
    var recoveryAccess: [String: OktaOneTimeToken] = [:]
    var counters = OktaCounters()
    /// How many requests each of the APIs has taken in its minute, and when that began.
    var buckets: [String: (start: Int64, count: Int64)] = [:]
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SplitMix64

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        random = SplitMix64(seed: seed ^ 0x6F6B_7461)
    }

    /// Adds a person under the subject of their tokens; one with the same identifier is replaced.
    mutating func add(_ user: SandboxUser, context: inout SandboxContext) {
        let id = context.subjects[user.identifier] ?? user.identifier
        let factors = Self.factors(of: user)
        var account = OktaAccount(
            id: id,
            user: user,
            factors: factors.map { makeFactor($0, user) },
            enrollments: user.okta.enrollments,
            passwordStatus: user.okta.passwordStatus,
            createdAt: context.now,
            passwordChangedAt: context.now - 7_776_000_000
        )
        account.lock = SandboxLock(user.initialLock, now: context.now)
        if accounts.updateValue(account, forKey: id) == nil { accountOrder.append(id) }
        for name in user.names {
            accountsByLogin[name.lowercased()] = id
        }
    }

    /// The factors that somebody has from the start.
    private static func factors(of user: SandboxUser) -> [SandboxOktaUser.Factor] {
        if let factors = user.okta.factors { return factors }
        var types: [String] = user.totpSecret == nil ? [] : ["token:software:totp"]
        if user.secondFactors?.contains("phone_code") == true { types.append("sms") }
        if user.secondFactors?.contains("email_code") == true { types.append("email") }
        return types.map { SandboxOktaUser.Factor($0) }
    }

    /// A factor with an id of its own; codes go to the person's first address unless it names another.
    mutating func makeFactor(_ setup: SandboxOktaUser.Factor, _ user: SandboxUser) -> OktaFactor {
        let prefix = SandboxOktaUser.Factor.prefixes.first { $0.type == setup.type }?.id ?? "fct"
        var setup = setup
        if setup.destination == nil {
            if setup.type == "sms" || setup.type == "call" { setup.destination = user.phones.first }
            if setup.type == "email" { setup.destination = user.emails.first }
        }
        return OktaFactor(id: prefix + random.letters(17), setup: setup, secret: user.totpSecret)
    }

    /// The account that an id or a name stands for.
    func account(named name: String) -> OktaAccount? {
        accounts[name] ?? accountsByLogin[name.lowercased()].flatMap { accounts[$0] }
    }

    mutating func lock(_ user: String, _ lock: SandboxLock) {
        guard let id = account(named: user)?.id else { return }
        if lock == .open { unlock(id) } else { accounts[id]?.lock = lock }
    }

    // MARK: Requests

    /// Okta's own APIs by cookie or without anything; with an access token they are the OAuth provider's.
    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool {
        guard context.serves(Self.self), let route = OktaRoute.find(request.path) else { return false }
        return route.endpoint != .users || request.header("authorization") == nil
    }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        prune(now: context.now)
        do throws(OktaFailure) {
            guard let route = OktaRoute.find(request.path) else { throw OktaFailure.notFound(request.path) }
            try admit(to: route.bucket, context.settings.okta, now: context.now)
            if route.endpoint == .direct { return challengeDirectly(request, context: &context) }
            if route.endpoint == .logout { return logout(request) }
            if route.endpoint == .interact { return interact(request, context: context) }
            if route.endpoint == .provider { return visit(request, context: &context) }
            let exchange = try OktaExchange(request, route, context)
            switch route.endpoint {
            case .authentication: return try authenticate(exchange, context: &context)
            case .sessions: return try session(exchange)
            case .users: return try person(exchange)
            case .organization: return organization(exchange)
            case .account: return try account(exchange)
            case .engine, .interact, .direct, .logout, .provider: return engine(exchange, context: &context)
            }
        } catch {
            return response(of: error, settings: context.settings.okta)
        }
    }

    /// What a request is counted by; nil for a request to somebody else.
    private func bucket(of request: SandboxRequest, _ context: SandboxContext) -> String? {
        if let route = OktaRoute.find(request.path) { return takes(request, context: context) ? route.bucket : nil }
        return OAuthRoute.find(request.path).flatMap { $0.base.hasPrefix("/oauth2") ? $0.base : nil }
    }

    /// At the OAuth provider's endpoints below `/oauth2` Okta's limits and sessions hold.
    mutating func precede(_ request: inout SandboxRequest, context: inout SandboxContext) -> SandboxResponse? {
        guard let route = OAuthRoute.find(request.path), route.base.hasPrefix("/oauth2") else { return nil }
        do {
            try admit(to: route.base, context.settings.okta, now: context.now)
        } catch {
            // So it is at Okta's token endpoint: a limit in the words of a dead token.
            return OAuthFailure("invalid_grant", error.summary, status: error.status).response
        }
        if route.endpoint == .token { return direct(&request, base: route.base, context: &context) }
        return route.endpoint == .authorize ? signIn(atAuthorize: &request, context: context) : nil
    }

    mutating func follow(_ response: inout SandboxResponse, to request: SandboxRequest, context: SandboxContext) {
        guard let bucket = bucket(of: request, context) else { return }
        stamp(&response, bucket: bucket, context.settings.okta, now: context.now)
    }

    /// Forgets what has expired once there is too much of something.
    private mutating func prune(now: Int64) {
        transactions.forget(over: Self.capacity) { $0.expiresAt > now }
        directProofs.forget(over: Self.capacity) { $0.expiresAt > now }
        directTransactions.forget(over: Self.capacity) { $0.expiresAt > now }
        recoveryAccess.forget(over: Self.capacity) { $0.expiresAt > now }
        flows.forget(over: Self.capacity) { $0.transaction.expiresAt > now }
        if interactionCodes.count > Self.capacity {
            interactionCodes = interactionCodes.filter { flows[$0.key] != nil }
        }
        if captchas.count > Self.capacity { captchas = [] }
        sessionTokens.forget(over: Self.capacity) { $0.expiresAt > now }
        recoveryTokens.forget(over: Self.capacity) { $0.expiresAt > now }
        sessions.forget(over: Self.capacity) { $0.expiresAt > now }
    }
}
