import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The page about waits: what it shows does what it says.
@Suite struct ChoosingWaitsPage {
    private final class Told: Sendable {
        private let state = Locked<[String]>([])
        var lines: [String] { state.withLock { $0 } }
        func tell(_ line: String) { state.withLock { $0.append(line) } }
    }

    private actor Queue {
        private(set) var kept: [Timestamp?] = []
        func put(back request: HTTPRequest, until time: Timestamp?) throws { kept.append(time) }
    }

    private struct Locking: OutcomeClassifier {
        func classify(_ exchange: Exchange) -> Outcome {
            var outcome = HTTPClassifier().classify(exchange)
            guard outcome.status == 423, let time = outcome.retryAfter else { return outcome }
            (outcome.kind, outcome.processed, outcome.remedies) = (.accountLocked, .no, [.wait])
            outcome.lockout = .remaining(time)
            return outcome
        }
    }

    @Test func aPersonIsToldAndWaitsMinutes() async throws {
        let (clock, told) = (ManualClock(), Told())
        var runtime = Runtime.manual(clock)
        runtime.classifier = Locking()
        let locked = ScriptedTransport.Step.status(423, ["retry-after": "150"])
        let transport = ScriptedTransport([
            locked, .status(200), .status(423, ["retry-after": "3600"]),
        ])
        func make(_ tell: @escaping @Sendable (String) -> Void) -> RecoveringClient {
            let client = RecoveringClient(transport: transport, runtime: runtime) {
                Deadline(.seconds(300))
                Recovery(maxAttempts: 6, maxWait: .seconds(180)) {
                    RateLimitBackoff()
                    LockoutWait(atMost: .seconds(180))
                    TransientRetry()
                }
                AttemptTimeout(.seconds(20))
            }
            client.runtime.events.observe { event in
                if case .wait(let reason, let duration, _) = event.kind {
                    tell("waiting \(duration.components.seconds) s: \(reason)")
                }
            }
            return client
        }
        let client = make { told.tell($0) }
        _ = try await clock.skippingWaits { try await client.send(Bench.get) }
        #expect(told.lines == ["waiting 150 s: account_locked"])
        let error = await #expect(throws: RecoveryError.self) { try await client.send(Bench.get) }
        #expect(error?.reason == .waitExceedsLimit && error?.retryAfter == .seconds(3600))
    }

    /// A page that fails early, with the time.
    @Test(arguments: [("7", "7"), ("0.5", nil), ("3600", "3600")])
    func aBrowserIsToldWhenToComeBack(stated: String, told: String?) async throws {
        let clock = ManualClock()
        let runtime = Runtime.manual(clock)
        let transport = ScriptedTransport([.status(429, ["retry-after": stated]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Deadline(.seconds(5))
            Recovery(maxAttempts: 3, maxWait: .seconds(1)) {
                RateLimitBackoff()
                TransientRetry(backoff: .exponential(base: .milliseconds(50), cap: .milliseconds(500)))
            }
            AttemptTimeout(.seconds(2))
        }
        func answer(to request: HTTPRequest) async throws -> HTTPResponse {
            do {
                return try await client.send(request).head
            } catch let error as RecoveryError where error.remedies.contains(.wait) || error.remedies.contains(.retry) {
                var head = HTTPResponse(status: .serviceUnavailable)
                // Rounded up: a second early is too early.
                let (seconds, rest) = (error.retryAfter ?? .seconds(1)).components
                head.headerFields[.retryAfter] = "\(max(1, rest > 0 ? seconds + 1 : seconds))"
                return head
            }
        }
        let head = try await clock.skippingWaits { try await answer(to: Bench.get) }
        #expect(head.headerFields[.retryAfter] == told)
        #expect(head.status == (told == nil ? .ok : .serviceUnavailable))
    }

    @Test func aJobGoesBackToItsQueue() async throws {
        let (clock, queue) = (ManualClock(), Queue())
        let runtime = Runtime.manual(clock)
        let transport = ScriptedTransport([
            .status(429, ["retry-after": "20"]), .status(200), .status(429, ["retry-after": "900"]),
        ])
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            Deadline(.seconds(120))
            Recovery(maxAttempts: 5, maxWait: .seconds(30)) {
                RateLimitBackoff()
                TransientRetry()
            }
            AttemptTimeout(.seconds(30))
        }
        func run(_ job: HTTPRequest) async throws {
            do {
                _ = try await client.send(job)
            } catch let error as RecoveryError where error.retryAt != nil {
                try await queue.put(back: job, until: error.retryAt)
            }
        }
        try await clock.skippingWaits { try await run(Bench.get) }
        #expect(await queue.kept.isEmpty)
        let now = runtime.time.wallTime
        try await run(Bench.get)
        #expect(await queue.kept == [now.advanced(by: .seconds(900))])
    }

    /// What the page says of the defaults is what they are.
    @Test func theDefaultsAreThose() {
        let client = RecoveringClient(transport: ScriptedTransport())
        let text = "\(client)"
        #expect(text.contains("Deadline 60.0 seconds") && text.contains("AttemptTimeout 30.0 seconds"), "\(text)")
        #expect(text.contains("Recovery 3 attempts, waits to 120.0 seconds"), "\(text)")
        #expect(LockoutWait().limit == .seconds(120))
    }
}
