import HTTPRecovery
import Testing

/// Which refusals the policy waits out; the others are somebody else's.
@Suite struct RateLimitBackoffTests {
    private static func outcome(
        _ kind: Outcome.Kind,
        _ remedies: [Outcome.Remedy],
        _ delay: Duration? = nil
    ) -> Outcome {
        Outcome(kind, processed: .no, retryAfter: delay, remedies: remedies)
    }

    @Test(arguments: [
        (outcome(.rateLimited, [.wait]), true), (outcome(.rateLimited, [.wait], .seconds(1)), true),
        // The server does not want to be asked again.
        (outcome(.rateLimited, []), false), (outcome(.rateLimited, [.contactAdmin], .seconds(1)), false),
        // Another factor helps sooner, unless it is known how long the wait is.
        (outcome(.rateLimited, [.switchFactor, .wait]), false),
        (outcome(.rateLimited, [.switchFactor, .wait], .seconds(1)), true),
        (outcome(.rateLimited, [.wait, .switchFactor]), true),
        // What says for how long it is down is waited for; else it is repeated, not waited for.
        (outcome(.unavailable, [.wait], .seconds(1)), true), (outcome(.unavailable, [.wait]), false),
        // A lockout has its own policy.
        (outcome(.accountLocked, [.wait], .seconds(1)), false),
    ]) func whatIsWaitedFor(outcome: Outcome, isItsMatter: Bool) {
        let situation = FailureContext(outcome: outcome, wasSent: true, attempts: 1)
        if case .backOff(let backoff) = RateLimitBackoff().decide(situation) {
            #expect(isItsMatter && backoff == RateLimitBackoff().backoff)
        } else {
            #expect(!isItsMatter)
        }
    }
}
