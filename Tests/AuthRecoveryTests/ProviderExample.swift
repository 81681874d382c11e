import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

// The provider of the article "Write a provider", word for word.

struct AcmeClassifier: OutcomeClassifier {
    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = HTTPClassifier().classify(exchange)
        guard case .response(let response, let body) = exchange.result, response.status.code < 500,
            response.status != .tooManyRequests, let code = (try? JSONValue(parsing: body))?["code"]?.string
        else { return outcome }
        outcome.code = code
        switch code {
        case "wrong": (outcome.kind, outcome.remedies) = (.invalidCredentials, [.askUser])
        case "wrong_code": (outcome.kind, outcome.remedies) = (.challengeIncorrect, [.askUser])
        case "code_needed": (outcome.kind, outcome.remedies) = (.continue, [])
        case "locked":
            (outcome.kind, outcome.scope, outcome.remedies) = (.accountLocked, .account, [.contactAdmin])
            outcome.lockout = .indefinite
        case "token_over":
            (outcome.kind, outcome.remedies) = (.credentialRejected, [.refreshCredential])
            outcome.credential = exchange.path.hasSuffix("/token") ? .refresh : .access
            outcome.tokenAction = .clear
        default: break
        }
        return outcome
    }
}

struct AcmeAPI {
    let base: ServiceURL
    var client: RecoveringClient

    func post(_ path: String, _ body: JSONValue, account: String? = nil) async throws -> RecoveredResponse {
        var request = base.request(.post, path: path)
        let content = ProviderRequest.Content.json(body).body(typedIn: &request.headerFields)
        var options = RequestOptions()
        options.classifier = AcmeClassifier()
        options.resend = .spending  // a password and a code are sent once
        options.account = account  // a lockout holds the next try back
        return try await client.send(request, body: content, options: options)
    }

    /// What the server gives with a token; nothing of what was there before, which may be somebody else's.
    func credentials(in response: RecoveredResponse) async throws -> Credentials {
        let json = try await response.json()
        guard let token = json["token"]?.string else { throw RecoveryError(.unreadable, in: response) }
        var credentials = Credentials()
        credentials.accessToken = Secret(token)
        credentials.refreshToken = json["refresh"]?.string.map { Secret($0) }
        let lifetime = json["lasts_s"]?.number.map { Duration.saturating(seconds: $0.double) }
        credentials.expiresAt = lifetime.map { client.runtime.time.wallTime.advanced(by: $0) }
        return credentials
    }
}

struct AcmeSignInMachine: SignInMachine {
    var api: AcmeAPI
    let tokens: any TokenStore
    var name: String
    var password: Secret?
    var flow: String?

    private static let passwordFactor = Factor(key: .password, providerName: "password")
    private static let codeFactor = Factor(key: .emailCode, providerName: "code")

    var openingFactor: Factor? { password.map { _ in Self.passwordFactor } }

    mutating func enter(_ context: SignInContext) {
        api.client = api.client.within(context.operation)
    }

