#if Observability
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import RecoveryObservability
import Testing

/// The metrics by OpenTelemetry's names, with dimensions of which there are few.
@Suite struct MetricTests {
    private static let place = [
        ("server.address", "api.example.com"), ("server.port", "443"), ("http.request.method", "GET"),
    ]

    private static func waiting(_ cause: RecoveryEvent.WaitCause) -> [(String, String)] {
        [("recovery.wait.cause", cause.rawValue)]
    }

    @Test func attemptsWaitsAndRetriesAreCounted() async throws {
        let watched = Watched([.status(429, ["retry-after": "2"]), .status(200)])
        try await watched.send()
        let metrics = watched.metrics
        #expect(metrics.counterTotal(label: "http.recovery.attempts", dimensions: Self.place) == 2)
        #expect(
            metrics.counterTotal(label: "http.recovery.retries", dimensions: [("recovery.reason", "rate_limited")]) == 1
        )
        #expect(metrics.counterTotal(label: "http.recovery.calls", dimensions: [("recovery.result", "ok")]) == 1)
        let waits = try metrics.expectTimer(
            "http.recovery.wait.duration",
            [("recovery.reason", "rate_limited"), ("recovery.wait.cause", "gate")]
        )
        #expect(waits.values.count == 1)
        #expect(try #require(waits.lastValue) >= 2_000_000_000)
        #expect(try metrics.expectMeter("http.recovery.waiting", Self.waiting(.gate)).lastValue == 0)
        #expect(try metrics.expectMeter("http.client.active_requests", Self.place).lastValue == 0)
        let durations = metrics.timers(label: "http.client.request.duration")
        let dimensions = Set(durations.map { Dictionary(uniqueKeysWithValues: $0.dimensions) })
        #expect(
            dimensions == [
                [
                    "server.address": "api.example.com", "server.port": "443", "http.request.method": "GET",
                    "http.response.status_code": "429", "error.type": "rate_limited",
                ],
                [
                    "server.address": "api.example.com", "server.port": "443", "http.request.method": "GET",
                    "http.response.status_code": "200",
                ],
            ]
        )
    }

    /// How many stand at the gates, and how many wait for a retry of their own.
    @Test func whatCallsWaitForIsToldApart() async throws {
        let watched = Watched([.status(429, ["retry-after": "2"]), .status(503)]) {
            Recovery {
                RateLimitBackoff()
                TransientRetry(backoff: .constant(.seconds(20)))
            }
        }
        func number(_ cause: RecoveryEvent.WaitCause) -> Double? {
            let meters = watched.metrics.meters(label: "http.recovery.waiting")
            return meters.first { $0.dimensions[0].1 == cause.rawValue }?.lastValue
        }
        async let first = watched.client.send(Watched.get)
        while number(.gate) != 1 { await Task.yield() }
        async let second = watched.client.send(Watched.get)
        while number(.gate) != 2 { await Task.yield() }
        let other = HTTPRequest(method: .get, scheme: "https", authority: "other.example.com", path: "/")
        async let third = watched.client.send(other)
        while number(.backoff) != 1 { await Task.yield() }
        #expect(number(.gate) == 2 && number(.line) == nil)
        watched.clock.advance(by: .seconds(60))
        #expect(try await [first.status, second.status, third.status] == [.ok, .ok, .ok])
        #expect(number(.gate) == 0 && number(.backoff) == 0)
    }

    /// Only of a line is not known before how long it takes: it is measured to its end.
    @Test func aLineIsSeenAndMeasured() async throws {
        let limit = Recovery.ConcurrencyLimit(.fixed(1))
        let watched = Watched([.hang]) { Recovery(admissions: [limit]) }
        let first = Task { try await watched.client.send(Watched.get) }
        await watched.transport.waitForRequests(1)
        async let second = watched.client.send(Watched.get)
        let (waiting, waits) = ("http.recovery.waiting", "http.recovery.wait.duration")
        while watched.metrics.meters(label: waiting).first?.lastValue != 1 { await Task.yield() }
        #expect(watched.metrics.timers(label: waits).isEmpty, "it is under way")
        watched.clock.advance(by: .seconds(3))
        first.cancel()
        #expect(try await second.status == .ok)
        _ = try? await first.value
        #expect(try watched.metrics.expectMeter(waiting, Self.waiting(.line)).lastValue == 0)
        let dimensions = [("recovery.reason", "unavailable"), ("recovery.wait.cause", "line")]
        #expect(try watched.metrics.expectTimer(waits, dimensions).values == [3_000_000_000])
        let lines = watched.logged("HTTP call stands in a line")
        #expect(lines.map { $0.metadata["recovery.wait.cause"] } == ["line"] && lines.first?.level == .debug)
    }

    @Test func eachSeriesHasTheDimensionsOfItsMetric() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(2))
        let watched = Watched([.status(503), .fail(.connectionLost, .unknown)], then: .status(500)) {
            Recovery(admissions: [breaker])
        }
        for _ in 0..<3 { _ = try? await watched.send() }
        let metrics = watched.metrics
        let series =
            metrics.counters.map { ($0.label, $0.dimensions) } + metrics.timers.map { ($0.label, $0.dimensions) }
            + metrics.meters.map { ($0.label, $0.dimensions) }
        for (label, dimensions) in series {
            let metric = try #require(Metric(rawValue: label))
            let names = dimensions.map(\.0)
            // Of what has not come there is no value: a status without an answer, a failure of a success.
            let mayLack = metric == .requestDuration ? ["http.response.status_code", "error.type"] : []
            #expect(names.count == Set(names).count && Set(names).isSubset(of: metric.dimensions), "\(label)")
            #expect(Set(metric.dimensions).subtracting(names).isSubset(of: mayLack), "\(label)")
        }
        #expect(Set(series.map(\.0)).count >= 10)
    }

    @Test func theBudgetSinks() async throws {
        let watched = Watched([], then: .status(503)) { Recovery(budget: .ratio(.init(ratio: 0, burst: 3))) }
        _ = try? await watched.send()
        let place = Array(Self.place.dropLast())
        #expect(try watched.metrics.expectMeter("http.recovery.budget.balance", place).lastValue == 1)
        let reason = [("error.type", "unavailable"), ("recovery.reason", "attempts_exhausted")]
        #expect(watched.metrics.counterTotal(label: "http.recovery.failures", dimensions: reason) == 1)
    }

    /// Also where the engine may change while the client runs.
    @Test func theBudgetOfAReloadableEngineIsTold() async throws {
        var settings = RecoveringClient.Settings.standard
        settings.budget = .ratio(.init(ratio: 0, burst: 7))
        let recovery = RecoveringClient.ReloadableRecovery(settings)
        let watched = Watched([]) { recovery }
        try await watched.send()
        let place = Array(Self.place.dropLast())
        #expect(try watched.metrics.expectMeter("http.recovery.budget.balance", place).lastValue == 7)
    }

    @Test func aBreakerIsSeenOpen() async throws {
        let breaker = Recovery.CircuitBreaker(.init(failureRatio: 0.5, minimumCalls: 2))
        let watched = Watched([], then: .status(500)) { Recovery(maxAttempts: 1, admissions: [breaker]) }
        for _ in 0..<3 { _ = try? await watched.send() }
        let states = watched.metrics.meters(label: "http.recovery.breaker.state")
        #expect(states.map(\.lastValue) == [2])
    }

    @Test func lockoutsAndRenewalsAreCounted() async throws {
        struct Locks: OutcomeClassifier {
            func classify(_ exchange: Exchange) -> Outcome {
                var outcome = HTTPClassifier().classify(exchange)
                guard outcome.status == 423 else { return outcome }
                (outcome.kind, outcome.scope, outcome.lockout) = (.accountLocked, .account, .indefinite)
                return outcome
            }
        }
        let watched = Watched([.status(302, ["location": "https://other.example.com/x"]), .status(423)]) {
            Redirects()
            Recovery()
        }
        let options = RequestOptions(classifier: Locks(), account: "ada")
        await #expect(throws: RecoveryError.self) { try await watched.send(Watched.get, options) }
        let place = [("server.address", "other.example.com"), ("server.port", "443")]
        let time = watched.runtime.time.now
        let url = "https://api.example.com/v1/me"
        for kind: RecoveryEvent.Kind in [
            .refresh(.refreshed), .refresh(.joined), .refresh(.joined),
            .store(.degraded(store: "redis", reason: "down")),
        ] {
            watched.runtime.events.emit(RecoveryEvent(call: 1, method: "GET", url: url, time: time, kind: kind))
        }
        #expect(watched.metrics.counterTotal(label: "http.recovery.lockouts", dimensions: place) == 1)
        #expect(watched.metrics.counterTotal(label: "http.recovery.lockouts") == 1)
        let refreshes = "http.recovery.refreshes"
        #expect(watched.metrics.counterTotal(label: refreshes, dimensions: [("recovery.result", "refreshed")]) == 1)
        #expect(watched.metrics.counterTotal(label: refreshes, dimensions: [("recovery.result", "joined")]) == 2)
        #expect(try watched.metrics.expectMeter("http.recovery.store.degraded").lastValue == 1)
    }

    @Test func concurrentCallsAreCountedOnceEach() async throws {
        let watched = Watched([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { _ = try await watched.client.send(Watched.get) } }
            try await group.waitForAll()
        }
        #expect(watched.metrics.counterTotal(label: "http.recovery.attempts") == 100)
        #expect(watched.metrics.counterTotal(label: "http.recovery.calls") == 100)
        #expect(try watched.metrics.expectMeter("http.client.active_requests", Self.place).lastValue == 0)
        #expect(watched.attempts.count == 100)
        #expect(Set(watched.attempts.compactMap(\.parentSpanID)).count == 100)
    }

    @Test func serversBeyondAHundredAreCountedTogether() async throws {
        let watched = Watched([])
        for number in 0..<150 {
            let host = "h\(number).example.com"
            _ = try await watched.client.send(HTTPRequest(method: .get, scheme: "https", authority: host, path: "/"))
        }
        let counters = watched.metrics.counters(label: "http.recovery.attempts")
        #expect(counters.count == 101)
        let rest = [("server.address", "_OTHER"), ("server.port", "0"), ("http.request.method", "GET")]
        #expect(watched.metrics.counterTotal(label: "http.recovery.attempts", dimensions: rest) == 50)
    }

    @Test func twoClientsOfOneRuntimeAreToldOfOnce() async throws {
        let watched = Watched([])
        let other = RecoveringClient(
            transport: watched.transport,
            runtime: watched.runtime,
            observability: watched.observability
        )
        _ = try await watched.client.send(Watched.get)
        _ = try await other.send(Watched.get)
        #expect(watched.metrics.counterTotal(label: "http.recovery.calls") == 2)
    }
}
#endif
