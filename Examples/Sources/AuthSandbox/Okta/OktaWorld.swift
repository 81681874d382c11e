/// An Okta org as a value: people, transactions and sessions, and what a request does to them.
struct OktaWorld: Sendable {
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
    var counters = OktaCounters()
    /// How many requests each of the APIs has taken in its minute, and when that began.
    var buckets: [String: (start: Int64, count: Int64)] = [:]
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed ^ 0x6F6B_7461)
    }

    /// Adds a person; one with the same identifier is replaced.
    ///
    /// - Parameters:
    ///   - user: The person.
    ///   - id: The id, which is the subject of tokens too.
    ///   - now: The sandbox's time.
    mutating func add(_ user: SandboxUser, id: String, now: Int64) {
        let factors = Self.factors(of: user)
        var account = OktaAccount(
            id: id,
            user: user,
            factors: factors.map { makeFactor($0, user) },
            enrollments: user.okta.enrollments,
            passwordStatus: user.okta.passwordStatus,
            createdAt: now,
            passwordChangedAt: now - 7_776_000_000
        )
        switch user.initialLock {
        case .milliseconds(let time): account.lock = .until(now + time)
        case .indefinite: account.lock = .indefinite
        case nil: break
        }
        if accounts.updateValue(account, forKey: id) == nil { accountOrder.append(id) }
        for name in user.emails + user.phones + [user.username].compactMap({ $0 }) {
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

    /// Answers one request.
    mutating func handle(
        _ request: SandboxRequest,
        route: OktaRoute,
        context: inout SandboxContext
    ) -> SandboxResponse {
        prune(now: context.now)
        do {
            try admit(to: route.bucket, context.settings.okta, now: context.now)
            let exchange = try OktaExchange(request, route, context)
            switch route.endpoint {
            case .authentication: return try authenticate(exchange, context: &context)
            case .sessions: return try session(exchange)
            case .users: return try person(exchange)
            }
        } catch {
            return response(of: error, settings: context.settings.okta)
        }
    }

    /// Forgets what has expired once there is too much of something.
    private mutating func prune(now: Int64) {
        if transactions.count > Self.capacity { transactions = transactions.filter { $0.value.expiresAt > now } }
        if transactions.count > Self.capacity { transactions = [:] }
        if sessionTokens.count > Self.capacity { sessionTokens = sessionTokens.filter { $0.value.expiresAt > now } }
        if sessionTokens.count > Self.capacity { sessionTokens = [:] }
        if recoveryTokens.count > Self.capacity { recoveryTokens = recoveryTokens.filter { $0.value.expiresAt > now } }
        if recoveryTokens.count > Self.capacity { recoveryTokens = [:] }
        if sessions.count > Self.capacity { sessions = sessions.filter { $0.value.expiresAt > now } }
        if sessions.count > Self.capacity { sessions = [:] }
    }
}
