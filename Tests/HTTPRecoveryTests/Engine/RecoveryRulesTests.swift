import Testing

@testable import HTTPRecovery

/// The one decision function, by tables.
@Suite struct RecoveryRulesTests {
    private struct Always: RecoveryPolicy {
        let decision: FailureContext.Decision
        func decide(_ situation: FailureContext) -> FailureContext.Decision { decision }
    }

    private struct Nothing: FailureContext.Remediation {
        var name: String { "nothing" }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    private func step(
        _ decisions: [FailureContext.Decision],
        obstacle: History.StopReason? = nil,
        _ change: (inout FailureContext) -> Void = { _ in }
    ) -> String {
        let policies = decisions.map { Always(decision: $0) }
        let rules = RecoveryRules(policies: policies, maxAttempts: 3, maxWait: .seconds(60))
        var situation = FailureContext(outcome: Outcome(.unavailable))
        change(&situation)
        var progress = Backoff.Progress()
        return switch rules.next(situation, obstacle: obstacle, progress: &progress, random: { 0 }) {
        case .retry(let delay, _): "retry \(delay.inSeconds)"
        case .repair: "repair"
        case .giveUp(let reason, let needed): "stop \(reason)" + (needed.map { " \($0.inSeconds)" } ?? "")
        }
    }

    @Test func theFirstPolicyThatKnowsDecides() {
        #expect(step([.pass, .retry(after: .seconds(1)), .giveUp(.breakerOpen)]) == "retry 1.0")
        #expect(step([.giveUp(.breakerOpen), .retry(after: .seconds(1))]) == "stop breaker_open")
        #expect(step([.pass]) == "stop not_recoverable")
        #expect(step([]) == "stop not_recoverable")
    }

    @Test func theLimitsHoldForAllPolicies() {
        let retry = FailureContext.Decision.retry(after: .seconds(5))
        #expect(step([retry], obstacle: .methodNotIdempotent) == "stop method_not_idempotent")
        #expect(step([retry]) { $0.attempts = 2 } == "retry 5.0")
        #expect(step([retry]) { $0.attempts = 3 } == "stop attempts_exhausted")
        #expect(step([retry]) { $0.remaining = .seconds(6) } == "retry 5.0")
        #expect(step([retry]) { $0.remaining = .seconds(5) } == "stop deadline_would_pass 5.0")
        #expect(step([retry]) { $0.remaining = .zero } == "stop deadline_passed 5.0")
        #expect(step([.retry(after: .seconds(61))]) == "stop wait_exceeds_limit 61.0")
        #expect(step([.retry(after: .seconds(-5))]) == "retry 0.0")
    }

    @Test func whatWasNotSentCostsNothing() {
        let step = step([.retry(after: .seconds(5))], obstacle: .methodNotIdempotent) {
            $0.wasSent = false
            $0.attempts = 3
        }
        #expect(step == "retry 5.0")
    }

    @Test func aRepairHappensOnce() {
        let repair = FailureContext.Decision.repair(Nothing())
        #expect(step([repair]) == "repair")
        #expect(step([repair]) { $0.repairs = [Nothing().name] } == "stop already_repaired")
        #expect(step([repair]) { $0.repairs = ["another"] } == "repair")
        #expect(step([repair], obstacle: .bodyNotReplayable) == "stop body_not_replayable")
        #expect(step([repair]) { $0.remaining = .zero } == "stop deadline_passed")
    }

    @Test func aLockedAccountThatNobodyWaitsForSaysSo() {
        let step = step([.pass]) {
            $0.outcome = Outcome(.accountLocked)
            $0.outcome.lockout = .remaining(.seconds(7))
        }
        #expect(step == "stop account_locked 7.0")
    }

    @Test(arguments: [0, 1, 7, 5000], [0.0, 0.5, 0.999])
    func spreadingOnlyAddsAndGivesWayToTheDeadline(queued: Int, random: Double) {
        for wait in [Duration.zero, .milliseconds(1), .seconds(3), .seconds(100_000), .longest] {
            let free = RecoveryRules.spread(wait: wait, queued: queued, random: random, remaining: nil)
            #expect(free >= .zero && free <= .seconds(6))
            let left = wait.saturatingAdding(.milliseconds(10))
            let bound = RecoveryRules.spread(wait: wait, queued: queued, random: random, remaining: left)
            #expect(bound >= .zero && wait.saturatingAdding(bound) <= left)
        }
    }
}
