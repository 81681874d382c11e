import HTTPRecovery
import HTTPRecoveryTesting

extension SandboxProvider {
    /// Auth0's Authentication API, below `/auth0`.
    public static let auth0 = SandboxProvider(Auth0World.self)
}

/// An Auth0 tenant: people, blocks, second factors, tokens, and what a request does to them.
struct Auth0World: ProviderWorld {
    static let name = "auth0"
    static let settings: (any SandboxPart.Type)? = SandboxAuth0Settings.self
    static let person: (any SandboxPart.Type)? = SandboxAuth0User.self
    /// How much is remembered of each kind.
    static let capacity = 20_000
    static let base = "/auth0"

    /// Somebody, and what their factors have come to.
    struct Person: Sendable {
        let id: String
        var user: SandboxUser
        /// What holds whatever the address is, as with the tenant's "Account Lockout".
        var lock: SandboxLock = .open
        var recoveryCode: String?
        /// The key of an app that is being set up beside others.
        var newKey: String?
        /// The passwords before the present one, the newest first.
        var oldPasswords: [String] = []
        /// The step of the code of the app that was taken last.
        var lastStep: Int64 = -1
        /// Wrong codes that count still, and since when.
        var wrongCodes: (count: Int64, since: Int64) = (0, 0)
        /// The questions for the profile in the minute.
        var profiles: (count: Int64, minute: Int64) = (0, 0)
    }

    /// A sign-in between the password and the second factor.
    struct Flow: Sendable {
        let person: String
        /// The app that it was begun by.
        let client: String
        /// What the tokens will be for.
        let grant: Auth0Grant
        let endsAt: Int64
        /// The key of an app that is being set up.
        var newKey: String?
    }

    /// A link to set a new password.
    struct Reset: Sendable {
        let person: String
        let endsAt: Int64
    }

    /// A code or a push that was sent.
    struct Challenge: Sendable {
        enum Decision: Sendable { case pending, approved, denied }

        let number: Int
        let token: String
        let person: String
        /// What the person types; nil for a push.
        let code: String?
        let endsAt: Int64
        var decision = Decision.pending
        var lastPoll: Int64?
        /// The factor that its answer sets up, and the number that it is sent to; nil for one that is there.
        var enrollment: (factor: String, phone: String?)?
    }

