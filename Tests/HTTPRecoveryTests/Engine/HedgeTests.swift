import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// More than one attempt at the same time: the rule through all short histories, and at work.
@Suite struct HedgeTests {
    private static let good = Outcome(.ok, status: 200)
    private static let passing = Outcome(.unavailable, remedies: [.retry], status: 503)
    private static let stated = Outcome(.unavailable, retryAfter: .seconds(2), remedies: [.wait], status: 503)
    private static let fatal = Outcome(.notFound, status: 404)
    private static let forbidden: Outcome = {
        var outcome = Outcome(.unavailable, remedies: [.retry], status: 503)
        outcome.apply(.stop)
        return outcome
    }()
    private static let exact: Outcome = {
        var outcome = stated
        outcome.delayForm = .exactly
        return outcome
    }()

    @Test(arguments: 1...4)
    func everyShortHistoryKeepsTheRules(most: Int) {
        let ends = [Self.good, Self.passing, Self.stated, Self.fatal, Self.forbidden, Self.exact]
        for history in 0..<262_144 {
            var (plan, rest) = (HedgePlan(maxAttempts: most), history)
            var (running, sent, mayHedge, isAsking) = (1, 1, true, false)
            steps: for _ in 0..<6 {
                let draw = rest % 8
                rest /= 8
                let action: HedgePlan.Action
                if isAsking {
                    action = plan.next(after: .admitted(draw % 2 == 0))
                    if draw % 2 == 0 {
                        #expect(action == .send)
                        (running, sent) = (running + 1, sent + 1)
                    } else {
                        mayHedge = false
                    }
                } else if draw < ends.count, running > 0 {
                    running -= 1
                    action = plan.next(after: .ended(ends[draw]))
                    let isExact = draw == 5 && mayHedge && sent < most
                    if draw == 2 || draw == 4 || (draw == 5 && !isExact) { mayHedge = false }
                    let isDecisive = draw == 0 || draw == 3
                    let canGoOn = mayHedge && sent < most && !isExact
                    #expect((action == .finish) == (isDecisive || (running == 0 && !canGoOn)))
                    #expect((action == .postpone(.seconds(2))) == (isExact && running > 0))
                } else if draw == 6, running > 0, sent > 1 {
                    (running, mayHedge) = (running - 1, false)
                    action = plan.next(after: .lost)
                    #expect(action == (running > 0 ? .wait : .finish))
                } else {
                    action = plan.next(after: .due)
                }
                isAsking = action == .ask
                if isAsking { #expect(mayHedge && sent < most) }
                #expect(sent <= most)
                if action == .finish { break steps }
                if !isAsking { #expect(plan.isOpen == (mayHedge && sent < most)) }
                #expect(running > 0 || isAsking, "somebody is waited for")
            }
        }
    }

    /// As a classifier may tell it that takes what has failed for repeatable.
    @Test func aStatedTimeEndsHedgingOfWhatMayBeRepeatedToo() {
        let stated = Outcome(.unavailable, retryAfter: .seconds(2), remedies: [.retry], status: 503)
        var plan = HedgePlan(maxAttempts: 3)
        #expect(plan.next(after: .ended(stated)) == .finish)
        plan = HedgePlan(maxAttempts: 3)
        #expect(plan.next(after: .due) == .ask && plan.next(after: .admitted(true)) == .send)
        #expect(plan.next(after: .ended(stated)) == .wait && !plan.isOpen)
    }

    private static func client(_ steps: [ScriptedTransport.Step], _ hedging: Recovery.Hedging) -> Bench {
        Bench(steps) { Recovery(hedging: hedging) { TransientRetry(backoff: .constant(.seconds(1))) } }
    }

    @Test func ofSeveralFailuresTheOneIsToldThatSaysMost() {
        let order = [Self.passing, Self.stated, Self.forbidden, Self.fatal]
        for (index, first) in order.enumerated() {
            for (other, second) in order.enumerated() {
                let isTold = HedgePlan.isTold(second, insteadOf: first)
                #expect(isTold == (other > index || (index == 0 && other == 0)), "\(index) \(other)")
            }
        }
    }

    @Test func whatTakesOneBodyIsNotHedged() async throws {
        struct Sink: RecoveringClient.Download.Target {
            var canRestart: Bool { true }
            func restart() -> Bool { true }
            func write(_ bytes: ArraySlice<UInt8>) {}
        }
        let bench = Self.client([.status(200), .status(200)], .init(after: .zero, maxAttempts: 3))
        var options = RequestOptions()
        options.attemptLayers = [RecoveringClient.Download(to: Sink())]
        _ = try await bench.sendSkippingWaits(options: options)
        #expect(bench.transport.received.count == 1)
        let inside: [any ClientLayer] = [
            Recovery(hedging: .init(after: .seconds(1))), RecoveringClient.Download(to: Sink()),
        ]
        #expect(CallContext.LayerPlace.problem(in: inside)?.hasPrefix("Download stands inside Recovery") == true)
        #expect(CallContext.LayerPlace.problem(in: inside.reversed()) == nil)
    }

    /// A layer whose hedges fail, as those of a renewal that does not come through.
    private struct FailsBesideTheFirst: ClientLayer {
        struct Failure: Error {}
        let isReady: Flight<Void>

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            if context.cause == .hedge {
                isReady.land(.success(()))
                throw Failure()
            }
            return try await next(request, body: body, context: context)
        }
    }

    @Test func theFirstGoesOnWhereAHedgeFails() async throws {
        let isReady = Flight<Void>()
        let first = ScriptedTransport.Step.run { _ in
            try await isReady.value
            return .scripted(200)
        }
        let bench = Bench([first]) {
            Recovery(hedging: .init(after: .seconds(1), maxAttempts: 3))
            FailsBesideTheFirst(isReady: isReady)
        }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.transport.received.count == 1)
    }

