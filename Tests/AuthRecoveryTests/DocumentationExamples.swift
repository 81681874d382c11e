import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func aClientThatPresentsAToken() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        try await FileTokenStore(path: path).update { $0.accessToken = "A" }
        let transport = ScriptedTransport()

        let tokens = FileTokenStore(path: path)
        let client = RecoveringClient(transport: transport) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }

        _ = try await client.send(HTTPRequest(url: "https://api.example.com/items"))
        #expect(transport.received.first?.request.headerFields[.authorization] == "Bearer A")
    }

    @Test func aClientThatRenews() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        try await FileTokenStore(path: path).update { $0 = Credentials(accessToken: "A", refreshToken: "R") }
        let transport = ScriptedTransport([.status(401)])
        let answer = #"{"access_token":"B","token_type":"Bearer","expires_in":3600,"refresh_token":"R2"}"#
        let client = RecoveringClient(transport: ScriptedTransport(then: .status(200, [:], body: answer)))
        let server = try OAuthServer(endpoints: [.token: "https://id.example.com/token"])
        let secret = Secret("s")

        let oauth = OAuthClient(
            server: server,
            clientID: "billing",
            authentication: .clientSecretBasic(secret),
            client: client
        )
        let tokens = TokenManager(store: FileTokenStore(path: path), renewer: RefreshTokenGrant(client: oauth))
        let api = RecoveringClient(transport: transport) {
            Deadline(.seconds(30))
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
            AttemptTimeout(.seconds(10))
        }

        _ = try await api.send(HTTPRequest(url: "https://api.example.com/items"))
        await tokens.finish()
        #expect(transport.received.map { $0.request.headerFields[.authorization] } == ["Bearer A", "Bearer B"])
        #expect(try await FileTokenStore(path: path).read().credentials.refreshToken == "R2")
    }

    struct Prompts: ChallengeResponder {
        func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
            print("\(challenge.question): ", terminator: "")
            guard let line = readLine() else { throw Challenge.NoAnswer(challenge.key) }
            return line.isEmpty ? .resend : .text(Secret(line))
        }

        func notice(_ outcome: Outcome) async {
            print(outcome.userMessage ?? outcome.kind.userMessage)
        }
    }

    @Test func aResponder() {
        let responder: any ChallengeResponder = Prompts()
        #expect(responder is Prompts)
    }
}
