import AuthRecovery
import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

// The example of the article "Many users on one client", word for word.

actor Users {
    let client: RecoveringClient
    let oauth: OAuthClient
    private var tokens: [String: TokenManager] = [:]

    init(client: RecoveringClient, oauth: OAuthClient) {
        (self.client, self.oauth) = (client, oauth)
    }

    private func tokens(of user: String) -> TokenManager {
        if let known = tokens[user] { return known }
        let store = SharedTokenStore(client.runtime.state, name: "user/\(user)")
        let manager = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
        tokens[user] = manager
        return manager
    }

    func send(_ request: HTTPRequest, for user: String) async throws -> RecoveredResponse {
        let tokens = tokens(of: user)
        var options = RequestOptions()
        options.attemptLayers = [Authorization(tokens, audience: [Origin(of: request)])]
        options.policies = [SessionRenewal(tokens)]
        options.account = user
        return try await client.send(request, options: options)
    }
}

@Suite struct ManyUsersExampleTests {
    @Test func theArticleIsThis() throws {
        let file = URL(filePath: #filePath)
        let root = (0..<3).reduce(file) { directory, _ in directory.deletingLastPathComponent() }
        let article = root.appending(path: "Sources/AuthRecovery/AuthRecovery.docc/ManyUsers.md")
        let parts = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n")
        let source = try String(contentsOf: file, encoding: .utf8).filter { !$0.isWhitespace }
        #expect(parts.count == 2)
        let code = try #require(parts.last?.components(separatedBy: "```").first).filter { !$0.isWhitespace }
        #expect(source.contains(code))
    }

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
            .status(429, ["retry-after": "60"]), .status(200),
        ])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) {
            Recovery(maxWait: .seconds(5))
        }
        for (user, token) in [("ada", "ada-1"), ("bob", "bob-1")] {
            let store = SharedTokenStore(client.runtime.state, name: "user/\(user)")
            try await store.update { $0 = Credentials(accessToken: Secret(token), refreshToken: Secret("\(user)-r")) }
        }
        let users = Users(client: client, oauth: oauth)
        let request = try HTTPRequest(url: "https://api.example.com/me")
        _ = try await users.send(request, for: "ada")
        _ = try await users.send(request, for: "bob")
        let error = await #expect(throws: RecoveryError.self) { try await users.send(request, for: "ada") }
        #expect(error?.reason == .waitExceedsLimit)
        _ = try await users.send(request, for: "bob")
        let presented = transport.received.map { $0.request.headerFields[.authorization] ?? "" }
        #expect(presented == ["ada-1", "ada-2", "bob-1", "ada-2", "bob-1"].map { "Bearer \($0)" })
        #expect(renewals.received.count == 1)
    }
}
