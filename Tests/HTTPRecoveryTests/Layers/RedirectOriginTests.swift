import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

@Suite("What a redirect may do to others", .timeLimit(.minutes(30)))
struct RedirectOriginTests {
    private static let fromElsewhere = HTTPRequest(
        method: .get,
        scheme: "https",
        authority: "evil.example",
        path: "/"
    )

    private static func bench(
        _ steps: [ScriptedTransport.Step],
        budget: RetryBudget.Configuration = .init(),
        maxWait: Duration = .seconds(120)
    ) -> Bench {
        Bench(steps) {
            Redirects()
            Recovery(maxWait: maxWait, budget: .ratio(budget))
        }
    }

    @Test(arguments: ["99999999999999", "9999999999999999999999999999", "3600"])
    func itHoldsNoOtherCallToItsTarget(delay: String) async throws {
        let location = "https://api.example.com/items?key=s3cret"
        let bench = Self.bench([.status(302, ["location": location, "retry-after": delay])])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Self.fromElsewhere)
        }
        #expect(error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter ?? .zero >= .seconds(3600), "the call itself is told the stated time")
        #expect(try await bench.client.send(Bench.get).status == .ok, "the target has said nothing")
        #expect(bench.transport.received.count == 2)
    }

    @Test func aCallThatWaitsForItsHopHoldsNobodyElse() async throws {
        let bench = Self.bench([.status(302, ["location": "/new", "retry-after": "7"])])
        async let first = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(1)
        var other = Bench.get
        other.path = "/new"
        #expect(try await bench.client.send(other).status == .ok)
        #expect(bench.transport.received.count == 2)
        bench.clock.advance(by: .milliseconds(6999))
        #expect(bench.transport.received.count == 2)
        bench.clock.advance(by: .seconds(8))
        #expect(try await first.status == .ok)
    }

    @Test func aHopThatIsNotMadeCostsNothing() async throws {
        let redirect = ScriptedTransport.Step.status(302, ["location": "/new", "retry-after": "3600"])
        let bench = Self.bench([redirect, redirect, redirect], budget: .init(ratio: 0, burst: 1))
        for _ in 0..<3 {
            let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            #expect(error?.reason == .waitExceedsLimit)
        }
    }

    @Test func aHopWhoseWaitIsCancelledCostsNothing() async throws {
        let redirect = ScriptedTransport.Step.status(302, ["location": "/new", "retry-after": "60"])
        let bench = Self.bench([redirect, redirect], budget: .init(ratio: 0, burst: 1))
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(try await bench.sendSkippingWaits().status == .ok)
    }

    @Test func aRefusalOfTheTargetInsideTheEngineClosesNoGateOfTheRedirectingOrigin() async throws {
        let bench = Bench([
            .status(302, ["location": "https://other.example.com/"]), .status(429, ["retry-after": "60"]),
        ]) {
            Recovery {}
            Redirects()
        }
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(try await bench.client.send(Bench.get).status == .ok)
    }
}

@Suite("What one answer may close")
struct ClosingBoundTests {
    private static let endless = ["99999999999999", "9999999999999999999999999999"]

    @Test(arguments: endless)
    func aLimitIsStoredForADayAtMost(delay: String) async throws {
        let bench = Bench([.status(429, ["retry-after": delay])]) { Recovery {} }
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.retryAfter ?? .zero >= .seconds(99_999_999_999_999), "the stated time is told")
        bench.clock.advance(by: .seconds(86_399))
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.client.send(Bench.get).status == .ok)
    }

    @Test func aLockoutIsStoredForAMonthAtMost() async throws {
        let lockout = ScriptedTransport.Step.status(423, ["lockout": "99999999999999"])
        let bench = Bench([lockout], classifier: LockoutClassifier()) { Recovery {} }
        let options = RequestOptions(account: "ada")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: options)
        }
        #expect(error?.outcome.lockout == .remaining(.seconds(99_999_999_999_999)))
        bench.clock.advance(by: .seconds(31 * 86_400 - 1))
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get, options: options) }
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.client.send(Bench.get, options: options).status == .ok)
    }
}
