import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P2NoAttemptWhileLocked {
    private let ada = RequestOptions(account: "ada")

    @Test func othersOfTheAccountWaitForTheLockoutThatOneHasMet() async throws {
        let bench = Bench([.status(423, ["lockout": "60"])], classifier: LockoutClassifier())
        async let first = bench.client.send(Bench.post, options: ada)
        await bench.clock.waitForSleepers(1)
        async let second = bench.client.send(Bench.post, options: ada)
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .milliseconds(59_999))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(10))
        #expect(try await first.status == .ok)
        #expect(try await second.status == .ok)
        #expect(bench.transport.received.count == 3)
    }

    @Test func whatMeetsASecondLockoutIsNotSentAThirdTime() async throws {
        let locked = ScriptedTransport.Step.status(423, ["lockout": "60"])
        let bench = Bench([locked, locked, locked], classifier: LockoutClassifier())
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(Bench.post, options: ada)
        }
        #expect(error?.reason == .accountLocked && error?.retryAfter == .seconds(60))
        #expect(bench.transport.received.count == 2)
    }

    @Test func withoutAPolicyTheyFailAtOnceWithTheTimeLeft() async throws {
        let bench = Bench([.status(423, ["lockout": "60"])], classifier: LockoutClassifier()) { Recovery {} }
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        bench.clock.advance(by: .seconds(20))
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(error?.kind == .accountLocked)
        #expect(error?.reason == .accountLocked)
        #expect(error?.retryAfter == .seconds(40))
        #expect(error?.outcome.lockout == .remaining(.seconds(40)))
        #expect(bench.transport.received.count == 1)
    }

    @Test func aLockoutWithoutAnEndIsNotWaitedFor() async throws {
        let bench = Bench([.status(423)], classifier: LockoutClassifier())
        for remembered in [nil, SharedState.Gate.indefiniteLifetime] {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(Bench.post, options: ada)
            }
            #expect(error?.reason == .accountLocked)
            #expect(error?.outcome.lockout == .indefinite)
            #expect(error?.retryAfter == remembered)
        }
        #expect(bench.transport.received.count == 1)
        #expect(bench.clock.requestedDelays.isEmpty)
        // Nothing tells that somebody has unlocked it: after the hour, one attempt finds out.
        bench.clock.advance(by: .seconds(3599))
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(error?.retryAfter == .seconds(1) && error?.retryAt != nil)
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.client.send(Bench.post, options: ada).status == .ok)
    }

    @Test func aRememberedLockoutHasNoRemedyInWaitingWhereItHasNoEnd() async throws {
        for (seconds, remedies) in [(nil, [Outcome.Remedy.contactAdmin]), ("60", [.wait])]
            as [(String?, [Outcome.Remedy])]
        {
            let bench = Bench([.status(423, seconds.map { ["lockout": $0] } ?? [:])], classifier: LockoutClassifier()) {
                Recovery {}
            }
            await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(Bench.post, options: ada)
            }
            #expect(error?.remedies == remedies)
            #expect(error?.outcome.processed == .no && error?.outcome.status == nil)
            #expect(bench.transport.received.count == 1)
        }
    }

    @Test func anotherAccountIsNotHeld() async throws {
        let bench = Bench([.status(423)], classifier: LockoutClassifier())
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(try await bench.client.send(Bench.post, options: RequestOptions(account: "grace")).status == .ok)
    }

    @Test func aLockoutThatIsLongerThanAllowedFailsAtOnce() async throws {
        let bench = Bench([.status(423, ["lockout": "3600"])], classifier: LockoutClassifier())
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter == .seconds(3600))
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test(arguments: ["0", "-5"])
    func aLockoutThatShouldBeOverIsNotHammered(seconds: String) async throws {
        let bench = Bench([.status(423, ["lockout": seconds])], classifier: LockoutClassifier())
        #expect(try await bench.sendSkippingWaits(Bench.post, options: ada).status == .ok)
        #expect(bench.clock.requestedDelays == [.seconds(1)])
    }
}
