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
        for _ in 1...2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(Bench.post, options: ada)
            }
            #expect(error?.reason == .accountLocked)
            #expect(error?.outcome.lockout == .indefinite)
            // How long it is remembered is no time that anybody has stated.
            #expect(error?.retryAfter == nil && error?.retryAt == nil)
        }
        #expect(bench.transport.received.count == 1)
        #expect(bench.clock.requestedDelays.isEmpty)
        // Nothing tells that somebody has unlocked it: after the hour, one attempt finds out.
        bench.clock.advance(by: .seconds(3599))
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(error?.outcome.lockout == .indefinite && error?.retryAt == nil)
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.client.send(Bench.post, options: ada).status == .ok)
    }

    /// Whoever comes to a lock that is remembered is told what the one was told who has met it.
    @Test(
        arguments: [nil, "60"],
        [[Outcome.Remedy.unlock, .changePassword, .contactAdmin], [.contactAdmin], [.wait]]
    )
    func aRememberedLockoutSaysWhatTheFirstSaid(seconds: String?, remedies: [Outcome.Remedy]) async throws {
        let locked = ScriptedTransport.Step.status(423, seconds.map { ["lockout": $0] } ?? [:])
        let bench = Bench([locked], classifier: LockoutClassifier(remedies: remedies)) { Recovery {} }
        var errors: [RecoveryError] = []
        for _ in 1...2 {
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.client.send(Bench.post, options: ada)
            }
            errors.append(try #require(error))
        }
        #expect(errors.map(\.remedies) == [remedies, remedies])
        #expect(errors[0].outcome.lockout == errors[1].outcome.lockout)
        #expect(errors[0].retryAt == errors[1].retryAt && (errors[1].retryAt == nil) == (seconds == nil))
        #expect(errors[1].outcome.processed == .no && errors[1].outcome.status == nil)
        #expect(bench.transport.received.count == 1)
    }

    /// Of a gate that somebody else has closed no remedies are known but those that every gate has.
    @Test(arguments: [(nil, Outcome.Remedy.contactAdmin), (Duration.seconds(60), .wait)])
    func aLockoutWithoutRemediesHasTheUsualOnes(time: Duration?, remedy: Outcome.Remedy) async throws {
        let bench = Bench([], classifier: LockoutClassifier()) { Recovery {} }
        let opensAt = time.map { bench.client.runtime.time.wallTime.advanced(by: $0) }
        let key = SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "api.example.com"),
            name: "ada"
        )
        await bench.client.runtime.state.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: opensAt))
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post, options: ada) }
        #expect(error?.remedies == [remedy])
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
