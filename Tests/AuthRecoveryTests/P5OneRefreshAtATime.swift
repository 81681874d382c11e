import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// As far as there are refreshes: nobody repairs what another has repaired already, and nobody repairs twice.
@Suite struct P5OneRefreshAtATime {
    private let origin = Origin(scheme: "https", authority: "api.example.com")
    private let request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items")

    private func client(_ transport: ScriptedTransport, _ tokens: InMemoryTokenStore) -> RecoveringClient {
        RecoveringClient(transport: transport, runtime: Runtime(time: ManualClock().timeSource())) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [origin])
        }
    }

    @Test func manyRefusalsOfAnOldTokenTakeTheNewOneAndClearNothing() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "old"))
        let transport = ScriptedTransport(
            then: .run { received in
                // Somebody else renews the token while the first attempts are on their way.
                if received.number == 50 { try await tokens.update { $0.accessToken = "new" } }
                let isNew = received.request.headerFields[.authorization] == "Bearer new"
                while await tokens.read().credentials.accessToken != "new" { await Task.yield() }
                return .scripted(isNew ? 200 : 401, ["www-authenticate": "Bearer error=\"invalid_token\""])
            }
        )
        let client = client(transport, tokens)
        try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<50 { group.addTask { [request] in try await client.send(request).status } }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(transport.received.count == 100)
        #expect(await tokens.read().credentials.accessToken == "new")
    }

    @Test func aLoopOfRepairsIsImpossible() async throws {
        let tokens = InMemoryTokenStore(Credentials(accessToken: "a"))
        let transport = ScriptedTransport(
            then: .run { received in
                try await tokens.update { $0.accessToken = Secret("a\(received.number)") }
                return .scripted(401, ["www-authenticate": "Bearer error=\"invalid_token\""])
            }
        )
        let client = client(transport, tokens)
        let error = await #expect(throws: RecoveryError.self) { try await client.send(request) }
        #expect(error?.reason == .alreadyRepaired)
        #expect(transport.received.count == 2)
    }
}