    @Test func oneOriginsTimesAreNotAnothers() {
        let memory = HedgeMemory(.init(after: .seconds(1), quantile: 0.5))
        var other = Bench.get
        other.authority = "slow.example.com"
        for _ in 0..<30 { memory.latencies[other].note(.seconds(9)) }
        #expect(memory.latencies[other].quantile(0.5) == .seconds(9))
        #expect(memory.latencies[Bench.get].quantile(0.5) == nil)
    }

    @Test func aLoserIsCancelledAndTheWinnerIsWhole() async throws {
        let bench = Self.client([.hang, .status(200, ["x": "2"], body: "second")], .init(after: .seconds(1)))
        let response = try await bench.sendSkippingWaits()
        #expect(try await response.body.collect(upTo: 100) == Array("second".utf8))
        #expect(response.history.attempts.map(\.number) == [2] && response.history.attempts.map(\.cause) == [.hedge])
        #expect(bench.transport.received.count == 2 && bench.clock.now.offset == .seconds(1))
    }

    @Test func whatSpendsSomethingIsNeverHedged() async throws {
        let slow = ScriptedTransport.Step.run { _ in .scripted(200) }
        for (request, options) in [
            (Bench.post, RequestOptions()), (Bench.get, RequestOptions(resend: .spending)),
        ] {
            let bench = Self.client([slow], .init(after: .zero, maxAttempts: 5))
            _ = try await bench.sendSkippingWaits(request, options: options)
            #expect(bench.transport.received.count == 1)
        }
    }

