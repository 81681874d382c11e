import HTTPTypes
import Testing

@testable import HTTPRecovery

/// The value that knows a call: what it does next, by tables.
@Suite struct CallStateTests {
    private struct Always: RecoveryPolicy {
        let decision: FailureContext.Decision
        func decide(_ situation: FailureContext) -> FailureContext.Decision { decision }
    }

    private struct Mends: FailureContext.Remediation {
        var name: String { "mend" }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    private struct Asks: FailureContext.Remediation {
        var name: String { "ask" }
        var needsReplay: Bool { false }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    /// A call, driven by hand.
    private struct Call {
        var state: CallState
        var remaining: Duration?
        var random = 0.0

        init(_ decisions: FailureContext.Decision..., maxAttempts: Int = 3, maxWait: Duration = .seconds(60)) {
            let policies = decisions.map { Always(decision: $0) }
            let rules = RecoveryRules(policies: policies, maxAttempts: maxAttempts, maxWait: maxWait)
            state = CallState(rules: rules, method: .get)
        }

        mutating func next(_ event: CallState.Event) -> String {
            switch state.next(after: event, remaining: remaining, random: random) {
            case .admit(let cause, let isDue, _): "admit \(cause)\(isDue ? "" : " later")"
            case .attempt(let cause): "attempt \(cause)"
            case .queue: "queue"
            case .stand(let limit, let outcome): "stand \(limit.inSeconds) \(outcome.kind.rawValue)"
            case .wait(let delay, let reason): "wait \(delay.inSeconds) \(reason.rawValue)"
            case .repair(let repair, _): "repair \(repair.name)"
            case .finish: "finish"
            case .fail(let outcome, let reason, let needed):
                "fail \(outcome.kind.rawValue) \(reason)" + (needed.map { " \($0.inSeconds)" } ?? "")
            }
        }

        /// What it does after each of the events.
        mutating func all(_ events: CallState.Event...) -> [String] {
            events.map { next($0) }
        }
    }

    private func failed(
        _ kind: Outcome.Kind = .unavailable,
        obstacle: History.StopReason? = nil,
        hasQueue: Bool = false
    ) -> CallState.Event {
        .failed(Outcome(kind), obstacle: obstacle, hasQueue: hasQueue)
    }

    @Test func aCallThatSucceeds() {
        var call = Call(.pass)
        #expect(call.all(.begun, .admitted, .succeeded) == ["admit call", "attempt call", "finish"])
    }

    @Test func aRetryIsPaidForBeforeItsWaitAndAskedForAgainBehindIt() {
        var call = Call(.retry(after: .seconds(2)))
        let steps = call.all(.begun, .admitted, failed(), .admitted, .waited, .admitted)
        #expect(
            steps == [
                "admit call", "attempt call", "admit unavailable later", "wait 2.0 unavailable", "admit unavailable",
                "attempt unavailable",
            ]
        )
    }

    @Test func aRetryWithoutAWaitIsAskedForOnce() {
        var call = Call(.retry(after: .zero))
        #expect(
            call.all(.begun, .admitted, failed(), .admitted).suffix(2) == [
                "admit unavailable", "attempt unavailable",
            ]
        )
    }

    @Test func anEmptyBudgetEndsTheCallWithWhatItCameTo() {
        var call = Call(.retry(after: .seconds(2)))
        _ = call.all(.begun, .admitted, failed())
        #expect(call.next(.refused(.budgetExhausted, because: nil)) == "fail unavailable budget_exhausted")
    }

    @Test func anObstacleIsTheStricterWord() {
        var call = Call(.retry(after: .seconds(2)))
        _ = call.all(.begun, .admitted)
        // Nobody is asked for a payment that would be in vain.
        #expect(call.next(failed(obstacle: .methodNotIdempotent)) == "fail unavailable method_not_idempotent")
    }

