import HTTPRecovery
import Testing

@testable import AuthRecovery

@Suite struct RenewalRulesTests {
    private let now = Timestamp(secondsSinceEpoch: 10_000)

    @Test(
        arguments: [
            // left, lifetime, random, need
            (3600, 3600, 0.0, RenewalRules.Need.none), (61, 3600, 0.0, .none), (60, 3600, 0.0, .soon),
            (1, 3600, 0.0, .soon),
            (0, 3600, 0.0, .now), (-5, 3600, 0.0, .now), (7, 60, 0.0, .none), (6, 60, 0.0, .soon),
            (40, nil, 0.999, .none),
            (30, nil, 0.999, .soon), (60, nil, 0.0, .soon), (.min / 1000, nil, 0.0, .now),
            (.max / 1000, nil, 0.0, .none),
        ] as [(Int64, Int64?, Double, RenewalRules.Need)]
    )
    func credentialsAreRenewedShortlyBeforeTheyExpire(
        left: Int64,
        lifetime: Int64?,
        random: Double,
        need: RenewalRules.Need
    ) {
        let credentials = Credentials(accessToken: "a", expiresAt: now.advanced(by: .seconds(left)))
        let answer = RenewalRules.need(
            of: credentials,
            at: now,
            lifetime: lifetime.map { .seconds($0) },
            leeway: .seconds(60),
            random: random
        )
        #expect(answer == need)
    }

    @Test func aTokenWithoutAnExpiryServesAndAMissingOneIsNeeded() {
        func need(_ credentials: Credentials) -> RenewalRules.Need {
            RenewalRules.need(of: credentials, at: now, lifetime: nil, leeway: .seconds(60), random: 0)
        }
        #expect(need(Credentials(accessToken: "a")) == .none)
        #expect(need(Credentials(refreshToken: "r")) == .now)
        #expect(need(Credentials(accessToken: "")) == .now)
    }

    @Test func aTokenThatMayHaveBeenUsedIsPresentedWithinTheGraceAlone() {
        func left(_ elapsed: Int64, _ reuse: RefreshTokenGrant.Reuse) -> Duration? {
            RenewalRules.graceLeft(since: now, reuse: reuse, at: now.advanced(by: .seconds(elapsed)))
        }
        #expect(left(1_000_000, .reusable) == .longest)
        #expect(left(0, .undeclared) == .seconds(27), "the usual grace is assumed")
        #expect(left(60, .undeclared) == nil)
        #expect(left(0, .rotating(grace: .seconds(30))) == .seconds(27), "it has to arrive within the grace")
        #expect(left(26, .rotating(grace: .seconds(30))) == .seconds(1))
        #expect(left(-3, .rotating(grace: .seconds(30))) == .seconds(27), "a clock that is behind adds nothing")
        #expect(left(-4, .rotating(grace: .seconds(30))) == nil, "by one that is far behind nobody can tell")
        #expect(left(27, .rotating(grace: .seconds(30))) == nil)
        #expect(left(1_000_000, .rotating(grace: .seconds(30))) == nil)
        #expect(left(0, .rotating(grace: .zero)) == nil)
        #expect(left(0, .rotating(grace: .longest)) != nil)
    }

    @Test func aLostAnswerLeavesADoubt() {
        let rotating = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))
        for reuse in [RefreshTokenGrant.Reuse.undeclared, .reusable, rotating] {
            func doubt(_ certainty: TransportError.Certainty) -> Bool {
                let error = TransportError(.connectionLost, certainty, message: "")
                return RenewalRules.isInDoubt(after: .transport(error), reuse: reuse)
            }
            #expect(!doubt(.neverSent))
            #expect(!doubt(.notProcessed))
            #expect(doubt(.unknown))
            #expect(doubt(.answered), "the head of an answer came, and its token did not")
            #expect(RenewalRules.isInDoubt(after: Outcome(.timedOut, processed: .unknown), reuse: reuse))
            let refused = Outcome(.rateLimited, processed: .no, status: 429)
            #expect(!RenewalRules.isInDoubt(after: refused, reuse: reuse))
        }
    }

    @Test(arguments: [(500, true), (502, true), (503, true), (504, true), (200, true)])
    func anAnswerLeavesADoubtWhereTheServerRotatesAndItMayBeAnothers(status: Int, isInDoubt: Bool) {
        let outcome = Outcome(.unavailable, processed: .unknown, status: status)
        #expect(RenewalRules.isInDoubt(after: outcome, reuse: .rotating(grace: .seconds(30))) == isInDoubt)
        #expect(!RenewalRules.isInDoubt(after: outcome, reuse: .undeclared))
        #expect(!RenewalRules.isInDoubt(after: outcome, reuse: .reusable))
        // With Retry-After, or a code that says so, a 503 has done nothing.
        let refused = Outcome(.unavailable, processed: .no, status: status)
        #expect(!RenewalRules.isInDoubt(after: refused, reuse: .rotating(grace: .seconds(30))))
    }

    @Test func aServerThatWaitedInVainLeavesADoubt() {
        let outcome = Outcome(.unavailable, processed: .no, remedies: [.retry], status: 408)
        let rotating = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))
        #expect(RenewalRules.isInDoubt(after: outcome, reuse: rotating))
        // The client of the renewals does not repeat it, since it spends; so it is repeated where that is safe.
        for (reuse, isRepeated) in [(RefreshTokenGrant.Reuse.reusable, true), (rotating, true), (.undeclared, false)] {
            let delay = RenewalRules.delay(after: outcome, reuse: reuse, tries: 1, random: 0.5)
            #expect((delay != nil) == isRepeated)
        }
    }

    @Test func aRenewalIsRepeatedWhereThatIsSafe() {
        let unknown = Outcome(.unavailable, processed: .unknown, remedies: [.retry])
        var busy = Outcome(.rateLimited, processed: .no, remedies: [.wait])
        busy.retryAfter = .seconds(7)
        func delay(_ outcome: Outcome, _ reuse: RefreshTokenGrant.Reuse, tries: Int = 1) -> Duration? {
            RenewalRules.delay(after: outcome, reuse: reuse, tries: tries, random: 0.5)
        }
        #expect(delay(unknown, .undeclared) == nil)
        #expect(delay(unknown, .reusable) != nil)
        #expect(delay(unknown, .rotating(grace: .seconds(30))) != nil)
        #expect(delay(busy, .reusable) == nil, "what was refused is repeated by the client of the renewals")
        busy.processed = .unknown
        #expect(delay(busy, .reusable) == .seconds(7), "never earlier than the server says")
        #expect(delay(unknown, .reusable, tries: 3) == nil)
        #expect(delay(RotatingServer.invalidGrant, .reusable) == nil)
        #expect(delay(Outcome(.misconfigured, processed: .no, remedies: [.fixRequest]), .reusable) == nil)
    }

    @Test func thePauseGrowsAndIsBounded() {
        let pauses = (1...40).map { RenewalRules.cooldown(.milliseconds(250), failures: $0) }
        #expect(pauses.prefix(3) == [.milliseconds(250), .milliseconds(500), .seconds(1)])
        #expect(pauses.last == .seconds(10))
        #expect(RenewalRules.cooldown(.zero, failures: 3) == .zero)
    }
}
