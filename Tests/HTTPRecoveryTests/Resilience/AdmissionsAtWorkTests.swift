import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Breaker, limits and paces in a client.
@Suite struct AdmissionsAtWorkTests {
    private static func retrying(_ admission: any Admission, maxAttempts: Int = 3) -> Recovery {
        Recovery(maxAttempts: maxAttempts, admissions: [admission]) {
            TransientRetry(backoff: .constant(.seconds(1)))
        }
    }

    @Test func aRetryThatWouldMeetAnOpenBreakerIsNotWaitedFor() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(2, breakDuration: .seconds(10)))
        let bench = Bench(then: .status(500)) { Self.retrying(breaker) }
        let error = try await #require(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(error.reason == .breakerOpen && error.outcome.status == 500)
        #expect(error.retryAfter == .seconds(10))
        #expect(bench.transport.received.count == 2 && bench.clock.now.offset == .seconds(1))
        // The next one is not sent at all.
        let next = try await #require(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(next.reason == .breakerOpen && next.outcome.kind == .unavailable && next.retryAfter == .seconds(10))
        #expect(bench.transport.received.count == 2)
    }

    @Test func aBreakerThatIsHalfOpenByThenLetsTheRetryWait() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1, breakDuration: .milliseconds(500)))
        let bench = Bench([.status(500)]) { Self.retrying(breaker) }
        _ = try await bench.sendSkippingWaits()
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
        #expect(bench.transport.received.count == 2)
    }

    @Test(arguments: [400, 401, 404, 409, 429])
    func whatTheClientHasDoneWrongOpensNothing(status: Int) async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1))
        let bench = Bench(then: .status(status)) { Self.retrying(breaker, maxAttempts: 1) }
        for _ in 0..<3 { _ = try? await bench.sendSkippingWaits() }
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
    }

    @Test func aCancelledProbeIsNeutralAndGivesItsPlaceBack() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1, breakDuration: .seconds(1)))
        let bench = Bench([.status(500), .hang]) { Self.retrying(breaker, maxAttempts: 1) }
        _ = try? await bench.client.send(Bench.get)
        bench.clock.advance(by: .seconds(1))
        let probe = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(2)
        let refused = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(refused?.reason == .breakerOpen)
        probe.cancel()
        await #expect(throws: CancellationError.self) { try await probe.value }
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .halfOpen)
        _ = try await bench.client.send(Bench.get)
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
    }

    @Test func originsHaveBreakersOfTheirOwnAndKeysCanBeOthers() async throws {
        var elsewhere = Bench.get
        elsewhere.authority = "elsewhere.example"
        let breaker = Recovery.CircuitBreaker(.consecutive(1))
        let bench = Bench([.status(500)]) { Self.retrying(breaker, maxAttempts: 1) }
        _ = try? await bench.client.send(Bench.get)
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .open)
        _ = try await bench.client.send(elsewhere)
        let one = Recovery.CircuitBreaker(.consecutive(1)) { _ in "all" }
        let other = Bench([.status(500)]) { Self.retrying(one, maxAttempts: 1) }
        _ = try? await other.client.send(Bench.get)
        await #expect(throws: RecoveryError.self) { try await other.client.send(elsewhere) }
    }

    @Test func somebodyCanOpenAndCloseItWhileItRuns() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1))
        let bench = Bench(then: .status(200)) { Self.retrying(breaker, maxAttempts: 1) }
        _ = try await bench.client.send(Bench.get)
        breaker.override = .open
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.reason == .breakerOpen && error?.retryAfter == nil)
        breaker.override = nil
        _ = try await bench.client.send(Bench.get)
    }

    @Test func noMoreAttemptsAreUnderWayThanAllowed() async throws {
        let limit = Recovery.ConcurrencyLimit(.fixed(1), queue: 1)
        let bench = Bench([.hang]) { Recovery(admissions: [limit]) }
        let first = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        let second = Task { try await bench.client.send(Bench.get) }
        while limit.load(of: PlannedAttempt(Bench.get)).waiting == 0 { await Task.yield() }
        let third = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(third?.reason == .limitReached && third?.outcome.processed == .no)
        #expect(bench.transport.received.count == 1)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        let answer = try await second.value
        #expect(answer.status == .ok && answer.history.waits.isEmpty, "its turn has come at once")
        #expect(limit.load(of: PlannedAttempt(Bench.get)).underWay == 0)
    }

    /// What a client has done wrong says nothing of what a server can bear.
    @Test(arguments: [(200, 3), (400, 2), (404, 2), (500, 1)])
    func aLimitIsLearnedFromWhatLoadDoes(status: Int, learned: Int) async throws {
        let limit = Recovery.ConcurrencyLimit(.aimd(initial: 2, min: 1, max: 9, backoffRatio: 0.5))
        let bench = Bench(then: .status(status)) { Recovery(maxAttempts: 1, admissions: [limit]) }
        _ = try? await bench.client.send(Bench.get)
        #expect(limit.load(of: PlannedAttempt(Bench.get)).limit == learned)
    }

    @Test func whoLeavesTheLineHoldsNobodyUp() async throws {
        let limit = Recovery.ConcurrencyLimit(.fixed(1))
        let bench = Bench([.hang]) { Recovery(admissions: [limit]) }
        let first = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        let second = Task { try await bench.client.send(Bench.get) }
        while limit.load(of: PlannedAttempt(Bench.get)).waiting == 0 { await Task.yield() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        #expect(limit.load(of: PlannedAttempt(Bench.get)).waiting == 0)
        first.cancel()
        _ = try? await first.value
        #expect(limit.load(of: PlannedAttempt(Bench.get)).underWay == 0)
    }

    @Test func aLineIsStoodInWithinTheDeadline() async throws {
        let limit = Recovery.ConcurrencyLimit(.fixed(1))
        let bench = Bench([.hang]) {
            Deadline(.seconds(3))
            Recovery(admissions: [limit])
        }
        let first = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        let second = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleeper(of: .seconds(3), purpose: .guard)
        while limit.load(of: PlannedAttempt(Bench.get)).waiting == 0 { await Task.yield() }
        bench.clock.advance(by: .seconds(3))
        let error = await #expect(throws: RecoveryError.self) { try await second.value }
        #expect(error?.reason == .deadlinePassed && error?.history.waited == .seconds(3))
        #expect(limit.load(of: PlannedAttempt(Bench.get)).waiting == 0)
        first.cancel()
        _ = try? await first.value
    }

    @Test func attemptsLeaveAtTheirPace() async throws {
        let pacing = Recovery.Pacing(perSecond: 2, burst: 1)
        let bench = Bench(then: .status(200)) { Recovery(admissions: [pacing]) }
        for _ in 0..<4 { _ = try await bench.sendSkippingWaits() }
        #expect(bench.clock.now.offset == .milliseconds(1500))
    }

    @Test func aClientThatIsThrottledFindsItsRate() async throws {
        let rate = Recovery.AdaptiveRate()
        let bench = Bench([.status(200), .status(200), .status(429)]) {
            Recovery(admissions: [rate]) { RateLimitBackoff(backoff: .constant(.seconds(1))) }
        }
        #expect(rate.rate(for: PlannedAttempt(Bench.get)) == nil)
        for _ in 0..<3 { _ = try await bench.sendSkippingWaits() }
        #expect(rate.rate(for: PlannedAttempt(Bench.get)) != nil)
    }

    @Test(arguments: [false, true])
    func oneThatWasForcedOpenWorksOnceItIsReleased(hasKeys: Bool) async throws {
        let byName: @Sendable (PlannedAttempt) -> String = { "\($0.origin)" }
        let breaker = Recovery.CircuitBreaker(.consecutive(1), key: hasKeys ? byName : nil)
        breaker.override = .open
        let bench = Bench(then: .status(503)) { Recovery(maxAttempts: 1, admissions: [breaker]) }
        func reason() async -> History.StopReason? {
            let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            return error?.reason
        }
        #expect(await reason() == .breakerOpen)
        breaker.override = nil
        for expected in [History.StopReason.attemptsExhausted, .breakerOpen, .breakerOpen] {
            #expect(await reason() == expected)
        }
        for word in [Recovery.CircuitBreaker.Override.closed, .metricsOnly] {
            breaker.override = word
            #expect(await reason() == .attemptsExhausted)
        }
        breaker.override = nil
        #expect(await reason() == .breakerOpen)
    }

    @Test func whatABreakerDoesStandsInTheEvents() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(2, breakDuration: .seconds(10)))
        let bench = Bench([.status(503), .status(503), .status(200)]) {
            Recovery(maxAttempts: 1, admissions: [breaker])
        }
        for _ in 1...2 { _ = try? await bench.client.send(Bench.get) }
        bench.clock.advance(by: .seconds(10))
        _ = try await bench.client.send(Bench.get)
        let words = bench.events.words.filter { $0.hasPrefix("breaker") }
        #expect(words == ["breaker open 10.0", "breaker half_open", "breaker closed"])
    }

    @Test(arguments: [
        (429, false, false), (429, true, true), (408, true, true), (404, true, false), (503, false, true),
    ])
    func whatABreakerCountsCanBeChosen(status: Int, countsRefusals: Bool, opens: Bool) async throws {
        var configuration = Recovery.CircuitBreaker.Configuration.consecutive(1)
        configuration.countsRefusals = countsRefusals
        let (standard, own) = (
            Recovery.CircuitBreaker(configuration),
            Recovery.CircuitBreaker(configuration, judgement: { $0.status == 404 })
        )
        let bench = Bench(then: .status(status)) { Recovery(maxAttempts: 1, admissions: [standard, own]) }
        _ = try? await bench.client.send(Bench.get)
        #expect((standard.state(for: PlannedAttempt(Bench.get)) == .open) == opens)
        #expect((own.state(for: PlannedAttempt(Bench.get)) == .open) == (status == 404))
    }
}
