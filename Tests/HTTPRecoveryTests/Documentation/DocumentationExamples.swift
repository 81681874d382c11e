import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The examples of the articles, compiled and run.
@Suite struct DocumentationExamples {
    @Test func testing() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "2"]), .status(200)])
        let client = RecoveringClient(
            transport: transport,
            runtime: Runtime(time: clock.timeSource(), random: Runtime.RandomSource(seed: 1))
        )

        async let response = client.send(HTTPRequest(url: "https://api.example.com/items"))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        #expect(try await response.status == .ok)
        #expect(transport.received.count == 2)
    }

    @Test func skippingWaits() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(429, ["retry-after": "2"]), .status(200)])
        let client = RecoveringClient(transport: transport, runtime: .manual(clock))

        let response = try await clock.skippingWaits {
            try await client.send(HTTPRequest(url: "https://api.example.com/items"))
        }
        #expect(response.status == .ok)

        let time = clock.timeSource()
        async let pause: Void = time.sleep(for: .seconds(5))
        await clock.waitForSleeper(of: .seconds(5))
        clock.advance(by: .seconds(5))
        try await pause
    }

    @Test func composition() async throws {
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport) {
            Deadline(.seconds(30))
            Recovery(maxAttempts: 4, maxWait: .seconds(20)) {
                RateLimitBackoff()
                LockoutWait(atMost: .seconds(20))
                TransientRetry(backoff: .exponential(base: .milliseconds(50)))
            }
            AttemptTimeout(.seconds(10))
        }
        #expect(try await client.send(HTTPRequest(url: "https://api.example.com/items")).status == .ok)
    }
}
