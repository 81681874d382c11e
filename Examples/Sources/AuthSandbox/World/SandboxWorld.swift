/// Everything that a sandbox is, without its sockets: a value that turns a request into a reply.
struct SandboxWorld: Sendable {
    let scenario: SandboxScenario
    let seed: UInt64
    let providers: Set<SandboxProvider>
    /// Where everything but the control requests is forwarded to; nil where the providers answer.
    let upstream: SandboxUpstream?
    var upstreamTokens = UpstreamTokens()
    var settings: SandboxSettings
    var clerk: ClerkWorld
    var oauth: OAuthWorld
    var okta: OktaWorld
    var forgerock: ForgeRockWorld
    var facebook: FacebookWorld
    var faults = FaultTable()
    var log = RequestLog()
    var outbox = Outbox()
    var random: SeededGenerator
    var codes: SeededGenerator
    /// How far the sandbox's clock is ahead of the machine's.
    var clockOffset: Int64 = 0

    /// A world at its beginning.
    ///
    /// - Parameters:
    ///   - scenario: Who and what is there.
    ///   - seed: What all ids and codes follow from.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    ///   - providers: Who answers.
    ///   - upstream: Where requests are forwarded to; nil where the providers answer.
    init(
        scenario: SandboxScenario,
        seed: UInt64,
        wallNow: Int64,
        providers: Set<SandboxProvider> = Set(SandboxProvider.all),
        upstream: SandboxUpstream? = nil
    ) {
        self.scenario = scenario
        self.seed = seed
        self.providers = providers
        self.upstream = upstream
        settings = scenario.settings
        random = SeededGenerator(seed: seed)
        codes = SeededGenerator(seed: ~seed)
        clerk = ClerkWorld(users: scenario.users, now: wallNow, random: &random)
        oauth = OAuthWorld(users: scenario.users, clients: scenario.oauthClients, seed: seed)
        okta = OktaWorld(seed: seed)
        forgerock = ForgeRockWorld(
            users: scenario.users,
            clients: scenario.oauthClients,
            seed: seed,
            now: wallNow
        )
        facebook = FacebookWorld(users: scenario.users, seed: seed)
        for user in scenario.users { addToOkta(user, now: wallNow) }
        for fault in scenario.faults { faults.add(fault) }
    }

    /// Begins again.
    mutating func reset(wallNow: Int64) {
        var forgotten = log
        forgotten.clear()
        self = SandboxWorld(
            scenario: scenario,
            seed: seed,
            wallNow: wallNow,
            providers: providers,
            upstream: upstream
        )
        log = forgotten
    }

    /// Adds a person for every provider and tells the id at Clerk's.
    mutating func add(_ user: SandboxUser, now: Int64) -> String {
        oauth.add(user)
        addToOkta(user, now: now)
        forgerock.add(user, now: now)
        facebook.add(user)
        return clerk.add(user, now: now, random: &random)
    }

    /// Adds a person to Okta, under the subject of their tokens.
    private mutating func addToOkta(_ user: SandboxUser, now: Int64) {
        okta.add(user, id: oauth.person(named: user.identifier)?.id ?? user.identifier, now: now)
    }

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - request: What arrived.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    /// - Returns: The reply, and lines for the log.
    mutating func handle(_ request: SandboxRequest, wallNow: Int64) -> (reply: SandboxReply, log: [String]) {
        let now = now(wallNow: wallNow)
        if Self.isControl(request) {
            let response = control(request, wallNow: wallNow)
            return (SandboxReply(response: response, now: self.now(wallNow: wallNow)), [])
        }
        let target = target(of: request)
        let fault = faults.take(for: request)
        var lines: [String] = []
        var response = SandboxResponse(status: 0)
        if fault?.processes ?? true {
            response = process(request, target, now: now, rotatesToken: fault?.kind == .rotateToken, log: &lines)
        }
        var reply = SandboxReply(response: response, now: now)
        if let fault {
            reply = fault.applied(to: response, now: now, style: style(of: target, request, now: now))
        }
        if let bucket = oktaBucket(of: target) { okta.stamp(&reply.response, bucket: bucket, settings.okta, now: now) }
        let record = log.note(
            request,
            at: now,
            processed: fault?.processes ?? true,
            fault: fault?.kind.name,
            status: reply.isAnswered ? reply.response.status : 0,
            errorCode: Self.errorCode(reply),
            hiddenHeaders: [settings.forgerock.cookieName.lowercased()]
        )
        lines.append(Self.line(record))
        return (reply, lines)
    }

    /// Whether a request is for the sandbox itself.
    static func isControl(_ request: SandboxRequest) -> Bool {
        request.path == "/_sandbox" || request.path.hasPrefix("/_sandbox/")
    }

    /// The time on the sandbox's clock.
    func now(wallNow: Int64) -> Int64 {
        wallNow.addingReportingOverflow(clockOffset).overflow ? .max / 4 : min(wallNow + clockOffset, .max / 4)
    }

    /// Who answers a request.
    private enum Target {
        case clerk
        case oauth(OAuthRoute)
        case okta(OktaRoute)
        case forgerock(ForgeRockRoute)
        case facebook(FacebookRoute)
        case nobody
    }

