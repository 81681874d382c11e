import HTTPRecovery

extension SandboxProvider {
    /// Facebook's Graph: below a version, and its own paths without one.
    public static let facebook = SandboxProvider(FacebookWorld.self)
}

extension SandboxWorld {
    var facebook: FacebookWorld {
        get { self[FacebookWorld.self] }
        set { self[FacebookWorld.self] = newValue }
    }
}

/// Facebook's Graph as a value: people, tokens and devices, and what a request does to them.
struct FacebookWorld: ProviderWorld {
    static let name = "facebook"
    static let settings: (any SandboxPart.Type)? = SandboxFacebookSettings.self
    static let person: (any SandboxPart.Type)? = SandboxFacebookUser.self
    /// How much is remembered of each kind before what has expired is forgotten.
    static let capacity = 20_000

    var people: [String: FacebookPerson] = [:]
    /// E-mail addresses, phones and user names in lower case.
    var peopleByLogin: [String: String] = [:]
    var personOrder: [String] = []
    var tokens: [String: FacebookToken] = [:]
    var codes: [String: FacebookCode] = [:]
    var devices: [String: FacebookDevice] = [:]
    var lastDevice = 0
    var uploads: [String: FacebookUploadSession] = [:]
    var lastUpload = 0
    /// What is prepared for Instagram, by id.
    var containers: [String: FacebookContainer] = [:]
    /// When a customer has written to a number, and when it has written to them.
    var conversations: [String: Int64] = [:]
    var messages: [String: [Int64]] = [:]
    var blocks: [FacebookBlock] = []
    /// How many calls the app has made since the beginning of its window.
    var window: (start: Int64, count: Int64) = (0, 0)
    /// How many items of batches are not finished in time.
    var unfinishedItems: Int64 = 0
    var counters = SandboxFacebookCounters()
    /// Its own, so that what else is asked of the sandbox does not change its tokens.
    var random: SplitMix64

    init(scenario: SandboxScenario, seed: UInt64, context: inout SandboxContext) {
        random = SplitMix64(seed: seed ^ 0x6662)
    }

    /// Adds a person; one with the same identifier is replaced, and keeps the id.
    mutating func add(_ user: SandboxUser, context: inout SandboxContext) {
        let known = peopleByLogin[user.identifier.lowercased()]
        let id = user.facebook.id ?? known ?? "1002\(Int64.random(in: 10_000_000_000...99_999_999_999, using: &random))"
        let permissions = user.facebook.permissions.map { (name: $0, status: "granted") }
        if let known, known != id { people[known] = nil }
        personOrder.removeAll { $0 == known || $0 == id }
        personOrder.append(id)
        people[id] = FacebookPerson(id: id, user: user, permissions: permissions)
        for name in user.names {
            peopleByLogin[name.lowercased()] = id
        }
    }

    /// Who an id or a name stands for.
    func person(named name: String) -> FacebookPerson? {
        people[name] ?? peopleByLogin[name.lowercased()].flatMap { people[$0] }
    }

    func takes(_ request: SandboxRequest, context: SandboxContext) -> Bool {
        context.serves(Self.self) && FacebookRoute.find(request.path, method: request.method) != nil
    }

    mutating func answer(_ request: SandboxRequest, context: inout SandboxContext) -> SandboxResponse {
        guard let route = FacebookRoute.find(request.path, method: request.method) else {
            return OAuthFailure.notFound.response
        }
        prune(now: context.now)
        let exchange = FacebookExchange(request, route, context: context)
        var response: SandboxResponse
        if exchange.parts.isEmpty, exchange.method == "POST" {
            response = batch(exchange, context: &context)
            stamp(&response, exchange)
        } else {
            response = answer(exchange, context: &context)
        }
        if let callback = exchange.value("callback"), Self.isFunctionName(callback) {
            response = .text(
                "/**/ \(callback)(\(String(decoding: response.body, as: UTF8.self)));",
                status: 200,
                type: "text/javascript; charset=UTF-8"
            )
        }
        return response
    }

    /// Answers one call, which may be an item of a batch.
    mutating func answer(_ exchange: FacebookExchange, context: inout SandboxContext) -> SandboxResponse {
        var response: SandboxResponse
        do {
            response = try dispatch(exchange, context: &context)
        } catch {
            response = self.response(of: error, exchange.settings)
        }
        stamp(&response, exchange)
        return response
    }

