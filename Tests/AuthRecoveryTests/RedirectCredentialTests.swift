import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("A redirect's target and the credentials of another origin")
struct RedirectCredentialTests {
    private struct Renews: TokenRenewer {
        let renewals = Locked(0)

        var reuse: RefreshTokenGrant.Reuse { .reusable }
        func canRenew(_ credentials: Credentials) -> Bool { credentials.refreshToken != nil }
        func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
            renewals.withLock { $0 += 1 }
            var renewed = credentials
            renewed.accessToken = "B"
            return renewed
        }
    }

    private static let away = ScriptedTransport.Step.status(302, ["location": "https://other.example.com/"])
    private static let refused = ScriptedTransport.Step.status(
        401,
        ["www-authenticate": "Bearer error=\"invalid_token\""]
    )

    private let tokens = InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R"))
    private let transport = ScriptedTransport()

    private func client(
        _ renewer: (any TokenRenewer)?,
        @RecoveringClient.PipelineBuilder middlewares: (TokenManager) -> [any ClientLayer]
    ) -> RecoveringClient {
        let manager = TokenManager(store: tokens, renewer: renewer)
        let runtime = Runtime(time: ManualClock().timeSource(), random: Runtime.RandomSource(seed: 1))
        return RecoveringClient(transport: transport, runtime: runtime) { middlewares(manager) }
    }

    /// The layers of the program for the command line.
    @RecoveringClient.PipelineBuilder private func usual(_ manager: TokenManager) -> [any ClientLayer] {
        Redirects()
        Recovery { SessionRenewal(manager) }
        Authorization(manager, audience: [Bench.origin])
    }

    @RecoveringClient.PipelineBuilder private func turnedRound(_ manager: TokenManager) -> [any ClientLayer] {
        Recovery { SessionRenewal(manager) }
        Authorization(manager, audience: [Bench.origin])
        Redirects()
    }

    @Test func itCannotClearATokenThatItWasNotShown() async throws {
        for client in [client(nil, middlewares: usual), client(nil, middlewares: turnedRound)] {
            transport.append([Self.away, Self.refused])
            let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
            #expect(await tokens.read().credentials == Credentials(accessToken: "A", refreshToken: "R"))
            #expect(error?.outcome.tokenAction == .keep)
            #expect(error?.userMessage.contains("ended") == false)
        }
    }

    @Test func itCannotSpendARefreshToken() async throws {
        let renewer = Renews()
        for client in [client(renewer, middlewares: usual), client(renewer, middlewares: turnedRound)] {
            transport.append([Self.away, Self.refused])
            await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
            #expect(renewer.renewals.withLock { $0 } == 0)
            #expect(await tokens.read().credentials.accessToken == "A")
        }
    }

    @Test func aHopWithinTheOriginPresentsTheTokenStill() async throws {
        let renewer = Renews()
        for layers in [usual, turnedRound] {
            let tokens = tokens
            try await tokens.update { $0.accessToken = "A" }
            let before = renewer.renewals.withLock { $0 }
            let transport = ScriptedTransport([.status(302, ["location": "/new"]), Self.refused])
            let manager = TokenManager(store: tokens, renewer: renewer)
            let runtime = Runtime(time: ManualClock().timeSource(), random: Runtime.RandomSource(seed: 1))
            let client = RecoveringClient(transport: transport, runtime: runtime) { layers(manager) }
            #expect(try await client.send(Bench.get).status == .ok)
            #expect(renewer.renewals.withLock { $0 } == before + 1)
            #expect(transport.received.last?.request.headerFields[.authorization] == "Bearer B")
        }
    }
}
