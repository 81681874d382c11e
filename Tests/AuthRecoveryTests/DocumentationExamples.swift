import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
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

    struct Prompts: ChallengeResponder {
        func answer(_ challenge: Challenge) async throws -> ChallengeAnswer {
            print("Please enter the \(challenge.key.rawValue) sent to \(challenge.factor.destination ?? "you").")
            guard let line = readLine() else { throw NoAnswer(challenge.key) }
            return line.isEmpty ? .resend : .text(Secret(line))
        }
    }

    @Test func aResponder() {
        let responder: any ChallengeResponder = Prompts()
        #expect(responder is Prompts)
    }
}
