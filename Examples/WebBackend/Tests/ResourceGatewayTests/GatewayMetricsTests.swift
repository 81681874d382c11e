import AuthSandbox
import Foundation
import HTTPRecovery
import ServiceTrials
import Testing

/// What those see who look after the gateway.
@Suite(.timeLimit(.minutes(5))) struct GatewayMetricsTests {
    /// With a breaker that opens soon.
    private let settings = [
        "API_BREAKER_KIND": "consecutive", "API_BREAKER_FAILURES": "2",
        "API_BREAKER_OPEN_S": "1", "API_MAX_ATTEMPTS": "2",
    ]

    @Test func allThatTheDashboardAsksForIsThere() async throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Dashboards/http-recovery.json").standardizedFileURL
        let dashboard = try String(contentsOf: file, encoding: .utf8)
        let asked = Set(dashboard.matches(of: /\bhttp_(?:client|recovery)_[a-z_]+/).map { String($0.output) })
        #expect(asked.count > 10)

        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let redis = try await RunningService.redis(in: directory)
        let state = ["STATE": "redis+unix://\(directory.path)/redis.sock"]
        let gateway = try await RunningService.gateway(before: sandbox, settings.merging(state) { $1 })
        let caller = ServiceCaller()
        sandbox.add(SandboxFault(.status, path: "/api/once"))
        #expect(try await caller.call("\(gateway.url)/resources/once").status == 200)
        redis.send(SIGKILL)
        _ = await redis.exit()
        #expect(try await caller.call("\(gateway.url)/resources/without-redis").status == 200)
        let ready = try await caller.call("\(gateway.url)/health/ready")
        #expect(ready.status == 200 && ready.text.contains(#""store":"degraded""#))
        sandbox.add(SandboxFault(.status, path: "/api/down", times: 2))
        #expect(try await caller.call("\(gateway.url)/resources/down").status == 503)
        let text = try await caller.call("\(gateway.url)/metrics").text
        let names = Set(text.matches(of: /(?m)^[a-z][a-z_0-9]*/).map { String($0.output) })
        // No account is locked where a client shows its own credentials.
        #expect(asked.subtracting(names).subtracting(["http_recovery_lockouts_total"]).isEmpty)
        #expect(text.contains("http_server_request_duration_seconds_count{"))
        #expect(text.contains("http_recovery_store_degraded 1.0\n"))
        #expect(text.contains("http_recovery_refreshes_total{recovery_result=\"refreshed\"} 1.0\n"))
    }

    @Test func anOpenBreakerTurnsRequestsAwayUntilItMayBeProbed() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let gateway = try await RunningService.gateway(before: sandbox, settings)
        let caller = ServiceCaller()
        func ready() async throws -> (status: Int, json: JSONValue) {
            let answer = try await caller.call("\(gateway.url)/health/ready")
            return (answer.status, try JSONValue(parsing: Array(answer.text.utf8)))
        }
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
        #expect(try await ready().status == 200)
        sandbox.add(SandboxFault(.status, path: "/api/down", times: 2))
        #expect(try await caller.call("\(gateway.url)/resources/down").status == 503)
        // The break is a second, which may be over already on a busy machine; what the breaker is stays.
        #expect(try await ready().json["breaker"] == "open")
        while try await ready().status != 200 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try await caller.call("\(gateway.url)/resources/down").status == 200)
        #expect(try await ready().json["breaker"] == "closed")
    }

    @Test func withoutItsStoreItIsAliveAndNotReady() async throws {
        let sandbox = try await AuthSandbox.start(scenario: .unlimited)
        let directory = try TemporaryDirectory()
        let state = ["STATE": "redis+unix://\(directory.path)/redis.sock"]
        let gateway = try await RunningService.gateway(before: sandbox, state)
        let caller = ServiceCaller()
        #expect(try await caller.call("\(gateway.url)/health/live").status == 200)
        let ready = try await caller.call("\(gateway.url)/health/ready")
        #expect(ready.status == 503 && ready.text.contains(#""tokens":"unreadable""#))
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 503)
        let redis = try await RunningService.redis(in: directory)
        while try await caller.call("\(gateway.url)/health/ready").status != 200 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try await caller.call("\(gateway.url)/resources/a").status == 200)
        redis.send(SIGTERM)
    }
}
