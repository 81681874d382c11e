import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What a call brings itself: policies that are asked first, and an admission that paces.
@Suite struct CallPolicyTests {
    /// Repairs a 409 once, or gives up on it.
    private struct OnConflict: RecoveryPolicy, FailureContext.Remediation {
        var result = FailureContext.RemediationResult.repaired
        var name: String { "own" }

        func decide(_ situation: FailureContext) -> FailureContext.Decision {
            situation.outcome.status == 409 ? .repair(self) : .pass
        }

        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            result
        }
    }

    private struct GivesUp: RecoveryPolicy {
        func decide(_ situation: FailureContext) -> FailureContext.Decision { .giveUp(.notRecoverable) }
    }

    @Test func theyAreAskedBeforeTheClientsAndWithinTheSameLimits() async throws {
        let bench = Bench([.status(409), .status(200)]) { Recovery(maxAttempts: 1) { GivesUp() } }
        let own = RequestOptions(policies: [OnConflict()])
        #expect(try await bench.client.send(Bench.post, options: own).status == .ok)
        let again = Bench([.status(409), .status(409), .status(200)])
        let error = await #expect(throws: RecoveryError.self) { try await again.client.send(Bench.get, options: own) }
        #expect(error?.reason == .alreadyRepaired)
        #expect(again.transport.received.count == 2)
    }

    @Test func whatTheyPassIsTheClients() async throws {
        let bench = Bench([.status(503), .status(200)])
        _ = try await bench.sendSkippingWaits(options: RequestOptions(policies: [OnConflict()]))
        #expect(bench.transport.received.count == 2)
    }

    @Test func theyHoldForTheirCallAlone() async throws {
        let bench = Bench([.status(409)])
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(bench.transport.received.count == 1)
    }

    @Test func withoutAnEngineNobodyAsksThem() async throws {
        let bench = Bench([.status(409), .status(200)]) {}
        await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: RequestOptions(policies: [OnConflict()]))
        }
        #expect(bench.transport.received.count == 1)
    }

    // MARK: Pacing

    /// One request in ten seconds.
    private final class Slow: Admission {
        private let next = Locked(TimeSource.Instant(sinceStart: .zero))
        let returned = Locked(0)

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            guard attempt.isDue else { return .go() }
            let now = context.runtime.time.now
            return next.withLock { next in
                let time = max(now, next)
                let delay = now.duration(to: time)
                let outcome = Outcome(.rateLimited, processed: .no, retryAfter: delay)
                guard delay <= attempt.longestWait else { return .wait(delay, because: outcome) }
                next = time.advanced(by: .seconds(10))
                return .wait(delay, because: outcome, permit: PlannedAttempt.Permit(time))
            }
        }

        func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            if case .notSent = end { returned.withLock { $0 += 1 } }
            return nil
        }
    }

    @Test func eachAttemptWaitsForItsPlace() async throws {
        let bench = Bench([.status(200), .status(500), .status(200)])
        let options = RequestOptions(admissions: [Slow()])
        _ = try await bench.sendSkippingWaits(options: options)
        #expect(bench.clock.now.offset == .zero)
        let response = try await bench.sendSkippingWaits(options: options)
        #expect(bench.clock.now.offset == .seconds(20))
        #expect(response.history.waited >= .seconds(19))
        #expect(bench.events.words.contains("wait rate_limited 10.0"))
    }

    @Test func aPlaceThatIsTooFarAwayIsNotWaitedFor() async throws {
        let pacing = Slow()
        let bench = Bench()
        _ = try await bench.client.send(Bench.get, options: RequestOptions(admissions: [pacing]))
        let late = RequestOptions(deadline: .seconds(5), admissions: [pacing])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get, options: late) }
        #expect(error?.kind == .rateLimited && error?.reason == .deadlineWouldPass)
        #expect(error?.retryAfter == .seconds(10))
        let impatient = Bench { Recovery(maxWait: .seconds(1)) }
        let second = await #expect(throws: RecoveryError.self) {
            try await impatient.client.send(Bench.get, options: RequestOptions(admissions: [pacing]))
        }
        #expect(second?.reason == .waitExceedsLimit)
        #expect(bench.transport.received.count == 1 && impatient.transport.received.isEmpty)
    }

    @Test func aGateThatClosesBehindTheWaitHolds() async throws {
        let bench = Bench([.status(200), .status(200)])
        let options = RequestOptions(admissions: [Slow()])
        _ = try await bench.client.send(Bench.get, options: options)
        let held = Task { try await bench.client.send(Bench.get, options: options) }
        await bench.clock.waitForSleepers(1)
        let origin = Origin(scheme: "https", authority: "api.example.com")
        let opensAt = bench.client.runtime.time.wallTime.advanced(by: .seconds(30))
        let gate = SharedState.Gate(
            key: SharedState.Gate.Key(scope: .origin, origin: origin),
            reason: .rateLimited,
            opensAt: opensAt
        )
        await bench.client.runtime.state.close(gate)
        bench.clock.advance(by: .seconds(10))
        await bench.clock.waitForSleepers(1)
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(25))
        _ = try await held.value
        #expect(bench.transport.received.count == 2)
    }

    @Test func whoIsCancelledGivesItsPlaceBack() async throws {
        let pacing = Slow()
        let bench = Bench()
        let options = RequestOptions(admissions: [pacing])
        _ = try await bench.client.send(Bench.get, options: options)
        let waiting = Task { try await bench.client.send(Bench.get, options: options) }
        await bench.clock.waitForSleepers(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(pacing.returned.withLock { $0 } == 1)
    }

    @Test(arguments: [
        (TransportError.Code.cannotResolve, true), (.cannotConnect, true), (.connectionLost, false), (.timedOut, false),
        (.tlsFailed, false), (.certificateRejected, false),
    ])
    func beingOfflineIsToldApart(code: TransportError.Code, isOffline: Bool) async throws {
        let bench = Bench([.fail(code, .neverSent)]) { Recovery(maxAttempts: 1) }
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.isOffline == isOffline)
    }
}