    @Test func theAttemptsEnd() {
        var call = Call(.retry(after: .zero), maxAttempts: 2)
        _ = call.all(.begun, .admitted, failed(), .admitted)
        #expect(call.next(failed()) == "fail unavailable attempts_exhausted")
    }

    @Test func whoComesToAGateQueuesAndLeavesAfterThoseInFront() {
        var call = Call(.retry(after: .seconds(10)))
        #expect(call.next(.begun) == "admit call")
        #expect(call.next(.held(because: Outcome(.rateLimited), hasQueue: true)) == "queue")
        #expect(call.next(.queued(behind: 4)) == "wait 10.02 rate_limited")
        #expect(call.next(.waited) == "admit call")
        // It was held, not refused: as many attempts as ever are left.
        #expect(call.next(.admitted) == "attempt call")
        #expect(call.next(failed(.rateLimited, hasQueue: true)) == "admit rate_limited later")
        #expect(call.next(.admitted) == "queue")
        call.remaining = .seconds(10.5)
        call.random = 0.9
        #expect(call.next(.queued(behind: 1000)) == "wait 10.25 rate_limited")
    }

    @Test func aPlaceIsWaitedForWithinTheBounds() {
        var call = Call(.pass)
        _ = call.next(.begun)
        let limit = Outcome(.rateLimited)
        #expect(call.next(.delayed(.seconds(60), because: limit)) == "wait 60.0 rate_limited")
        #expect(call.next(.waited) == "admit call")
        #expect(call.next(.delayed(.seconds(61), because: limit)) == "fail rate_limited wait_exceeds_limit 61.0")
        call.remaining = .seconds(5)
        #expect(call.next(.delayed(.seconds(61), because: limit)) == "fail rate_limited deadline_would_pass 61.0")
    }

    @Test(arguments: [
        (5.001, "wait 5.0 rate_limited"), (5, "fail rate_limited deadline_would_pass 5.0"),
        (0, "fail rate_limited deadline_would_pass 5.0"),
    ])
    func noPlaceIsWaitedForThatComesWithTheDeadline(left: Double, action: String) {
        var call = Call(.pass)
        _ = call.next(.begun)
        call.remaining = .seconds(left)
        #expect(call.next(.delayed(.seconds(5), because: Outcome(.rateLimited))) == action)
    }

    /// What the admissions have taken of the time counts, once they have let the retry go.
    @Test(arguments: [
        (2.001, "wait 2.0 unavailable"), (2, "fail unavailable deadline_would_pass 2.0"),
        (0.001, "fail unavailable deadline_would_pass 2.0"), (0, "fail unavailable deadline_passed 2.0"),
        (-1, "fail unavailable deadline_passed 2.0"),
    ])
    func noWaitIsBegunThatWouldEndWithTheDeadline(left: Double, action: String) {
        var call = Call(.retry(after: .seconds(2)))
        call.remaining = .seconds(10)
        _ = call.all(.begun, .admitted, failed())
        call.remaining = .seconds(left)
        #expect(call.next(.admitted) == action)
    }

    /// Of two that take as long it is the admission's place, which would be lost.
    @Test(arguments: [
        (1.0, "wait 2.0 unavailable", RecoveryEvent.WaitCause.backoff), (2, "wait 2.0 rate_limited", .pace),
        (3, "wait 3.0 rate_limited", .pace),
    ])
    func whatTakesLongerIsWaitedForAndNamed(place: Double, action: String, cause: RecoveryEvent.WaitCause) {
        var call = Call(.retry(after: .seconds(2)))
        _ = call.all(.begun, .admitted, failed())
        #expect(call.next(.delayed(.seconds(place), because: Outcome(.rateLimited))) == action)
        #expect(call.state.waitCause == cause)
    }

