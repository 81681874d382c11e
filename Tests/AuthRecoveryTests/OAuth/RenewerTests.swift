import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Renewers")
struct RenewerTests {
    private static let stored = Credentials(
        accessToken: "A1",
        refreshToken: "R1",
        clientToken: "C",
        others: [JSONValue.Member("mine", 1)]
    )

    @Test func aRenewalHasAnEnd() async throws {
        let bench = try OAuthBench([.tokens()])
        let store = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R"))
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: bench.oauth))
        let call = CallContext(runtime: bench.client.runtime)
        _ = try await tokens.renew(call)
        let numbers = Set(bench.events.events.filter { $0.parent == call.record.callID }.map(\.call))
        let ended = bench.events.events.filter { event in
            if case .done(.ok, 1, _, _) = event.kind { numbers.contains(event.call) } else { false }
        }
        #expect(numbers.count == 1 && ended.count == 1)
    }

    @Test func aRefreshTokenRenews() async throws {
        let bench = try OAuthBench([.tokens(#","refresh_token":"R2""#), .tokens()])
        let renewer: any TokenRenewer = RefreshTokenGrant(client: bench.oauth, scope: "a")
        #expect(renewer.canRenew(Self.stored) && renewer.reuse == .undeclared)
        let first = try await renewer.renewed(Self.stored, by: bench.client)
        var expected = Self.stored
        expected.accessToken = "A2"
        expected.refreshToken = "R2"
        expected.expiresAt = OAuthBench.start.advanced(by: .seconds(3600))
        #expect(first == expected)
        #expect(try await renewer.renewed(first, by: bench.client) == expected, "without a new one the old one stays")
        #expect(
            bench.sent == [
                "POST /token grant_type=refresh_token&refresh_token=R1&scope=a&client_id=app",
                "POST /token grant_type=refresh_token&refresh_token=R2&scope=a&client_id=app",
            ]
        )
    }

    @Test(arguments: [Credentials(), Credentials(accessToken: "A"), Credentials(refreshToken: "")])
    func withoutARefreshTokenItCannot(credentials: Credentials) async throws {
        let bench = try OAuthBench()
        let renewer = RefreshTokenGrant(client: bench.oauth, reuse: .rotating(grace: .seconds(30)))
        #expect(!renewer.canRenew(credentials) && renewer.reuse == .rotating(grace: .seconds(30)))
        let error = try await bench.failure { try await renewer.renewed(credentials, by: bench.client) }
        #expect(error.kind == .reauthenticationRequired && bench.sent.isEmpty)
    }

    @Test func aDeadRefreshTokenIsToldAsDead() async throws {
        let bench = try OAuthBench([.oauth("invalid_grant")])
        let renewer = RefreshTokenGrant(client: bench.oauth)
        let error = try await bench.failure { try await renewer.renewed(Self.stored, by: bench.client) }
        #expect(error.kind == .credentialRejected && error.outcome.credential == .refresh)
        #expect(error.outcome.tokenAction == .clear && error.oauth?.word == .invalidGrant)
    }

    /// Whatever holds it up: the connection is made, but the grace is over when the request could leave.
    @Test func aTokenInDoubtThatIsHeldUpPastTheGraceNeverLeaves() async throws {
        let bench = try OAuthBench(holdUp: { clock, _ in clock.advance(by: .seconds(8)) })
        var credentials = Self.stored
        credentials.renewalBeganAt = OAuthBench.start.advanced(by: .seconds(-20))
        let tokens = TokenManager(
            store: InMemoryTokenStore(credentials),
            renewer: RefreshTokenGrant(client: bench.oauth, reuse: .rotating(grace: .seconds(30))),
            options: RenewalBench.patient
        )
        let context = CallContext(runtime: bench.client.runtime)
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.clock.skippingWaits(upTo: .seconds(5)) { try await tokens.renew(context) }
        }
        #expect(error?.reason == .renewalInDoubt && error?.kind == .reauthenticationRequired)
        #expect(bench.sent.isEmpty)
    }

    /// Another process may take over from one that was held up, and be the first at the server: then the other comes as
    /// the second.
    @Test func aFirstUseThatIsHeldUpPastTheGraceNeverLeavesAndLeavesNoDoubt() async throws {
        let bench = try OAuthBench([.tokens()], holdUp: { clock, n in if n == 1 { clock.advance(by: .seconds(28)) } })
        let store = InMemoryTokenStore(Self.stored)
        let tokens = TokenManager(
            store: store,
            renewer: RefreshTokenGrant(client: bench.oauth, reuse: .rotating(grace: .seconds(30))),
            options: RenewalBench.patient
        )
        let error = await #expect(throws: RecoveryError.self) {
            try await tokens.renew(CallContext(runtime: bench.client.runtime))
        }
        #expect(error?.kind == .unavailable && error?.outcome.processed == .no)
        #expect(bench.sent.isEmpty)
        #expect(await store.read().credentials == Self.stored)
    }

    /// The limit of each use is the end of the grace that began with the first.
    @Test func noUseIsWithoutALimit() async throws {
        let bench = try OAuthBench([.tokens(), .tokens()])
        for began in [nil, OAuthBench.start.advanced(by: .seconds(-20))] {
            var credentials = Self.stored
            credentials.renewalBeganAt = began
            let tokens = TokenManager(
                store: InMemoryTokenStore(credentials),
                renewer: RefreshTokenGrant(client: bench.oauth, reuse: .rotating(grace: .seconds(30)))
            )
            _ = try await tokens.renew(CallContext(runtime: bench.client.runtime))
        }
        let limits = bench.transport.received.map(\.sendLimit?.instant.sinceStart)
        // A tenth of the grace is left to the way there.
        #expect(limits == [.seconds(27), .seconds(7)])
    }

    @Test func aServiceRenewsByItself() async throws {
        let bench = try OAuthBench([.tokens()], authentication: .clientSecretBasic("s"))
        let renewer = ClientCredentialsGrant(client: bench.oauth, scope: "a", parameters: ["audience": "b"])
        #expect(renewer.canRenew(Credentials()))
        let renewed = try await renewer.renewed(Self.stored, by: bench.client)
        #expect(renewed.accessToken == "A2" && renewed.refreshToken == "R1" && renewed.others == Self.stored.others)
        #expect(bench.sent == ["POST /token grant_type=client_credentials&scope=a&audience=b"])
    }

    /// A client of a resource whose tokens are renewed at the same origin, through the same transport.
    private static func resource(
        _ steps: [OAuthBench.Step]
    ) throws -> (client: RecoveringClient, transport: ScriptedTransport, store: InMemoryTokenStore, run: OAuthBench) {
        let bench = try OAuthBench(steps)
        let store = InMemoryTokenStore(stored)
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: bench.oauth))
        let client = RecoveringClient(transport: bench.transport, runtime: bench.client.runtime) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "id.example.com")])
        }
        return (client, bench.transport, store, bench)
    }

    private static let refused = OAuthBench.Step.status(401, ["www-authenticate": "Bearer error=\"invalid_token\""])

    @Test func aRefusedAccessTokenIsRenewedAndTheCallReplayed() async throws {
        let (client, transport, store, bench) = try Self.resource([
            Self.refused, .tokens(#","refresh_token":"R2""#), .status(200),
        ])
        _ = try await bench.skippingWaits { try await client.send(HTTPRequest(url: "https://id.example.com/userinfo")) }
        let sent = transport.received.map { $0.request.headerFields[.authorization] }
        #expect(sent == ["Bearer A1", nil, "Bearer A2"])
        let credentials = await store.read().credentials
        #expect(credentials.accessToken == "A2" && credentials.refreshToken == "R2")
    }

    @Test(arguments: [
        (OAuthBench.Step.oauth("invalid_grant"), false), (.oauth("invalid_grant", status: 429), true),
        (.oauth("invalid_grant", status: 500), true), (.status(401), true),
        (.oauth("invalid_client", status: 401), true),
        (.status(401, ["www-authenticate": "Bearer error=\"invalid_token\""]), true), (.status(403), true),
        (.status(200, [:], body: "<html>sign in</html>"), true), (.oauth("made_up"), true),
    ])
    func onlyADeadRefreshTokenGoes(step: OAuthBench.Step, stays: Bool) async throws {
        let (client, _, store, bench) = try Self.resource([Self.refused] + Array(repeating: step, count: 9))
        let error = try await bench.failure {
            try await client.send(HTTPRequest(url: "https://id.example.com/userinfo"))
        }
        #expect(error.isFailureOfRenewal)
        #expect((await store.read().credentials.refreshToken == "R1") == stays)
    }
}

extension RecoveryError {
    /// Whether the call ended with a renewal that failed, or for lack of one.
    fileprivate var isFailureOfRenewal: Bool {
        reason == .repairFailed || kind == .reauthenticationRequired
    }
}

extension TokenRenewer {
    /// Renews in an operation of its own.
    fileprivate func renewed(_ credentials: Credentials, by client: RecoveringClient) async throws -> Credentials {
        try await client.operation { try await renew(credentials, in: $0) }
    }
}
