#if Observability
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryTracing
import Logging
import MetricsTestKit
import RecoveryObservability
import Testing
import Tracing

/// Renewals, of which there is one for all who need it, and lockouts, as they are told.
@Suite struct RenewalTests {
    private static let origin = Origin(scheme: "https", authority: "api.example.com")

    /// Renews at the server of the calls.
    private struct Renewer: TokenRenewer {
        let client: RecoveringClient
        let reuse = RefreshTokenGrant.Reuse.undeclared

        func canRenew(_ credentials: Credentials) -> Bool { true }

        func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
            let request = HTTPRequest(method: .post, scheme: "https", authority: "login.example.com", path: "/token")
            _ = try await client.within(operation).send(request, body: MessageBody("refresh_token=R"))
            return Credentials(accessToken: "B", refreshToken: "R")
        }
    }

    @Test func oneRenewalIsOneSpanForAllWhoJoinIt() async throws {
        let calls = 20
        let watched = Watched([])
        let transport = ScriptedTransport(
            then: .run { received in
                if received.request.path == "/token" { return .scripted(200) }
                return .scripted(received.request.headerFields[.authorization] == "Bearer A" ? 401 : 200)
            }
        )
        func client(@RecoveringClient.PipelineBuilder _ layers: () -> [any ClientLayer]) -> RecoveringClient {
            RecoveringClient(
                transport: transport,
                runtime: watched.runtime,
                observability: watched.observability,
                middlewares: layers
            )
        }
        let tokens = TokenManager(
            store: InMemoryTokenStore(Credentials(accessToken: "A", refreshToken: "R")),
            renewer: Renewer(client: client { Recovery() })
        )
        let api = client {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Self.origin])
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<calls { group.addTask { try await api.send(Watched.get).status.code } }
            for try await status in group { #expect(status == 200) }
        }
        let refreshes = "http.recovery.refreshes"
        let metrics = watched.metrics
        #expect(transport.received.count { $0.request.path == "/token" } == 1)
        #expect(metrics.counterTotal(label: refreshes, dimensions: [("recovery.result", "refreshed")]) == 1)
        let told = watched.logged("Credential renewal ended")
        #expect(metrics.counterTotal(label: refreshes) == Int64(told.count))
        let renewal = try #require(watched.attempts.first { $0.text("http.request.method") == "POST" })
        let around = try #require(watched.calls.first { $0.spanID == renewal.parentSpanID })
        #expect(
            watched.calls.contains { $0.spanID == around.parentSpanID },
            "it stands below the call that has caused it"
        )
        #expect(watched.attempts.count { $0.text("http.request.method") == "POST" } == 1)
        #expect(!watched.everything.contains("refresh_token"))
    }

    /// Says of a 423 that the account is locked.
    private struct Locking: OutcomeClassifier {
        func classify(_ exchange: Exchange) -> Outcome {
            guard case .response(let head, _) = exchange.result, head.status.code == 423 else {
                return HTTPClassifier().classify(exchange)
            }
            var locked = Outcome(.accountLocked, scope: .account, remedies: [.wait])
            locked.lockout = .remaining(.seconds(30))
            return locked
        }
    }

    @Test func aLockoutIsCountedAndItsWaitIsMeasured() async throws {
        let watched = Watched([.status(423), .status(200)])
        _ = try? await watched.send(Watched.get, RequestOptions(classifier: Locking(), account: "lovelace"))
        let place = [("server.address", "api.example.com"), ("server.port", "443")]
        #expect(watched.metrics.counterTotal(label: "http.recovery.lockouts", dimensions: place) == 1)
        #expect(watched.attempts.first?.text("error.type") == "account_locked")
        #expect(
            watched.metrics.timers(label: "http.recovery.wait.duration").contains { timer in
                timer.dimensions.contains { $0 == ("recovery.reason", "account_locked") }
            }
        )
        #expect(!watched.everything.contains("lovelace"))
    }
}
#endif