    @Test func aWaitHasACause() {
        let refused = Outcome(.rateLimited)
        var redirect = Outcome(.misconfigured, status: 302)
        redirect.retryAfter = .seconds(2)
        let histories: [([CallState.Event], RecoveryEvent.WaitCause)] = [
            ([.begun, .admitted, failed(), .admitted], .backoff),
            ([.begun, .admitted, failed(hasQueue: true), .admitted, .queued(behind: 0)], .gate),
            ([.begun, .held(because: refused, hasQueue: true), .queued(behind: 0)], .gate),
            ([.begun, .held(because: refused, hasQueue: false)], .gate),
            ([.continued(following: redirect), .admitted], .gate),
            ([.begun, .delayed(.seconds(2), because: refused)], .pace),
            ([.begun, .delayed(.seconds(2), because: refused), .waited, .admitted, failed(), .admitted], .backoff),
        ]
        for (index, (events, cause)) in histories.enumerated() {
            var call = Call(.retry(after: .seconds(2)))
            let last = events.map { call.next($0) }.last
            #expect(last?.hasPrefix("wait 2.0 ") == true && call.state.waitCause == cause, "\(index)")
        }
    }

    @Test func aTurnIsWaitedForWithinTheBounds() {
        var call = Call(.pass)
        let full = Outcome(.unavailable)
        #expect(call.all(.begun, .lined(because: full)) == ["admit call", "stand 60.0 unavailable"])
        #expect(call.next(.waited) == "admit call")
        #expect(call.next(.overdue(because: full)) == "fail unavailable wait_exceeds_limit")
        call.remaining = .seconds(5)
        #expect(call.next(.lined(because: full)) == "stand 5.0 unavailable")
        call.remaining = .zero
        #expect(call.next(.overdue(because: full)) == "fail unavailable deadline_passed")
    }

    @Test func theReplayAfterARepairIsFree() {
        var call = Call(.repair(Mends()), maxAttempts: 1)
        #expect(
            call.all(.begun, .admitted, failed(), .repaired(name: "mend"), .admitted, failed()) == [
                "admit call", "attempt call", "repair mend", "admit mend", "attempt mend",
                "fail unavailable already_repaired",
            ]
        )
    }

    /// It is found out what a refusal means, but what must not be sent again is not.
    @Test func whatNeedsNoReplayIsDoneAndNotReplayed() {
        var call = Call(.repair(Asks()))
        let refused = CallState.Event.failed(
            Outcome(.credentialRejected),
            obstacle: .bodyNotReplayable,
            hasQueue: false
        )
        #expect(
            call.all(.begun, .admitted, refused, .repaired(name: "ask")) == [
                "admit call", "attempt call", "repair ask", "fail credential_rejected body_not_replayable",
            ]
        )
        call = Call(.repair(Mends()))
        #expect(
            call.all(.begun, .admitted, refused).last == "fail credential_rejected body_not_replayable"
        )
    }

    @Test func aRepairThatFailsEndsTheCall() {
        var call = Call(.repair(Mends()))
        _ = call.all(.begun, .admitted, failed())
        let end = call.next(.repairFailed(Outcome(.reauthenticationRequired), .repairFailed))
        #expect(end == "fail reauthentication_required repair_failed")
    }

    @Test func whatContinuesACallIsPaidForAndWaitsAsStated() {
        var cause = Outcome(.misconfigured, status: 302)
        var call = Call(.retry(after: .seconds(3)))
        #expect(call.all(.continued(following: cause), .admitted) == ["admit follow_up", "attempt follow_up"])
        cause.retryAfter = .seconds(3)
        call = Call(.retry(after: .seconds(3)))
        #expect(
            call.all(.continued(following: cause), .admitted, .waited, .admitted) == [
                "admit follow_up later", "wait 3.0 unavailable", "admit follow_up", "attempt follow_up",
            ]
        )
        cause.retryAfter = .zero
        call = Call(.retry(after: .seconds(3)))
        #expect(call.all(.continued(following: cause), .admitted) == ["admit follow_up", "attempt follow_up"])
        call = Call(.retry(after: .seconds(3)))
        _ = call.next(.continued(following: cause))
        #expect(call.next(.refused(.budgetExhausted, because: nil)) == "fail misconfigured budget_exhausted")
    }
}
