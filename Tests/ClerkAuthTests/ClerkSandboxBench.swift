import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes

@testable import AuthSandbox

/// Clerk's sandbox without a socket, on a manual clock, and a client of it.
struct ClerkSandboxBench {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens: InMemoryTokenStore
    let clerk: Clerk
    private let world: Locked<SandboxWorld>

    static let name = "eva@example.com"
    static let password: Secret = "open-sesame-42"
    private static let epoch: Int64 = 1_893_456_000_000

    /// - Parameters:
    ///   - user: What the only person is like beside their name and password.
    ///   - settings: How the instance is set up.
    init(
        _ user: (inout SandboxUser) -> Void = { _ in },
        settings: (inout SandboxSettings) -> Void = { _ in },
        configuration: ClerkConfiguration = ClerkConfiguration(),
        @RecoveringClient.PipelineBuilder middlewares: @escaping @Sendable () -> [any ClientLayer] = { [Recovery()] }
    ) throws {
        var person = SandboxUser(email: Self.name, password: Self.password.reveal())
        user(&person)
        var scenario = SandboxScenario(users: [person], settings: SandboxScenario.unlimited.settings)
        settings(&scenario.settings)
        let world = Locked(SandboxWorld(scenario: scenario, seed: 7, wallNow: Self.epoch))
        let clock = self.clock
        self.world = world
        transport = ScriptedTransport(
            [],
            then: .run { received in
                let reply = world.withLock { $0.handle(Self.request(received), wallNow: Self.now(clock)).reply }
                guard reply.isAnswered else { throw TransportError(.connectionLost, .unknown) }
                var fields: [String: String] = [:]
                for header in reply.response.headers { fields[header.name.lowercased()] = header.value }
                return .scripted(
                    reply.response.status,
                    fields,
                    body: String(decoding: reply.response.body, as: UTF8.self)
                )
            }
        )
        client = RecoveringClient(transport: transport, runtime: .manual(clock), middlewares: middlewares)
        tokens = InMemoryTokenStore()
        clerk = try Clerk(
            frontendAPI: "https://clerk.example.com",
            client: client,
            tokens: tokens,
            configuration: configuration
        )
    }

    private static func now(_ clock: ManualClock) -> Int64 {
        epoch + clock.now.offset.components.seconds * 1000
            + clock.now.offset.components.attoseconds / 1_000_000_000_000_000
    }

    private static func request(_ received: ScriptedTransport.Received) -> SandboxRequest {
        let request = received.request
        var headers = request.headerFields.map { SandboxRequest.Header(name: $0.name.canonicalName, value: $0.value) }
        headers.append(SandboxRequest.Header(name: "host", value: request.authority ?? ""))
        return SandboxRequest(
            method: request.method.rawValue,
            target: request.path ?? "/",
            headers: headers,
            body: received.body
        )
    }

    // MARK: The person

    func signIn(
        _ person: some ChallengeResponder,
        password: Secret? = ClerkSandboxBench.password,
        options: SignInOptions = SignInOptions()
    ) async throws -> ClerkAuth.ClerkSession {
        try await clock.skippingWaits {
            try await clerk.signIn(identifier: Self.name, password: password, answering: person, options: options)
        }
    }

    /// The code that was sent last.
    var code: String { world.withLock { $0.outbox.messages.last?.code ?? "" } }

    /// What the person's authenticator shows.
    var totp: String {
        let now = Self.now(clock)
        return world.withLock { world in
            world.context.now = now
            return world.clerk.account(named: Self.name).flatMap { world.clerk.currentTOTP($0, world.context) } ?? ""
        }
    }

    /// What an authenticator shows that is being set up.
    func code(ofAuthenticator setup: Secret) -> String {
        let text = setup.reveal()
        let secret = text.split(separator: "secret=").last.map { $0.prefix { $0 != "&" } } ?? text[...]
        return TOTP.code(
            secret: Base32.decode(String(secret)) ?? [],
            step: TOTP.step(atMilliseconds: Self.now(clock))
        )
    }

