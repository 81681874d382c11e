import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A token endpoint that wants to be left alone for longer than a renewal may take.
@Suite struct RenewalLimitTests {
    private static let grant = #"{"access_token":"new","refresh_token":"r2","token_type":"Bearer","expires_in":3600}"#

    @Test(arguments: [RefreshTokenGrant.Reuse.rotating(grace: .seconds(30)), .undeclared])
    func aLongLimitLeavesTheRefreshTokenGood(reuse: RefreshTokenGrant.Reuse) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([
            .status(429, ["retry-after": "61"], body: #"{"error":"temporarily_unavailable"}"#),
            .status(200, ["content-type": "application/json"], body: Self.grant),
        ])
        let runtime = Runtime.manual(clock)
        let client = RecoveringClient(transport: transport, runtime: runtime) { Recovery() }
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: "https://id.example.com/token"]),
            clientID: "cli",
            client: client
        )
        let store = InMemoryTokenStore(Credentials(accessToken: "old", refreshToken: "r1"))
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth, reuse: reuse))
        func renew() async throws -> Credentials {
            try await tokens.renew(CallContext(runtime: runtime)).credentials
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await clock.skippingWaits(upTo: .seconds(100)) { try await renew() }
        }
        #expect(error?.kind == .rateLimited)
        #expect(error?.retryAfter == .seconds(61))
        // It was refused and is not waited with: nothing is on its way that could use the token.
        let held = await store.read().credentials
        #expect(held.refreshToken == "r1" && held.renewalBeganAt == nil)
        clock.advance(by: .seconds(70))
        #expect(try await renew().refreshToken == "r2")
        #expect(transport.received.count == 2)
    }
}
