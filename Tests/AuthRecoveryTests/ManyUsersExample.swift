import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

// The example of the article "Many users on one client", word for word.

actor Users {
    let client: RecoveringClient
    let oauth: OAuthClient
    let audience: Set<Origin>
    let sealing: any CredentialSealing
    private var tokens: [Int: TokenManager] = [:]

    init(client: RecoveringClient, oauth: OAuthClient, audience: Set<Origin>, sealing: any CredentialSealing) {
        (self.client, self.oauth, self.audience, self.sealing) = (client, oauth, audience, sealing)
    }

    private func tokens(of user: Int) -> TokenManager {
        if let known = tokens[user] { return known }
        let store = SharedTokenStore(client.runtime.state, name: "user/\(user)", sealing: sealing)
        let manager = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
        tokens[user] = manager
        return manager
    }

    func send(_ request: HTTPRequest, for user: Int) async throws -> RecoveredResponse {
        let tokens = tokens(of: user)
        var options = RequestOptions()
        options.attemptLayers = [Authorization(tokens, audience: audience)]
        options.policies = [SessionRenewal(tokens)]
        options.account = "\(user)"
        return try await client.send(request, options: options)
    }
}

@Suite struct ManyUsersExampleTests {

    /// What is refused to one is renewed for one, and a limit of one holds nobody else.
    @Test func whatIsAUsersIsTheirs() async throws {
        let answer = #"{"access_token":"ada-2","token_type":"Bearer","expires_in":3600}"#
        let clock = ManualClock()
        let renewals = ScriptedTransport(then: .status(200, body: answer))
        let oauth = OAuthClient(
            server: try OAuthServer(endpoints: [.token: "https://id.example.com/token"]),
            clientID: "backend",
            authentication: .clientSecretBasic("s"),
            client: RecoveringClient(transport: renewals, runtime: .manual(clock))
        )
        let transport = ScriptedTransport([
            .status(401, ["www-authenticate": "Bearer error=\"invalid_token\""]), .status(200), .status(200),
            .status(429, ["retry-after": "60"]), .status(200), .status(200),
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery(maxWait: .seconds(5))
        }
        let (ada, bob, sealing) = (1, 2, MarkingSealing())
        for (user, token) in [(ada, "ada-1"), (bob, "bob-1")] {
            let store = SharedTokenStore(client.runtime.state, name: "user/\(user)", sealing: sealing)
            try await store.update { $0 = Credentials(accessToken: Secret(token), refreshToken: Secret("\(user)-r")) }
        }
        let audience: Set<Origin> = [try Origin(url: "https://api.example.com")]
        let users = Users(client: client, oauth: oauth, audience: audience, sealing: sealing)
        let request = try HTTPRequest(url: "https://api.example.com/me")
        _ = try await users.send(request, for: ada)
        _ = try await users.send(request, for: bob)
        let error = await #expect(throws: RecoveryError.self) { try await users.send(request, for: ada) }
        #expect(error?.reason == .waitExceedsLimit)
        _ = try await users.send(request, for: bob)
        // Whoever has written that URL is shown no token.
        _ = try await users.send(HTTPRequest(url: "https://elsewhere.example.com/me"), for: bob)
        let presented = transport.received.map { $0.request.headerFields[.authorization] ?? "" }
        #expect(presented == ["ada-1", "ada-2", "bob-1", "ada-2", "bob-1"].map { "Bearer \($0)" } + [""])
        #expect(renewals.received.count == 1)
    }
}
