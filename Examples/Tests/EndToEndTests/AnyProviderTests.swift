import Auth0Auth
import AuthRecovery
import AuthSandbox
import ClerkAuth
import CurlTransport
import FacebookAuth
import ForgeRockAuth
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// What a program does with any provider is written once: here it is, for all of them.
@Suite("Any provider", .timeLimit(.minutes(10)))
struct AnyProviderTests {
    private static let name = "ada@example.com"
    private static let password = Secret("open-sesame-42")

    /// Signs in, looks, asks, renews, signs out.
    private func goAllTheWay(_ provider: some AuthProvider, _ name: String, path: String) async throws {
        let kind = "\(type(of: provider))"
        #expect(try await provider.session() == nil, "\(kind)")
        let person = Nobody()
        let session = try await provider.signIn(identifier: name, password: Self.password, answering: person)
        #expect(session.summary.status.lowercased() == "active", "\(kind)")
        #expect(try await provider.session()?.summary.name != nil, "\(kind)")
        let response = try await provider.send(path: path, headerFields: [.accept: "application/json"])
        #expect(response.status.code == 200, "\(kind)")
        let held = try await provider.tokens.store.read().credentials
        _ = try await provider.refresh()
        #expect(held != Credentials(), "\(kind)")
        guard case .ended = try await provider.signOut() else { return #expect(Bool(false), "\(kind)") }
        #expect(try await provider.session() == nil, "\(kind)")
        guard case .ended = try await provider.signOut() else { return #expect(Bool(false), "\(kind)") }
        let error = await #expect(throws: RecoveryError.self) { try await provider.send(path: path) }
        #expect(error?.kind == .reauthenticationRequired, "\(kind)")
        #expect(await provider.lockouts.lockout(of: name) == nil, "\(kind)")
    }

    @Test func isUsedAlike() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        defer { sandbox.stop() }
        sandbox.updateSettings { $0.facebook.device = .init(polls: 0) }
        let transport = CurlTransport()
        let clock = ManualClock()
        // The sandbox's time is the machine's; what is waited for passes at once.
        let time = clock.timeSource(wallTime: Timestamp(secondsSinceEpoch: Int64(time(nil))))
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: time))
        func store() -> InMemoryTokenStore { InMemoryTokenStore() }
        do {
            try await clock.skippingWaits {
                try await goAllTheWay(
                    Clerk(frontendAPI: sandbox.url, client: client, tokens: store()),
                    Self.name,
                    path: "/v1/me"
                )
                try await goAllTheWay(
                    Okta(org: sandbox.url, client: client, tokens: store()),
                    Self.name,
                    path: "/api/v1/users/me"
                )
                try await goAllTheWay(
                    ForgeRock(
                        baseURL: sandbox.url + "/am",
                        client: client,
                        tokens: store(),
                        configuration: ForgeRockConfiguration(realm: "alpha", journey: "Login")
                    ),
                    "ada",
                    path: "/json/realms/root/realms/alpha/users/ada"
                )
                try await goAllTheWay(
                    Auth0(
                        tenant: sandbox.url + "/auth0",
                        client: client,
                        tokens: store(),
                        configuration: Auth0Configuration(clientID: "cli")
                    ),
                    Self.name,
                    path: "/userinfo"
                )
                let settings = SandboxFacebookSettings()
                let app = FacebookApp(
                    id: settings.appID,
                    secret: Secret(settings.appSecret),
                    clientToken: Secret(settings.clientToken),
                    prover: HMACAppSecretProver(appSecret: Secret(settings.appSecret))
                )
                try await goAllTheWay(
                    Facebook(app: app, graph: sandbox.url, client: client, tokens: store()),
                    Self.name,
                    path: "me"
                )
            }
        } catch {
            await transport.shutdown()
            throw error
        }
        await transport.shutdown()
    }
}

/// Nobody is there to be asked.
private struct Nobody: ChallengeResponder {
    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }
}
