import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

// The provider of the article "Write a provider", word for word.

struct AcmeClassifier: OutcomeClassifier {
    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = HTTPClassifier().classify(exchange)
        guard case .response(let response, let body) = exchange.result, response.status.code < 500,
            let code = (try? JSONValue(parsing: body))?["code"]?.string
        else { return outcome }
        switch code {
        case "wrong": outcome = Outcome(.invalidCredentials, processed: .no, remedies: [.askUser])
        case "wrong_code": outcome = Outcome(.challengeIncorrect, processed: .no, remedies: [.askUser])
        case "code_needed": outcome = Outcome(.continue, processed: .yes)
        case "locked":
            outcome = Outcome(.accountLocked, scope: .account, processed: .no, remedies: [.contactAdmin])
            outcome.lockout = .indefinite
        default: break
        }
        outcome.code = code
        outcome.status = response.status.code
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
            return .finished(try await keep(api.post("/code", body)))
        }
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<AcmeSession> {
        .ask(factor == .identifier ? .identifier : Challenge(factor: factor))
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<AcmeSession> {
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
        guard let token = try await response.json()["token"]?.string else {
            throw RecoveryError(.unreadable, in: response)
        }
        try await tokens.update { $0.accessToken = Secret(token) }
        return AcmeSession(name: name)
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
        self.tokens = TokenManager(store: tokens)
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
        guard try await tokens.store.read().credentials.accessToken != nil else { throw RecoveryError.signedOut }
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
        guard let session = try await session() else { throw RecoveryError.signedOut }
        return session
    }

    func signOut() async throws -> SignOutResult {
        do {
            _ = try await send(.post, path: "/logout", resend: .replayable)
        } catch let error as RecoveryError where error.kind == .reauthenticationRequired {
            // There is none, or it is over: that is what was wanted.
        }
        try await tokens.store.update { $0.remove(.access) }
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
    @Test func theArticleIsThis() throws {
        let file = URL(filePath: #filePath)
        let root = file.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let article = root.appending(path: "Sources/AuthRecovery/AuthRecovery.docc/WriteAProvider.md")
        let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
        let source = try String(contentsOf: file, encoding: .utf8).filter { !$0.isWhitespace }
        #expect(parts.count == 5)
        for part in parts.dropFirst() {
            let code = try #require(part.components(separatedBy: "```").first).filter { !$0.isWhitespace }
            #expect(source.contains(code), "\(code.prefix(60))")
        }
    }

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