    private mutating func dispatch(
        _ exchange: FacebookExchange,
        context: inout SandboxContext
    ) throws(FacebookFailure) -> SandboxResponse {
        switch (exchange.parts.first, exchange.parts.count) {
        case ("device", 1): return try devicePage(exchange)
        case ("device", 2) where exchange.parts[1] == "login":
            return .json(try beginDeviceLogin(exchange, context: &context))
        case ("device", 2) where exchange.parts[1] == "login_status":
            return .json(try pollDeviceLogin(exchange))
        case ("dialog", 2) where exchange.parts[1] == "oauth": return dialog(exchange)
        case ("oauth", 2) where exchange.parts[1] == "access_token": return .json(try tokenAnswer(exchange))
        case (".well-known", 4):
            return .json(["keys": RSASigning.publicKeys(isHidden: exchange.settings.loginFault == "other_key")])
        case ("debug_token", 1): return .json(try inspection(exchange))
        default: return .json(try exchange.ids.isEmpty ? graph(exchange) : objects(exchange))
        }
    }

    // MARK: Answers

    /// The answer that tells of an error.
    mutating func response(of failure: FacebookFailure, _ settings: SandboxFacebookSettings) -> SandboxResponse {
        let body = failure.body(traceID: "A" + random.letters(22), codesAsText: settings.writesCodesAsText)
        var response = SandboxResponse.json(body, status: settings.errorsInSuccess ? 200 : failure.status)
        response.headers += failure.headers
        if failure.code == 190, settings.sendsChallenge {
            let text = failure.message.filter { $0 != "\"" }
            // No valid syntax, and just what is sent.
            response.setHeader("WWW-Authenticate", #"OAuth "Facebook Platform" "invalid_token" "\#(text)""#)
        }
        return response
    }

    /// Adds Facebook's own headers.
    private mutating func stamp(_ response: inout SandboxResponse, _ exchange: FacebookExchange) {
        if response.header("Content-Type") == "application/json" {
            response.setHeader("Content-Type", "text/javascript; charset=UTF-8")
        }
        response.setHeader("x-fb-trace-id", random.letters(11))
        response.setHeader("x-fb-rev", "1030000000")
        response.setHeader("facebook-api-version", exchange.version ?? "v25.0")
        let isGraph = !["device", "dialog", ".well-known"].contains(exchange.parts.first ?? "")
        guard isGraph, response.header("X-App-Usage") == nil else { return }
        if let percent = exchange.settings.appUsage ?? usedShare(exchange.settings) {
            response.setHeader("X-App-Usage", FacebookFailure.shares(percent).text)
        }
        let objects = exchange.ids.isEmpty ? Array(exchange.parts.prefix(1)) : exchange.ids
        let accounts = objects.filter { $0.hasPrefix("act_") }.prefix(Self.maximumObjects)
        if let usage = exchange.settings.businessUsage, !accounts.isEmpty,
            response.header("X-Business-Use-Case-Usage") == nil
        {
            let values = accounts.map { account in
                FacebookFailure.business(String(account.dropFirst(4)), usage.type, usage.percent, usage.regain)
            }
            let value = JSONValue.object(values.flatMap { $0.members ?? [] })
            response.setHeader("X-Business-Use-Case-Usage", value.text)
        }
    }

    private static func isFunctionName(_ text: String) -> Bool {
        text.utf8.count <= 100
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_$.".contains($0)) }
    }

    /// Forgets what has expired once there is too much of something.
    private mutating func prune(now: Int64) {
        codes.forget(over: Self.capacity) { $0.expiresAt > now }
        devices.forget(over: Self.capacity) { $0.expiresAt > now }
        uploads.forget(over: Self.capacity) { !$0.isPublished }
        containers.forget(over: Self.capacity) { $0.publishedAt == nil }
        conversations.forget(over: Self.capacity) { _ in false }
        messages.forget(over: Self.capacity) { _ in false }
        tokens.forget(over: Self.capacity) { ($0.expiresAt ?? .max) > now }
    }
}