    mutating func begin() async throws -> SignInStep<AcmeSession> {
        // Whoever is not named is asked for the name.
        guard !name.isEmpty else { return .ask(.identifier) }
        guard let password else { return .ask(Challenge(factor: Self.passwordFactor)) }
        // Refused once is refused for good.
        self.password = nil
        let account = LockoutLedger.account(for: name)
        let body: JSONValue = ["name": .string(name), "password": .string(password.reveal())]
        let response = try await api.post("/login", body, account: account)
        guard response.outcome.kind == .continue else { return .finished(try await keep(response)) }
        flow = try await response.json()["flow"]?.string
        return .ask(Challenge(factor: Self.codeFactor))
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<AcmeSession> {
        switch challenge.key {
        case .text:
            name = answer.reveal()
            return try await begin()
        case .password:
            password = answer
            return try await begin()
        default:
            let body: JSONValue = ["flow": .string(flow ?? ""), "code": .string(answer.reveal())]
            return .finished(try await keep(api.post("/code", body, account: LockoutLedger.account(for: name))))
        }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<AcmeSession> {
        .ask(factor == .identifier ? .identifier : Challenge(factor: factor))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<AcmeSession> {
        var api = api
        if let limit { api.client = api.client.waiting(atMost: limit) }
        _ = try await api.post("/code/again", ["flow": .string(flow ?? "")])
        return .ask(Challenge(factor: factor))
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<AcmeSession> {
        if let refusal { throw refusal }
        return .choose([factor])
    }

    var memory: JSONValue {
        ["acme": ["name": .string(name), "flow": flow.map { .string($0) } ?? .null]]
    }

    private func keep(_ response: RecoveredResponse) async throws -> AcmeSession {
        let credentials = try await api.credentials(in: response)
        try await tokens.keep { $0 = credentials }
        return AcmeSession(name: name)
    }
}

struct AcmeRenewer: TokenRenewer {
    let api: AcmeAPI

    /// The server takes a refresh token once, and for ten seconds once more if its answer was lost.
    var reuse: RefreshTokenGrant.Reuse { .rotating(grace: .seconds(10)) }

    func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken != nil }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        var api = api
        api.client = api.client.within(operation)
        let token = credentials.refreshToken?.reveal() ?? ""
        var renewed = try await api.credentials(in: api.post("/token", ["refresh": .string(token)]))
        renewed.refreshToken = renewed.refreshToken ?? credentials.refreshToken
        return renewed
    }
}

struct AcmeSession: AuthSession {
    var name: String
    var summary: SessionSummary { SessionSummary(name: name) }
}

struct Acme: AuthProvider {
    private var api: AcmeAPI
    let tokens: TokenManager

    init(url: String, client: RecoveringClient, tokens: any TokenStore) throws {
        api = AcmeAPI(base: try ServiceURL(url), client: client)
        self.tokens = TokenManager(store: tokens, renewer: AcmeRenewer(api: api))
    }

    var origin: Origin { api.base.origin }
    var client: RecoveringClient {
        get { api.client }
        set { api.client = newValue }
    }

    func signInFlow(identifier: String?, password: Secret?, options: SignInOptions?) -> SignInFlow<AcmeSession> {
        let machine = AcmeSignInMachine(api: api, tokens: tokens.store, name: identifier ?? "", password: password)
        return SignInFlow(machine, client: client, options: options ?? SignInOptions())
    }

    func signInMachine(from memory: JSONValue) -> (any SignInMachine<AcmeSession>)? {
        guard let name = memory["acme"]?["name"]?.string else { return nil }
        var machine = AcmeSignInMachine(api: api, tokens: tokens.store, name: name)
        machine.flow = memory["acme"]?["flow"]?.string
        return machine
    }

    func send(
        _ request: ProviderRequest,
        answering responder: (any ChallengeResponder)?
    ) async throws -> RecoveredResponse {
        let held = try await tokens.store.read().credentials
        guard held.accessToken != nil || held.refreshToken != nil else { throw RecoveryError.signedOut }
        var wanted = api.base.request(request.method, path: request.path, query: request.query)
        wanted.headerFields = request.headerFields
        let body = request.body?.body(typedIn: &wanted.headerFields)
        var options = RequestOptions()
        options.classifier = AcmeClassifier()
        options.resend = request.resend
        options.presents = .access
        options.attemptLayers = [Authorization(tokens, audience: [origin])]
        options.policies = [SessionRenewal(tokens)]
        return try await client.send(wanted, body: body, options: options)
    }

    func session() async throws -> AcmeSession? {
        do {
            return AcmeSession(name: try await send(path: "/me").json()["name"]?.string ?? "")
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            return nil
        }
    }

    func refresh() async throws -> AcmeSession {
        try await tokens.renew(by: client)
        guard let session = try await session() else { throw RecoveryError.signedOut }
        return session
    }

    func signOut() async throws -> SignOutResult {
        do {
            _ = try await send(.post, path: "/logout", resend: .replayable)
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            // There is none, or it is over: that is what was wanted.
        }
        try await tokens.store.keep { $0 = Credentials() }
        return .ended
    }
}

@Suite struct ProviderExampleTests {
    private struct Person: ChallengeResponder {
        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            .text(challenge.key == .password ? "right" : "123456")
        }
    }

    /// The article holds what is compiled here, however its lines are broken.

    @Test func itSignsInThroughAWrongPasswordAndACode() async throws {
        let transport = ScriptedTransport([
            .status(403, body: #"{"code":"wrong"}"#), .status(403, body: #"{"code":"code_needed","flow":"f"}"#),
            .status(200, body: #"{"token":"T"}"#), .status(200, body: #"{"name":"ada"}"#), .status(200),
        ])
        let store = InMemoryTokenStore()
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let acme = try Acme(url: "https://acme.example.com/api/", client: client, tokens: store)
        let session = try await acme.signIn(identifier: "ada", password: "wrong", answering: Person())
        #expect(session.summary.name == "ada")
        #expect(try await acme.session()?.name == "ada")
        guard case .ended = try await acme.signOut() else { return #expect(Bool(false)) }
        #expect(
            transport.received.map { $0.request.path } == [
                "/api/login", "/api/login", "/api/code", "/api/me", "/api/logout",
            ]
        )
        #expect(await store.read().credentials.accessToken == nil)
        guard case .ended = try await acme.signOut() else { return #expect(Bool(false)) }
        #expect(transport.received.count == 5, "without a session nothing is done")
    }

    /// Whoever is not named is asked for the name before anything is sent.
    @Test func theNameIsAskedFor() async throws {
        let transport = ScriptedTransport([.status(200, body: #"{"token":"T"}"#)])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let acme = try Acme(url: "https://acme.example.com", client: client, tokens: InMemoryTokenStore())
        var flow = acme.signInFlow(identifier: nil, password: "right", options: nil)
        guard case .ask(let question) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(question.factor == .identifier && transport.received.isEmpty)
        guard case .finished(let session) = try await flow.step(.answer(.text("ada"))).step else {
            return #expect(Bool(false))
        }
        #expect(session.name == "ada")
    }

    /// The server of the article, without what is not asked for here.
    private func acme(
        _ steps: [ScriptedTransport.Step],
        clock: ManualClock = ManualClock()
    ) throws -> (Acme, ScriptedTransport, InMemoryTokenStore) {
        let (transport, store) = (ScriptedTransport(steps), InMemoryTokenStore())
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))
        return (try Acme(url: "https://acme.example.com", client: client, tokens: store), transport, store)
    }

    private static let tokens = #"{"token":"T","refresh":"R","lasts_s":3600}"#

    @Test func aTokenThatIsOverIsRenewedOnce() async throws {
        let (acme, transport, store) = try acme([
            .status(200, body: Self.tokens), .status(401, body: #"{"code":"token_over"}"#),
            .status(200, body: #"{"token":"T2","refresh":"R2"}"#), .status(200, body: #"{"name":"ada"}"#),
        ])
        _ = try await acme.signIn(identifier: "ada", password: "right", answering: Person())
        #expect(await store.read().credentials.expiresAt != nil)
        #expect(try await acme.session()?.name == "ada")
        #expect(transport.received.map { $0.request.path } == ["/login", "/me", "/token", "/me"])
        let held = await store.read().credentials
        #expect(held.accessToken?.reveal() == "T2" && held.refreshToken?.reveal() == "R2" && held.expiresAt == nil)
        transport.append([.status(200, body: #"{"token":"T3"}"#), .status(200, body: #"{"name":"ada"}"#)])
        #expect(try await acme.refresh().name == "ada")
        #expect(await store.read().credentials.refreshToken?.reveal() == "R2")
    }

    @Test func aRefreshTokenThatIsOverEndsTheSession() async throws {
        let clock = ManualClock()
        let (acme, transport, store) = try acme(
            [
                .status(200, body: Self.tokens), .status(401, body: #"{"code":"token_over"}"#),
                .status(401, body: #"{"code":"token_over"}"#),
            ],
            clock: clock
        )
        _ = try await acme.signIn(identifier: "ada", password: "right", answering: Person())
        let session = try await clock.skippingWaits { try await acme.session() }
        #expect(session == nil && transport.received.count == 3)
        #expect(await store.read().credentials.refreshToken == nil)
    }

    @Test func signingOutLeavesNothingBehind() async throws {
        let (acme, transport, store) = try acme([.status(200, body: Self.tokens), .status(200)])
        _ = try await acme.signIn(identifier: "ada", password: "right", answering: Person())
        _ = try await acme.signOut()
        #expect(await store.read().credentials == Credentials())
        #expect(try await acme.session() == nil && transport.received.count == 2)
    }

    @Test func aLimitStandsAboveEveryWord() async throws {
        let (acme, transport, _) = try acme([
            .status(429, ["retry-after": "5"], body: #"{"code":"locked"}"#), .status(200, body: Self.tokens),
        ])
        var patient = acme
        patient.client = acme.client.waiting(atMost: .seconds(1))
        let error = await #expect(throws: RecoveryError.self) {
            try await patient.signIn(identifier: "ada", password: "right", answering: Person())
        }
        #expect(error?.kind == .rateLimited && error?.retryAfter == .seconds(5) && transport.received.count == 1)
    }

    @Test func whoIsCancelledAfterTheAnswerHasTheTokenAllTheSame() async throws {
        let (acme, transport, store) = try acme([])
        let isAsked = Flight<Void>()
        transport.append([
            .run { _ in
                isAsked.land(.success(()))
                while !Task.isCancelled { await Task.yield() }
                return .scripted(200, body: Self.tokens)
            }
        ])
        let signIn = Task { try await acme.signIn(identifier: "ada", password: "right", answering: Person()) }
        try await isAsked.value
        signIn.cancel()
        _ = try? await signIn.value
        #expect(await store.read().credentials.accessToken?.reveal() == "T")
    }

    @Test func anAccountThatIsLockedAtTheCodeIsLocked() async throws {
        let (acme, transport, _) = try acme([
            .status(403, body: #"{"code":"code_needed","flow":"f"}"#), .status(423, body: #"{"code":"locked"}"#),
        ])
        for _ in 0..<2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await acme.signIn(identifier: "ada", password: "right", answering: Person())
            }
            #expect(error?.kind == .accountLocked && transport.received.count == 2)
        }
    }

    @Test func aLockedAccountIsAskedNoMore() async throws {
        let transport = ScriptedTransport([.status(423, body: #"{"code":"locked"}"#)])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let acme = try Acme(url: "https://acme.example.com", client: client, tokens: InMemoryTokenStore())
        for _ in 0..<2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await acme.signIn(identifier: "ada", password: "right", answering: Person())
            }
            #expect(error?.kind == .accountLocked && transport.received.count == 1)
        }
    }
}
