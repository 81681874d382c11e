import HTTPRecovery
import Testing

/// Which lockouts the policy waits out, and for how long.
@Suite struct LockoutWaitTests {
    private static func locked(_ lockout: Outcome.Lockout) -> Outcome {
        var outcome = Outcome(.accountLocked, scope: .account, processed: .no)
        outcome.lockout = lockout
        return outcome
    }

    /// In words.
    private static func decision(_ outcome: Outcome, wasSent: Bool, lockouts: Int) -> String {
        let situation = FailureContext(outcome: outcome, wasSent: wasSent, lockouts: lockouts)
        return switch LockoutWait(atMost: .seconds(60)).decide(situation) {
        case .pass: "pass"
        case .giveUp(let reason): reason.rawValue
        case .retry(let delay): "after \(delay.components.seconds) s"
        default: "something else"
        }
    }

    @Test(arguments: [
        (locked(.remaining(.seconds(59))), true, 1, "after 59 s"),
        (locked(.remaining(.seconds(60))), true, 1, "after 60 s"),
        (locked(.remaining(.seconds(61))), true, 1, "wait_exceeds_limit"),
        // Each attempt counts, so never at once.
        (locked(.remaining(.zero)), true, 1, "after 1 s"),
        // A second one may be of the call's own making; one that is met at a gate is not.
        (locked(.remaining(.seconds(5))), true, 2, "account_locked"),
        (locked(.remaining(.seconds(5))), false, 2, "after 5 s"),
        (locked(.indefinite), true, 1, "account_locked"), (Outcome(.rateLimited), true, 0, "pass"),
    ])
    func whatIsWaitedFor(outcome: Outcome, wasSent: Bool, lockouts: Int, decision: String) {
        #expect(Self.decision(outcome, wasSent: wasSent, lockouts: lockouts) == decision)
    }
}
