import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Whose limit it is")
struct GateIdentityTests {
    /// A client of one user, on a state that it may share with others.
    private struct User {
        let transport: ScriptedTransport
        let client: RecoveringClient
        let tokens: TokenManager

        init(
            _ tokens: any TokenStore,
            _ steps: [ScriptedTransport.Step] = [],
            store: any RecoveryStore,
            clock: ManualClock,
            renewer: (any TokenRenewer)? = nil
        ) {
            let manager = TokenManager(store: tokens, renewer: renewer)
            self.tokens = manager
            transport = ScriptedTransport(steps)
            let runtime = Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1), store: store)
            client = RecoveringClient(transport: transport, runtime: runtime) {
                Recovery { SessionRenewal(manager) }
                Authorization(manager, audience: [Bench.origin])
            }
        }

        /// Whether a request goes out, rather than being held.
        var isHeld: Bool {
            get async {
                let before = transport.received.count
                _ = try? await client.send(Bench.get)
                return transport.received.count == before
            }
        }
    }

    private struct Renews: TokenRenewer {
        var reuse: RefreshTokenGrant.Reuse { .reusable }
        func canRenew(_ credentials: Credentials) -> Bool { true }
        func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
            var renewed = credentials
            renewed.accessToken = "renewed"
            renewed.refreshToken = "rotated"
            return renewed
        }
    }

    private static let limit = ScriptedTransport.Step.status(429, ["retry-after": "600"])
    private let store = InMemoryRecoveryStore()
    private let clock = ManualClock()

    private func user(_ token: Secret, _ steps: [ScriptedTransport.Step] = []) -> User {
        User(InMemoryTokenStore(Credentials(accessToken: token)), steps, store: store, clock: clock)
    }

    @Test func oneUsersLimitHoldsNoOther() async throws {
        let ada = user("A", [Self.limit])
        #expect(await !ada.isHeld)
        #expect(await ada.isHeld)
        #expect(await !user("B").isHeld)
    }

    @Test func theSameCredentialInAnotherProcessIsHeld() async throws {
        #expect(await !user("A", [Self.limit]).isHeld)
        #expect(await user("A").isHeld)
    }

    @Test func aCallThatPresentsNothingIsAnother() async throws {
        #expect(await !user("A", [Self.limit]).isHeld)
        let nobody = User(InMemoryTokenStore(), store: store, clock: clock)
        #expect(await !nobody.isHeld)
    }

    @Test func theLimitOfATokenHoldsTheOneThatReplacesIt() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R"))
        let ada = User(tokens, [Self.limit], store: store, clock: clock, renewer: Renews())
        #expect(await !ada.isHeld)
        let context = CallContext(runtime: ada.client.runtime)
        _ = try await ada.tokens.renew(context)
        #expect(await tokens.read().credentials.accessToken == "renewed")
        #expect(await ada.isHeld)
    }

    @Test func whoSignsInWithTheSameStoreIsAnother() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A"))
        let client = User(tokens, [Self.limit], store: store, clock: clock)
        #expect(await !client.isHeld)
        #expect(await client.isHeld)
        try await tokens.update { $0 = Credentials(accessToken: "B") }
        #expect(await !client.isHeld)
    }

    /// Also where their credentials can be renewed: another refresh token is another grant.
    @Test func whoseGrantIsAnotherIsAnother() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R1"))
        let client = User(tokens, [Self.limit], store: store, clock: clock)
        #expect(await !client.isHeld)
        #expect(await client.isHeld)
        try await tokens.update { $0 = Credentials(accessToken: "B", refreshToken: "R2") }
        #expect(await !client.isHeld)
    }

    /// An access token that changes beside the same refresh token is the same grant's.
    @Test func theSameGrantIsHeld() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R1"))
        let client = User(tokens, [Self.limit], store: store, clock: clock)
        #expect(await !client.isHeld)
        try await tokens.update { $0 = Credentials(accessToken: "B", refreshToken: "R1") }
        #expect(await client.isHeld)
    }

    @Test func aTokensOwnWordForItsAccountOutlivesIt() async throws {
        // {"iss":"https://as.example","sub":"ada"} with another jti in each.
        let claims = { (id: String) in #"{"iss":"https://as.example","sub":"ada","jti":"\#(id)"}"# }
        let token = { (id: String) in Secret("e30.\(Base64.encodeForURL(Array(claims(id).utf8))).c2ln") }
        #expect(await !user(token("1"), [Self.limit]).isHeld)
        #expect(await user(token("2")).isHeld)
    }

    @Test func aRequestsOwnFieldCounts() async throws {
        let ada = user("A", [Self.limit])
        #expect(await !ada.isHeld)
        var request = Bench.get
        request.headerFields[.authorization] = "Basic eDp5"
        #expect(try await ada.client.send(request).status == .ok)
    }
}