    /// No answer comes: whatever could be hedged would be.
    @Test func whatSpendsSomethingIsNotHedgedHoweverLongItTakes() async throws {
        var keyed = Bench.post
        keyed.headerFields[.idempotencyKey] = "1"
        for (request, options) in [
            (Bench.post, RequestOptions()), (keyed, RequestOptions()), (Bench.get, RequestOptions(resend: .spending)),
        ] {
            let bench = Bench([.hang], enforcesTimeouts: false) {
                Recovery(hedging: .init(after: .seconds(1), maxAttempts: 5)) {}
            }
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.sendSkippingWaits(request, options: options)
            }
            #expect(error?.kind == .timedOut && bench.transport.received.count == 1)
        }
    }

    /// It was load that was added, whether it was of use or not.
    @Test func aHedgeThatWinsGivesNothingBack() async throws {
        let recovery = Recovery(budget: .ratio(.init(ratio: 0, burst: 1)), hedging: .init(after: .seconds(1))) {}
        let bench = Bench([.hang, .status(200)]) { recovery }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.transport.received.count == 2)
        #expect(recovery.budgetLeft(for: Bench.get, at: bench.client.runtime.time.now) == 0)
    }

    @Test func anOpenBreakerEndsHedgingAndLosersAreNeutral() async throws {
        let breaker = Recovery.CircuitBreaker(.consecutive(1))
        let bench = Bench([.hang, .status(200)]) {
            Recovery(hedging: .init(after: .seconds(1)), admissions: [breaker]) {}
        }
        _ = try await bench.sendSkippingWaits()
        #expect(breaker.state(for: PlannedAttempt(Bench.get)) == .closed)
        let other = Bench([.status(500, ["x-should-retry": "true"])]) {
            Recovery(hedging: .init(after: .seconds(1)), admissions: [breaker]) {}
        }
        await #expect(throws: RecoveryError.self) { try await other.sendSkippingWaits() }
        #expect(other.transport.received.count == 1 && breaker.state(for: PlannedAttempt(Bench.get)) == .open)
    }

    /// What a server does that takes its time.
    private static func slow(_ delay: Duration, on clock: ManualClock) -> ScriptedTransport.Step {
        let time = clock.timeSource()
        return .run { _ in
            try await time.sleep(for: delay)
            return .scripted(200)
        }
    }

    /// As soon as twenty answers are known; what has failed, and at once, says nothing of how long an answer takes.
    @Test(arguments: [(19, 10), (20, 1)])
    func theDelayBeforeAHedgeIsAQuantileOfWhatAnswersHaveTaken(answers: Int, delay: Int) async throws {
        let clock = ManualClock()
        let failures = Array(repeating: ScriptedTransport.Step.status(404), count: 30)
        let successes = Array(repeating: Self.slow(.seconds(1), on: clock), count: answers)
        let bench = Bench(failures + successes + [.hang], clock: clock) {
            Recovery(hedging: .init(after: .seconds(10), quantile: 0.25)) {}
        }
        for _ in 0..<(30 + answers) { _ = try? await bench.sendSkippingWaits() }
        let before = clock.now.offset
        _ = try await bench.sendSkippingWaits()
        #expect(clock.now.offset - before == .seconds(delay))
        #expect(bench.transport.received.count == 30 + answers + 2)
    }

    /// A second reading would find nothing, or the rest of the first.
    @Test(arguments: [false, true])
    func aBodyThatCanBeReadOnceIsNotHedged(isOnce: Bool) async throws {
        let clock = ManualClock()
        let recovery = Recovery(budget: .ratio(.init(ratio: 0, burst: 3)), hedging: .init(after: .seconds(1))) {}
        let bench = Bench([Self.slow(.seconds(5), on: clock)], clock: clock) { recovery }
        var put = Bench.get
        put.method = .put
        let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
        continuation.yield([1, 2, 3])
        continuation.finish()
        let body = isOnce ? MessageBody(once: stream) : MessageBody([1, 2, 3])
        #expect(try await bench.sendSkippingWaits(put, body: body).status == .ok)
        #expect(bench.transport.received.map(\.body) == Array(repeating: [1, 2, 3], count: isOnce ? 1 : 2))
        #expect(bench.clock.now.offset == .seconds(isOnce ? 5 : 1))
        #expect(recovery.budgetLeft(for: put, at: bench.client.runtime.time.now) == (isOnce ? 3 : 2))
    }

    /// The second attempt of three has one more beside it, whatever hedging would allow.
    @Test func hedgesOfARetryCountAmongTheAttemptsOfTheCall() async throws {
        let bench = Bench([.status(503, ["retry-after": "1"])], then: .hang, enforcesTimeouts: false) {
            Recovery(maxAttempts: 3, hedging: .init(after: .seconds(1), maxAttempts: 5)) { RateLimitBackoff() }
        }
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(bench.transport.received.count == 3)
    }

    @Test func cancellationEndsAllOfThem() async throws {
        let bench = Self.client([.hang, .hang], .init(after: .seconds(1)))
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleeper(of: .seconds(1), purpose: .guard)
        bench.clock.advance(by: .seconds(1))
        await bench.transport.waitForRequests(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    @Test func theDelayFollowsAQuantileOnceEnoughIsKnown() {
        let latencies = HedgeLatencies()
        for index in 1...19 { latencies.note(.milliseconds(index)) }
        #expect(latencies.quantile(0.95) == nil)
        latencies.note(.milliseconds(20))
        #expect(latencies.quantile(0.95) == .milliseconds(19))
        for _ in 0..<100 { latencies.note(.seconds(1)) }
        #expect(latencies.quantile(0.5) == .seconds(1) && latencies.quantile(.nan) == nil)
    }
}