    private func target(of request: SandboxRequest) -> Target {
        let servesClerk = providers.contains(.clerk)
        if providers.contains(.forgerock), let route = ForgeRockRoute.find(request.path) { return .forgerock(route) }
        if let target = oktaTarget(of: request) { return target }
        if providers.contains(.facebook), let route = FacebookRoute.find(request.path, method: request.method) {
            return .facebook(route)
        }
        if providers.contains(.oauth), let route = OAuthRoute.find(request.path) {
            // Clerk's API may have any path before its /v1.
            let isClerks =
                route.endpoint == .resource
                && ["/api/v1/client", "/api/v1/environment", "/api/v1/me"].contains { prefix in
                    request.path == prefix || request.path.hasPrefix(prefix + "/")
                }
            if !isClerks || !servesClerk { return .oauth(route) }
        }
        return servesClerk ? .clerk : .nobody
    }

    /// Okta's part: its own APIs by cookie or without anything, and below `/oauth2` those of the OAuth provider, which
    /// answers requests with an access token too.
    private func oktaTarget(of request: SandboxRequest) -> Target? {
        guard providers.contains(.okta) else { return nil }
        if let route = OktaRoute.find(request.path) {
            let isWithToken = route.endpoint == .users && request.header("authorization") != nil
            return isWithToken ? .oauth(OAuthRoute(endpoint: .resource, base: "")) : .okta(route)
        }
        guard let route = OAuthRoute.find(request.path), route.base.hasPrefix("/oauth2") else { return nil }
        return .oauth(route)
    }

    /// What Okta counts a request by; nil for a request to somebody else.
    private func oktaBucket(of target: Target) -> String? {
        switch target {
        case .okta(let route): route.bucket
        case .oauth(let route) where providers.contains(.okta) && route.base.hasPrefix("/oauth2"): route.base
        default: nil
        }
    }

    /// What the errors look like that a fault makes up.
    private func style(of target: Target, _ request: SandboxRequest, now: Int64) -> SandboxFault.Style {
        switch target {
        case .clerk: .clerk(client: clerk.clientJSON(for: request, settings: settings, now: now))
        case .oauth(let route): .oauth(isResource: route.endpoint.isResource)
        case .okta: .okta
        case .forgerock(let route): route.faultStyle
        case .facebook: .facebook
        case .nobody: .oauth(isResource: false)
        }
    }

    /// The first error code of an answer: Clerk's, OAuth's, or that of a challenge; of an upstream's a beginning.
    static func errorCode(_ reply: SandboxReply) -> String? {
        guard reply.isAnswered, reply.response.status >= 400 else { return nil }
        return errorCode(reply.response).map { String($0.prefix(200)) }
    }

    private static func errorCode(_ response: SandboxResponse) -> String? {
        let body = response.body.count <= OAuthForm.maximumLength ? response.jsonBody : nil
        if let code = body?["errors"]?[0]?["code"]?.string ?? body?["error"]?.string { return code }
        if let code = body?["errorCode"]?.string ?? FacebookFailure.code(of: body) { return code }
        if let code = ForgeRockFailure.code(of: body) { return code }
        let challenge = response.header("WWW-Authenticate") ?? ""
        guard let start = challenge.firstRange(of: "error=\"")?.upperBound else { return nil }
        return String(challenge[start...].prefix { $0 != "\"" })
    }

    private mutating func process(
        _ request: SandboxRequest,
        _ target: Target,
        now: Int64,
        rotatesToken: Bool,
        log: inout [String]
    ) -> SandboxResponse {
        var context = SandboxContext(now: now, settings: settings, random: random, codes: codes, outbox: outbox)
        let response: SandboxResponse
        switch target {
        case .clerk: response = clerk.handle(request, context: &context, rotatesToken: rotatesToken)
        case .oauth(let route): response = processOAuth(request, route, context: &context)
        case .okta(let route): response = okta.handle(request, route: route, context: &context)
        case .forgerock(let route): response = forgerock.handle(request, route: route, context: &context)
        case .facebook(let route):
            response = facebook.handle(request, route: route, context: &context, faults: &faults)
        case .nobody: response = OAuthFailure("not_found", "There is no such endpoint.", status: 404).response
        }
        random = context.random
        codes = context.codes
        outbox = context.outbox
        log += context.log
        return response
    }

    /// The OAuth provider; at its endpoints below `/oauth2` with Okta's limits and sessions.
    private mutating func processOAuth(
        _ request: SandboxRequest,
        _ route: OAuthRoute,
        context: inout SandboxContext
    ) -> SandboxResponse {
        var request = request
        if providers.contains(.okta), route.base.hasPrefix("/oauth2") {
            do {
                try okta.admit(to: route.base, context.settings.okta, now: context.now)
            } catch {
                // So it is at Okta's token endpoint: a limit in the words of a dead token.
                return OAuthFailure("invalid_grant", error.summary, status: error.status).response
            }
            if route.endpoint == .authorize, let page = okta.signIn(atAuthorize: &request, context: context) {
                return page
            }
        }
        return oauth.handle(request, route: route, context: &context)
    }

    static func line(_ record: SandboxRequestRecord) -> String {
        var line = "\(record.method) \(record.path) "
        if let grant = record.grant { line += "(\(grant)) " }
        line += "-> "
        line += record.status == 0 ? "no answer" : String(record.status)
        if let code = record.errorCode { line += " \(code)" }
        if let fault = record.fault { line += " (fault \(fault), \(record.isProcessed ? "" : "not ")processed)" }
        return line
    }
}