    /// Visits a page as a browser does that follows no redirections.
    ///
    /// - Parameter form: What is sent with a POST; nil gets the page.
    /// - Returns: Where the browser is sent.
    @discardableResult
    func visit(_ url: String, _ form: String? = nil) -> String {
        let target = String(url.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
        let type = SandboxRequest.Header(name: "content-type", value: "application/x-www-form-urlencoded")
        let request = SandboxRequest(
            method: form == nil ? "GET" : "POST",
            target: target,
            headers: [SandboxRequest.Header(name: "host", value: "clerk.example.com")] + (form == nil ? [] : [type]),
            body: Array((form ?? "").utf8)
        )
        return world.withLock { $0.handle(request, wallNow: Self.now(clock)).reply.response.header("Location") ?? "" }
    }

    // MARK: Behind the client's back

    func control(_ path: String, _ body: String = "") -> JSONValue {
        let request = SandboxRequest(method: "POST", target: "/_sandbox/\(path)", body: Array(body.utf8))
        return world.withLock { $0.handle(request, wallNow: Self.now(clock)).reply.response.jsonBody ?? .null }
    }

    func add(_ fault: SandboxFault) { world.withLock { _ = $0.context.faults.add(fault) } }

    /// How often the person has failed since they signed in last.
    var failures: Int64 { world.withLock { $0.clerk.account(named: Self.name)?.failures ?? 0 } }

    /// The statuses of the person's sessions.
    var sessionStatuses: [String] { world.withLock { $0.clerk.sessions.values.map(\.status).sorted() } }

    /// Each request as method and path below `/v1`, ids left out.
    var routes: [String] {
        transport.received.map { received in
            let segments = received.request.pathWithoutQuery.dropFirst(4).split(separator: "/").map { segment in
                segment.contains("_") && segment.contains(where: \.isUppercase) ? "{id}" : String(segment)
            }
            return "\(received.request.method.rawValue) \(segments.joined(separator: "/"))"
        }
    }

    func count(_ route: String) -> Int { routes.count { $0 == route } }

    /// The forms that were sent to a route.
    func forms(_ route: String) -> [String] {
        zip(routes, transport.received).filter { $0.0 == route }.map(\.1.text)
    }
}

/// Somebody who reads their mail, visits pages and looks at their authenticator.
final class SandboxPerson: ChallengeResponder {
    private let bench: ClerkSandboxBench
    private let answers: Locked<[Factor.Key: [Secret]]>
    private let state = Locked<(asked: [Challenge], shown: [Challenge], notices: [Outcome], offers: [[Factor]])>(
        ([], [], [], [])
    )
    private let choices: [String]
    /// What is done at another provider's page.
    private let decision: String

    /// - Parameters:
    ///   - answers: What is answered before the person looks anything up.
    ///   - choices: The providers' names of the factors that are chosen.
    ///   - decision: The form that is sent at another provider's page.
    init(
        _ bench: ClerkSandboxBench,
        _ answers: [Factor.Key: [Secret]] = [:],
        choosing choices: [String] = [],
        deciding decision: String = "decision=allow&email=eva%40example.com"
    ) {
        self.bench = bench
        self.answers = Locked(answers)
        self.choices = choices
        self.decision = decision
    }

    var asked: [Challenge] { state.withLock { $0.asked } }
    var keys: [Factor.Key] { asked.map(\.key) }
    var shown: [Challenge] { state.withLock { $0.shown } }
    var notices: [Outcome.Kind] { state.withLock { $0.notices.map(\.kind) } }
    /// The providers' names of what was offered at each choice.
    var offers: [[String]] { state.withLock { $0.offers.map { $0.map(\.providerName) } } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        state.withLock { $0.asked.append(challenge) }
        let prepared = answers.withLock { answers -> Secret? in
            guard answers[challenge.key]?.isEmpty == false else { return nil }
            return answers[challenge.key]?.removeFirst()
        }
        if let prepared { return .text(prepared) }
        switch challenge.key {
        case .emailCode, .phoneCode: return .text(Secret(bench.code))
        case .totp:
            return .text(Secret(challenge.setup.map(bench.code(ofAuthenticator:)) ?? bench.totp))
        case .emailLink: return .text(Secret(bench.visit(bench.code)))
        case .redirect:
            guard let url = challenge.url?.reveal() else { throw Challenge.NoAnswer(.redirect) }
            return .text(Secret(bench.visit(url, decision)))
        default: throw Challenge.NoAnswer(challenge.key)
        }
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        state.withLock { $0.offers.append(factors) }
        return factors.first { choices.contains($0.providerName) }
    }

    func show(_ challenge: Challenge) async { state.withLock { $0.shown.append(challenge) } }
    func notice(_ outcome: Outcome) async { state.withLock { $0.notices.append(outcome) } }
}
