import AuthRecovery
import ForgeRockAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import AuthSandbox

/// PingAM of the sandbox, without a socket and on a manual clock.
struct ForgeRockSandboxBench {
    private struct Server {
        var world: SandboxWorld
        var now: Int64
    }

    static let password: Secret = Secret(SandboxScenario.defaultPassword)
    private static let start: Int64 = 1_893_456_000_000

    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let tokens = InMemoryTokenStore()
    let events: EventRecorder
    private let server: Locked<Server>

    init(
        _ settings: (inout SandboxForgeRockSettings) -> Void = { _ in },
        people: (inout [SandboxUser]) -> Void = { _ in }
    ) {
        var scenario = SandboxScenario.unlimited
        people(&scenario.users)
        settings(&scenario.settings.forgerock)
        let world = SandboxWorld(scenario: scenario, seed: 7, wallNow: Self.start)
        let (clock, server) = (clock, Locked(Server(world: world, now: Self.start)))
        self.server = server
        transport = ScriptedTransport(
            [],
            then: .run { received in
                let response = Self.answer(received.request, received.body, server, clock)
                var head = HTTPResponse(status: .init(code: response.status))
                for header in response.headers {
                    guard let name = HTTPField.Name(header.name) else { continue }
                    head.headerFields.append(HTTPField(name: name, value: header.value))
                }
                return TransportResponse(head: head, body: MessageBody(String(decoding: response.body, as: UTF8.self)))
            }
        )
        let runtime = Runtime.manual(clock)
        client = RecoveringClient(transport: transport, runtime: runtime) { Recovery() }
        events = EventRecorder(runtime.events)
    }

    private static func answer(
        _ request: HTTPRequest,
        _ body: [UInt8],
        _ server: Locked<Server>,
        _ clock: ManualClock
    ) -> SandboxResponse {
        var headers = request.headerFields.map {
            SandboxRequest.Header(name: $0.name.canonicalName, value: $0.value)
        }
        headers.append(.init(name: "host", value: request.authority ?? ""))
        let call = SandboxRequest(
            method: request.method.rawValue,
            target: request.path ?? "/",
            headers: headers,
            body: body
        )
        return server.withLock { server in
            let elapsed = clock.now.offset.components
            server.now = start + elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000
            return server.world.handle(call, wallNow: server.now).reply.response
        }
    }

    /// Where a browser is sent from a page, which it posts a form to if there is one.
    func redirect(from url: String, posting form: FormFields? = nil) async throws -> String {
        let request = try HTTPRequest(method: form == nil ? .get : .post, url: url)
        let body = try await form?.body.collect(upTo: 65_536) ?? []
        return Self.answer(request, body, server, clock).header("Location") ?? ""
    }

    var outbox: [SandboxMessage] { server.withLock { $0.world.context.outbox.messages } }
    var counters: SandboxForgeRockCounters { server.withLock { $0.world.forgerock.counters } }
    func account(_ name: String) -> ForgeRockAccount? { server.withLock { $0.world.forgerock.accounts[name] } }

    /// The code that an authenticator shows now.
    func code(of secret: String) -> String? {
        let now = server.withLock { $0.now }
        return Base32.decode(secret).map { TOTP.code(secret: $0, step: TOTP.step(atMilliseconds: now)) }
    }

    var liveSessions: Int { server.withLock { $0.world.forgerock.sessions.values.count { !$0.isOver } } }

    /// Ends everybody's sessions from afar.
    func endSessions() { server.withLock { _ = $0.world.forgerock.endSessions(of: nil) } }

    func forgeRock(
        _ journey: String? = nil,
        _ change: (inout ForgeRockConfiguration) -> Void = { _ in }
    ) throws -> ForgeRock {
        var configuration = ForgeRockConfiguration(realm: "alpha", journey: journey)
        change(&configuration)
        return try ForgeRock(
            baseURL: "http://am.example.com",
            client: client,
            tokens: tokens,
            configuration: configuration
        )
    }

