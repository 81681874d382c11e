import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import SignInSupport
import Testing
import WebAuthnTesting

@testable import AuthSandbox

/// The sandbox's world without a socket.
struct Harness {
    var world: SandboxWorld
    var now: Int64 = 1_893_456_000_000

    init(_ scenario: SandboxScenario) {
        world = SandboxWorld(scenario: scenario, seed: 7, wallNow: now)
    }

    mutating func send(_ request: SandboxRequest) -> SandboxResponse {
        world.handle(request, wallNow: now).reply.response
    }

    var lastCode: String { world.context.outbox.messages.last?.code ?? "" }
}

/// An org of the sandbox that runs on the identity engine, without a socket and on a manual clock.
struct OktaSandboxBench {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let tokens = InMemoryTokenStore()
    let client: RecoveringClient
    let okta: Okta
    let world: Locked<Harness>
    /// What happens to the answers of paths: they are lost after they were processed.
    let losses = Locked<[String]>([])

    static let eva = "eva@example.com"
    static let password = SandboxScenario.defaultPassword

    init(
        _ user: (inout SandboxUser) -> Void = { _ in },
        configuration: (inout OktaConfiguration) -> Void = { _ in },
        settings: (inout SandboxSettings) -> Void = { _ in }
    ) throws {
        var person = SandboxUser(email: Self.eva, password: Self.password)
        person.phones = ["+4930123456"]
        person.totpSecret = "JBSWY3DPEHPK3PXP"
        person.secondFactors = []
        person.okta.factors = []
        user(&person)
        var scenario = SandboxScenario(users: [person], settings: SandboxScenario.unlimited.settings)
        scenario.settings.okta.isIdentityEngine = true
        settings(&scenario.settings)
        let (clock, world, losses) = (self.clock, Locked(Harness(scenario)), self.losses)
        self.world = world
        transport = ScriptedTransport(
            [],
            then: .run { received in
                let request = received.request
                let path = request.path ?? "/"
                let response = world.withLock { harness -> SandboxResponse in
                    var headers = request.headerFields.map {
                        SandboxRequest.Header(name: $0.name.canonicalName, value: $0.value)
                    }
                    headers.append(.init(name: "host", value: request.authority ?? ""))
                    let elapsed = clock.now.offset.components
                    harness.now = 1_893_456_000_000 + elapsed.seconds * 1000
                    return harness.send(
                        SandboxRequest(
                            method: request.method.rawValue,
                            target: path,
                            headers: headers,
                            body: received.body
                        )
                    )
                }
                let isLost = losses.withLock { losses in
                    guard let index = losses.firstIndex(where: path.hasSuffix) else { return false }
                    losses.remove(at: index)
                    return true
                }
                if isLost { throw TransportError(.connectionLost, .unknown) }
                var fields: [String: String] = [:]
                for header in response.headers { fields[header.name.lowercased()] = header.value }
                return .scripted(
                    response.status,
                    fields,
                    body: String(decoding: response.body, as: UTF8.self).replacing("http://", with: "https://")
                )
            }
        )
        client = RecoveringClient(transport: transport, runtime: .manual(clock)) { Recovery() }
        okta = try Self.okta(client, tokens, configuration)
    }

    private static func okta(
        _ client: RecoveringClient,
        _ tokens: any TokenStore,
        _ change: (inout OktaConfiguration) -> Void
    ) throws -> Okta {
        let app = OktaApp(clientID: "cli", redirectURI: "com.example.cli:/callback", issuer: "http://org.example.com")
        var configuration = OktaConfiguration(app: app)
        change(&configuration)
        return try Okta(org: "https://org.example.com", client: client, tokens: tokens, configuration: configuration)
    }

    /// Somebody else's client of the same org.
    func other(
        _ configuration: (inout OktaConfiguration) -> Void = { _ in },
        tokens: any TokenStore = InMemoryTokenStore(),
        waitingAtMost limit: Duration? = nil
    ) throws -> Okta {
        try Self.okta(limit.map { client.waiting(atMost: $0) } ?? client, tokens, configuration)
    }

    func signIn(
        _ person: some ChallengeResponder,
        password: Secret? = Secret(OktaSandboxBench.password),
        options: SignInOptions = .okta
    ) async throws -> OktaAuth.OktaSession {
        try await clock.skippingWaits {
            try await okta.signIn(identifier: Self.eva, password: password, answering: person, options: options)
        }
    }

    var paths: [String] {
        transport.received.map { ($0.request.path ?? "").replacing("/idp/idx/", with: "") }
    }

    func count(_ path: String) -> Int { paths.count { $0.hasPrefix(path) } }

    var counters: OktaCounters { world.withLock { $0.world.okta.counters } }
    var lastCode: String { world.withLock { $0.lastCode } }
    func totp() -> String {
        world.withLock { harness in
            let world = harness.world
            let account = world.okta.account(named: Self.eva)
            return account.flatMap { world.okta.currentTOTP($0, settings: world.settings, now: harness.now) } ?? ""
        }
    }
}

/// Somebody who looks codes up when they are asked.
final class Reader: ChallengeResponder {
    let bench: OktaSandboxBench
    let answers: Locked<[Factor.Key: [Challenge.Answer]]>
    let asked = Locked<[Challenge]>([])
    let shown = Locked<[Challenge]>([])
    let notices = Locked<[Outcome]>([])
    let offers = Locked<[[Factor]]>([])
    let choices: Locked<[String]>

    init(_ bench: OktaSandboxBench, _ answers: [Factor.Key: [Challenge.Answer]] = [:], choosing: [String] = []) {
        self.bench = bench
        self.answers = Locked(answers)
        choices = Locked(choosing)
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        asked.withLock { $0.append(challenge) }
        let prepared = answers.withLock { answers -> Challenge.Answer? in
            guard let list = answers[challenge.key], !list.isEmpty else { return nil }
            return answers[challenge.key]?.removeFirst()
        }
        if let prepared { return prepared }
        switch challenge.key {
        case .totp: return .text(Secret(bench.totp()))
        case .phoneCode, .emailCode: return .text(Secret(bench.lastCode))
        case .securityAnswer: return .text("Rexxx")
        default: throw Challenge.NoAnswer(challenge.key)
        }
    }

    func choose(among factors: [Factor]) async throws -> Factor? {
        offers.withLock { $0.append(factors) }
        let names = choices.withLock { $0 }
        let chosen = names.lazy.compactMap { name in
            factors.first { $0.providerName == name || $0.key.rawValue == name }
        }
        return chosen.first
    }

    func show(_ challenge: Challenge) async { shown.withLock { $0.append(challenge) } }
    func notice(_ outcome: Outcome) async { notices.withLock { $0.append(outcome) } }
    var keys: [Factor.Key] { asked.withLock { $0.map(\.key) } }
}