    var people: [String: Person] = [:]
    var peopleByName: [String: String] = [:]
    /// Failed logins by name and address, and the pairs that are blocked.
    var failures: [String: Int64] = [:]
    /// Failed logins by address, and since when.
    var suspicions: [String: (count: Int64, since: Int64)] = [:]
    /// The links that lift blocks, and when the last one was mailed because of an address.
    var unblocking: [String: String] = [:]
    var lastBlockMail: [String: Int64] = [:]
    /// The codes that stand in for a password: by what they are answered with.
    var codes: [String: Code] = [:]
    var devices: [String: Device] = [:]
    var lastDevice = 0
    var authorizations: [String: Authorization] = [:]
    /// The sessions of browsers, by the value of their cookie.
    var browsers: [String: Browser] = [:]
    /// The ceremonies of passkeys that wait for their end, and what is known of the passkeys, by their ids.
    var ceremonies: [String: Ceremony] = [:]
    var passkeys: [String: Passkey] = [:]
    var flows: [String: Flow] = [:]
    var challenges: [String: Challenge] = [:]
    var lastChallenge = 0
    /// The links that were mailed, by their tickets; one that was used is forgotten.
    var resets: [String: Reset] = [:]
    var tokens = Auth0Tokens()
    /// How often each thing was presented that can be spent, by its fingerprint.
    var spent: [String: Int64] = [:]
    var counters: [String: Int64] = [:]
    /// What was done too often of late, by what it is counted for.
    var buckets: [String: Bucket] = [:]
    /// The requests of a minute.
    var requests: (count: Int64, minute: Int64) = (0, 0)
    /// The nonce that proofs need; nil before the first.
    var nonce: String?
    /// The proofs that were taken, and how long they are remembered.
    var proofs: [String: Int64] = [:]
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SplitMix64

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        random = SplitMix64(seed: seed ^ 0x6175_7468_30)
    }

    mutating func add(_ user: SandboxUser, context: inout SandboxContext) {
        let id = peopleByName[user.identifier.lowercased()] ?? "auth0|" + random.letters(24).lowercased()
        let lock = SandboxLock(user.initialLock, now: context.now)
        people[id] = Person(id: id, user: user, lock: lock, recoveryCode: user.backupCodes.first)
        for name in user.names { peopleByName[name.lowercased()] = id }
        failures = failures.filter { !$0.key.hasPrefix(user.identifier.lowercased() + "|") }
    }

    mutating func lock(_ user: String, _ lock: SandboxLock) {
        guard let person = person(named: user) else { return }
        if lock == .open { liftBlocks(of: person) } else { people[person.id]?.lock = lock }
    }

    func person(named name: String) -> Person? { peopleByName[name.lowercased()].flatMap { people[$0] } }

    // MARK: Requests

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool {
        context.serves(Self.self) && request.path.hasPrefix(Self.base + "/")
    }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        let exchange = Auth0Exchange(request, context: context)
        let isOver = countRequest(exchange)
        var response = isOver ? Auth0Failure.tooManyRequests.response : answer(exchange, &context)
        tellLimit(in: &response, exchange)
        return response
    }

    private mutating func answer(_ exchange: Auth0Exchange, _ context: inout SandboxContext) -> SandboxResponse {
        var exchange = exchange
        let request = exchange.request
        if let assertion = exchange["client_assertion"] { spend("client_assertion", assertion) }
        flows.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        challenges.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        resets.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        codes.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        devices.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        authorizations.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        suspicions.forget(over: Self.capacity) { $0.count >= exchange.settings.addressThreshold }
        unblocking.forget(over: Self.capacity) { _ in false }
        browsers.forget(over: Self.capacity) { _ in false }
        ceremonies.forget(over: Self.capacity) { $0.endsAt > exchange.now }
        passkeys.forget(over: Self.capacity) { _ in false }
        lastBlockMail.forget(over: Self.capacity) { $0 > exchange.now - 3_600_000 }
        proofs.forget(over: Self.capacity) { $0 > exchange.now }
        spent.forget(over: Self.capacity) { _ in false }
        failures.forget(over: Self.capacity) { $0 >= exchange.settings.threshold }
        buckets.forget(over: Self.capacity) { $0.since > exchange.now - 86_400_000 }
        do throws(Auth0Failure) {
            switch "\(request.method) \(request.path.dropFirst(Self.base.count))" {
            case "POST /oauth/token":
                exchange.key = try checkProof(exchange, accessToken: nil)
                return .json(try token(exchange, &context))
            case "POST /oauth/revoke":
                try exchange.checkClient()
                tokens.revoke(try exchange.required("token"))
                return SandboxResponse(status: 200)
            case "GET /.well-known/jwks.json":
                return .json(["keys": RSASigning.publicKeys(isHidden: exchange.settings.hidesKey)])
            case "GET /mfa/authenticators": return .json(try authenticators(exchange))
            case let route where route.hasPrefix("DELETE /mfa/authenticators/"):
                return try removeAuthenticator(exchange)
            case "POST /mfa/challenge": return .json(try challenge(exchange, &context))
            case "POST /mfa/associate": return .json(try associate(exchange, &context))
            case "POST /passwordless/start": return .json(try startPasswordless(exchange, &context))
            case "GET /passwordless/verify_redirect": return try followLink(exchange)
            case "POST /otp/challenge": return .json(try challengeCode(exchange, &context))
            case "POST /passkey/challenge": return .json(try challengePasskey(exchange))
            case "POST /passkey/register": return .json(try registerPasskey(exchange))
            case "POST /oauth/device/code": return .json(try authorizeDevice(exchange))
            case "GET /activate", "POST /activate": return try activate(exchange)
            case "GET /authorize": return try authorize(exchange)
            case "POST /u/login": return try logIn(exchange, &context)
            case "POST /u/signup": return try signUpOnPage(exchange, &context)
            case "GET /v2/logout": return logOut(exchange)
            case "GET /oidc/logout", "POST /oidc/logout": return endSession(exchange)
            case "GET /unblock": return try unblockPage(exchange)
            case "GET /userinfo": return .json(try profile(exchange))
            case "POST /dbconnections/signup": return try signUp(exchange, &context)
            case "POST /dbconnections/change_password": return try mailReset(exchange, &context)
            case "GET /reset": return try resetPage(exchange)
            case "POST /reset": return try setPassword(exchange)
            default: throw .notFound
            }
        } catch {
            return error.response
        }
    }

    /// Notes that something was presented that is spent by it.
    mutating func spend(_ sort: String, _ text: String) {
        spent["\(sort) \(Masking.fingerprint(text))", default: 0] += 1
    }

    /// A page for a person.
    static func page(_ title: String, _ body: String, status: Int = 200) -> SandboxResponse {
        .text(
            "<!doctype html><title>\(title)</title><h1>\(title)</h1>\(body)",
            status: status,
            type: "text/html; charset=utf-8"
        )
    }

    private mutating func profile(_ exchange: Auth0Exchange) throws(Auth0Failure) -> JSONValue {
        let text = exchange.bound ?? exchange.bearer ?? ""
        guard let access = tokens.access(text, now: exchange.now), var person = people[access.person],
            (access.key == nil) == (exchange.bound == nil)
        else { throw .deadAccessToken }
        if let key = access.key, try checkProof(exchange, accessToken: text) != key { throw .deadAccessToken }
        let grant = access.grant
        guard grant.has("openid") else {
            throw Auth0Failure(403, "insufficient_scope", "The profile needs the scope openid.")
        }
        if let limit = exchange.settings.profileLimit {
            let minute = exchange.now / 60_000
            if person.profiles.minute != minute { person.profiles = (0, minute) }
            person.profiles.count += 1
            people[person.id] = person
            if person.profiles.count > limit {
                var failure = Auth0Failure(429, "too_many_requests", "Rate limit reached.")
                failure.headers = [
                    .init(name: "x-ratelimit-limit", value: String(limit)),
                    .init(name: "x-ratelimit-remaining", value: "0"),
                    .init(name: "x-ratelimit-reset", value: String((minute + 1) * 60)),
                ]
                throw failure
            }
        }
        return .present([
            "sub": .string(person.id),
            "email": grant.has("email") ? .optional(person.user.emails.first) : nil,
            "email_verified": grant.has("email") ? true : nil,
            "name": grant.has("profile") ? .optional(person.user.firstName) : nil,
        ])
    }

    /// A message for somebody.
    func message(
        to address: String,
        _ channel: String,
        _ strategy: String,
        _ code: String,
        of person: Person,
        _ now: Int64
    ) -> SandboxMessage {
        SandboxMessage(to: address, channel: channel, strategy: strategy, code: code, sentAt: now, signIn: person.id)
    }

    // MARK: Faults and the log

    static let envelopes = ["auth0", "auth0_database"]
    static func isTokenRequest(_ request: SandboxRequest) -> Bool { request.path == base + "/oauth/token" }
    static func errorCode(of body: JSONValue) -> String? {
        body["error_description"] == nil ? nil : body["error"]?.string
    }

    func error(
        _ fault: SandboxFault,
        status: Int?,
        form: String?,
        to request: SandboxRequest,
        context: SandboxContext
    ) -> SandboxResponse {
        let (status, code) = (status ?? 400, fault.errorCode)
        let text = fault.errorMessage ?? "The sandbox was told to fail."
        var failure = Auth0Failure(status, code ?? (status >= 500 ? "server_error" : "invalid_request"), text)
        if form == "auth0_database" || request.path.contains("/dbconnections/") {
            failure = Auth0Failure(status, code ?? "invalid_signup", text)
            failure.isOfDatabase = true
        }
        return failure.response
    }
}
