#if Observability
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryLogging
import InMemoryTracing
import Logging
import RecoveryObservability
import Testing

/// What stands in the logs, and what stands nowhere.
@Suite struct LogTests {
    @Test func decisionsAreLoggedWithTheirReasons() async throws {
        let watched = Watched([.status(429, ["retry-after": "2"]), .status(200)])
        try await watched.send(Watched.get, RequestOptions(label: "profile"))
        let retry = try #require(watched.logged("HTTP request is sent again").first)
        #expect(retry.level == .debug)
        #expect(retry.metadata["recovery.reason"] == "rate_limited")
        #expect(retry.metadata["recovery.attempt"] == "2")
        #expect(retry.metadata["recovery.label"] == "profile")
        #expect(retry.metadata["server.address"] == "api.example.com")
        #expect(retry.metadata["service"] == "example", "what the logger brings stays")
        #expect(watched.logs.entries.allSatisfy { $0.metadata["recovery.call.id"] == "1" })
        #expect(watched.logs.entries.allSatisfy { $0.metadata["http.request.method"] == "GET" })
    }

    /// An attempt names the server that it goes to, and no sign hides where that ends.
    @Test func anAttemptNamesItsOwnServer() async throws {
        let target = "https://other.example.com/\u{301}secret/x"
        let watched = Watched([.status(302, ["location": target])]) {
            Redirects()
            Recovery()
        }
        try await watched.send()
        let servers = watched.logged("HTTP attempt begins").map { $0.metadata["server.address"] }
        #expect(servers == ["api.example.com", "other.example.com"])
    }

    @Test func aStoreThatDoesNotAnswerIsLoggedWithItsNameAndTheReason() throws {
        let watched = Watched([])
        for health in [SharedState.Health.degraded(store: "sqlite", reason: "the disk is full"), .available] {
            let now = watched.runtime.time.now
            watched.runtime.events.emit(RecoveryEvent(call: 0, method: "", url: "", time: now, kind: .store(health)))
        }
        let lost = try #require(watched.logged("Store does not answer").first)
        #expect(lost.level == .warning)
        #expect(lost.metadata["recovery.store"] == "sqlite")
        #expect(lost.metadata["recovery.store.reason"] == "the disk is full")
        #expect(watched.logged("Store answers again").first?.level == .info)
    }

    @Test func whatIsThrownIsLoggedAtDebugAtMost() async throws {
        let watched = Watched([], then: .fail(.cannotConnect, .neverSent))
        await #expect(throws: RecoveryError.self) { try await watched.send() }
        #expect(!watched.logged("HTTP call is given up").isEmpty)
        #expect(watched.logs.entries.allSatisfy { $0.level <= .debug })
    }

    @Test func noSecretAndNoQueryIsToldAnywhere() async throws {
        let secret = "hunter2"
        let watched = Watched(
            [
                .status(503, ["set-cookie": "sid=\(secret)", "retry-after": "1"], body: secret),
                .status(401, ["www-authenticate": "Bearer realm=\"\(secret)\""], body: "{\"error\":\"\(secret)\"}"),
            ]
        )
        var request = HTTPRequest(
            method: .get,
            scheme: "https",
            authority: "user:\(secret)@api.example.com",
            path: "/v1/me?token=\(secret)#\(secret)"
        )
        request.headerFields[.authorization] = "Bearer \(secret)"
        request.headerFields[.cookie] = "sid=\(secret)"
        _ = try? await watched.send(request, body: MessageBody(secret))
        #expect(watched.attempts.count == 2)
        #expect(watched.logs.entries.count > 4)
        #expect(watched.everything.contains("https://api.example.com/v1/me"))
        #expect(!watched.everything.contains(secret))
        #expect(!watched.everything.contains("token="))
    }

    @Test func eachCanBeLeftOut() async throws {
        let transport = ScriptedTransport()
        let runtime = Runtime.manual()
        let client = RecoveringClient(
            transport: transport,
            runtime: runtime,
            observability: Observability(logger: nil, metrics: nil, tracer: nil)
        )
        _ = try await client.send(Watched.get)
        #expect(!runtime.events.isObserved, "no event is made that nobody reads")
        #expect(transport.received.first?.request.headerFields.isEmpty == true)
    }
}
#endif