    /// Signs Ada in by a journey.
    @discardableResult
    func signIn(
        _ journey: String,
        _ person: SandboxPerson,
        with options: JourneyOptions = JourneyOptions(),
        identifier: String? = "ada",
        password: Secret? = ForgeRockSandboxBench.password,
        callbacks: any JourneyCallbackResponder = NoJourneyCallbackResponder(),
        _ change: (inout ForgeRockConfiguration) -> Void = { _ in }
    ) async throws -> ForgeRockAuth.ForgeRockSession {
        let forgeRock = try forgeRock(journey, change)
        return try await clock.skippingWaits {
            try await forgeRock.signIn(
                nil,
                with: options,
                identifier: identifier,
                password: password,
                answering: person,
                callbacks: callbacks
            )
        }
    }

    /// Somebody who answers; a mailbox and a browser are theirs by themselves.
    func person(_ answers: [Factor.Key: [Secret]] = [:], choosing choices: String...) -> SandboxPerson {
        SandboxPerson(self, answers, choosing: choices)
    }

    /// Somebody who decides about a push on their phone as soon as they see the so-manieth of them.
    func person(deciding isApproved: Bool?, about number: Int = 1) -> SandboxPerson {
        SandboxPerson(self, [:], choosing: [], deciding: isApproved, about: number)
    }

    /// Decides about the pushes that wait.
    func decide(_ isApproved: Bool) {
        server.withLock { server in
            _ = try? server.world.forgerock.decide(isApproved, for: nil, now: server.now)
        }
    }

    /// How often the journey was posted.
    var steps: Int { transport.received.count { $0.request.path?.contains("/authenticate") == true } }
}

/// A person with prepared answers, a mailbox and a browser.
final class SandboxPerson: ChallengeResponder {
    private struct State {
        var answers: [Factor.Key: [Secret]]
        var choices: [String]
        var questions: [Challenge] = []
        var shown: [Challenge] = []
        var offered: [[String]] = []
        var notices: [Outcome] = []
    }

    private let bench: ForgeRockSandboxBench
    private let state: Locked<State>
    /// What is decided about which push.
    private let decision: (isApproved: Bool?, number: Int)

    init(
        _ bench: ForgeRockSandboxBench,
        _ answers: [Factor.Key: [Secret]],
        choosing choices: [String],
        deciding isApproved: Bool? = nil,
        about number: Int = 1
    ) {
        self.bench = bench
        decision = (isApproved, number)
        state = Locked(State(answers: answers, choices: choices))
    }

    var questions: [Challenge] { state.withLock { $0.questions } }
    var keys: [Factor.Key] { questions.map(\.key) }
    var shown: [Challenge] { state.withLock { $0.shown } }
    var offered: [[String]] { state.withLock { $0.offered } }
    var notices: [Outcome] { state.withLock { $0.notices } }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let prepared = state.withLock { state -> Secret? in
            state.questions.append(challenge)
            guard state.answers[challenge.key]?.isEmpty == false else { return nil }
            return state.answers[challenge.key]?.removeFirst()
        }
        if let prepared { return .text(prepared) }
        switch challenge.key {
        case .emailCode: return .text(Secret(bench.outbox.last?.code ?? ""))
        case .redirect:
            if let url = challenge.url {
                return .text(Secret(try await bench.redirect(from: url.reveal(), posting: challenge.form)))
            }
        default: break
        }
        throw Challenge.NoAnswer(challenge.key)
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        state.withLock { state in
            state.offered.append(factors.map(\.providerName))
            guard let name = state.choices.first, let factor = factors.first(where: { $0.providerName == name })
            else { return nil }
            state.choices.removeFirst()
            return factor
        }
    }

    func show(_ challenge: Challenge) async {
        state.withLock { $0.shown.append(challenge) }
        if let isApproved = decision.isApproved, bench.counters.pushes == decision.number { bench.decide(isApproved) }
    }
    func notice(_ outcome: Outcome) async { state.withLock { $0.notices.append(outcome) } }
}
