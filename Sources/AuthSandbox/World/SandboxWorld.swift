import HTTPRecovery

/// Everything that a sandbox is, without its sockets: a value that turns a request into a reply.
struct SandboxWorld: Sendable {
    let scenario: SandboxScenario
    let seed: UInt64
    /// Where everything but the control requests is forwarded to; nil where the providers answer.
    let upstream: SandboxUpstream?
    var upstreamTokens = UpstreamTokens()
    /// In the order of ``SandboxProvider/all``.
    private var providers: [any ProviderWorld] = []
    var context: SandboxContext
    var log = RequestLog()
    /// How far the sandbox's clock is ahead of the machine's.
    var clockOffset: Int64 = 0

    var settings: SandboxSettings {
        get { context.settings }
        set { context.settings = newValue }
    }
    var faults: FaultTable {
        get { context.faults }
        set { context.faults = newValue }
    }
    var outbox: Outbox { context.outbox }

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
        self.upstream = upstream
        context = SandboxContext(
            now: wallNow,
            settings: scenario.settings,
            providers: providers,
            random: SplitMix64(seed: seed),
            codes: SplitMix64(seed: ~seed),
            faults: FaultTable(seed: seed ^ 0xfa17)
        )
        for provider in SandboxProvider.all {
            self.providers.append(provider.world.init(scenario: scenario, seed: seed, context: &context))
        }
        for user in scenario.users { add(user) }
        for fault in scenario.faults { context.faults.add(fault) }
    }

    /// Begins again.
    mutating func reset(wallNow: Int64) {
        var forgotten = log
        forgotten.clear()
        let providers = context.providers
        self = SandboxWorld(scenario: scenario, seed: seed, wallNow: wallNow, providers: providers, upstream: upstream)
        log = forgotten
    }

    /// One provider's own world.
    subscript<World: ProviderWorld>(_ type: World.Type) -> World {
        get {
            for case let world as World in providers { return world }
            preconditionFailure("\(World.name) is no provider of the sandbox")
        }
        set {
            for index in providers.indices where providers[index] is World { providers[index] = newValue }
        }
    }

    /// Does something with one provider's world and with what all share.
    mutating func with<World: ProviderWorld, Result>(
        _ type: World.Type,
        _ body: (inout World, inout SandboxContext) throws(SandboxError) -> Result
    ) throws(SandboxError) -> Result {
        var world = self[type]
        defer { self[type] = world }
        return try body(&world, &context)
    }

    /// Adds a person for every provider.
    mutating func add(_ user: SandboxUser) {
        for index in providers.indices { providers[index].add(user, context: &context) }
    }

    /// Locks or unlocks a person.
    mutating func lock(_ user: String, _ lock: SandboxLock) {
        for index in providers.indices { providers[index].lock(user, lock) }
    }

    /// Answers one request.
    ///
    /// - Parameters:
    ///   - request: What arrived.
    ///   - wallNow: The machine's time in milliseconds since 1970.
    /// - Returns: The reply, and lines for the log.
    mutating func handle(_ request: SandboxRequest, wallNow: Int64) -> (reply: SandboxReply, log: [String]) {
        context.now = now(wallNow: wallNow)
        context.origin = request.origin
        context.log = []
        if request.isControl {
            let response = control(request)
            return (SandboxReply(response: response, now: now(wallNow: wallNow)), [])
        }
        // Those later in the list have the narrower paths.
        let taker = providers.lastIndex { $0.takes(request, context: context) }
        let fault = context.faults.take(for: request)
        context.rotatesToken = fault?.kind == .rotateToken
        var response = SandboxResponse(status: 0)
        if fault?.processes ?? true { response = answer(request, taker) }
        var reply = SandboxReply(response: response, now: context.now)
        if let fault {
            reply = fault.applied(to: response, now: context.now) { status in
                let form = fault.envelope
                let named = form.flatMap { form in providers.firstIndex { type(of: $0).envelopes.contains(form) } }
                guard let index = named ?? taker else {
                    return OAuthFailure(fault, status: status, isResource: false).response
                }
                return providers[index].error(
                    fault,
                    status: status,
                    form: named == nil ? nil : form,
                    to: request,
                    context: context
                )
            }
        }
        for index in providers.indices where taker != nil && serves(providers[index]) {
            providers[index].follow(&reply.response, to: request, context: context)
        }
        let record = log.note(
            request,
            at: context.now,
            processed: fault?.processes ?? true,
            fault: fault?.kind.name,
            status: reply.isAnswered ? reply.response.status : 0,
            errorCode: reply.errorCode,
            hiddenHeaders: Set(providers.flatMap { type(of: $0).secretHeaders(settings) })
        )
        return (reply, context.log + [record.line])
    }

    private mutating func answer(_ request: SandboxRequest, _ taker: Int?) -> SandboxResponse {
        guard let taker else { return OAuthFailure.notFound.response }
        var request = request
        for index in providers.indices where serves(providers[index]) {
            if let response = providers[index].precede(&request, context: &context) { return response }
        }
        return providers[taker].answer(request, context: &context)
    }

    /// The providers that answer.
    var served: [any ProviderWorld] { providers.filter(serves) }

    private func serves(_ world: any ProviderWorld) -> Bool {
        context.serves(type(of: world))
    }

    /// The time on the sandbox's clock.
    func now(wallNow: Int64) -> Int64 {
        wallNow.addingReportingOverflow(clockOffset).overflow ? .max / 4 : min(wallNow + clockOffset, .max / 4)
    }
}

extension SandboxReply {
    /// The first error code of an answer, as far as a provider knows it, or that of a challenge; of an upstream's a
    /// beginning.
    var errorCode: String? {
        guard isAnswered, response.status >= 400 else { return nil }
        if response.body.count <= OAuthForm.maximumLength, let body = response.jsonBody {
            for provider in SandboxProvider.all {
                if let code = provider.world.errorCode(of: body) { return String(code.prefix(200)) }
            }
        }
        let challenge = response.header("WWW-Authenticate") ?? ""
        guard let start = challenge.firstRange(of: "error=\"")?.upperBound else { return nil }
        return String(challenge[start...].prefix { $0 != "\"" }.prefix(200))
    }
}
