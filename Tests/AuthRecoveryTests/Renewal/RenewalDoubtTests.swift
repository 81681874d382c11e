import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import AuthRecovery

/// What becomes of a rotating refresh token when the answer to its use is lost.
@Suite struct RenewalDoubtTests {
    private let grace = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))

    @Test func withinTheGraceTheOldTokenIsPresentedAgain() async throws {
        let bench = RenewalBench([.lost], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        #expect(try await bench.sendSkipping() == .ok)
        #expect(bench.server.presented == ["refresh-1", "refresh-1"])
        #expect(bench.server.violations == 0)
        #expect(try await bench.credentials.renewalBeganAt == nil)
    }

    @Test func afterTheGraceItIsReportedAsWhatItIs() async throws {
        let bench = RenewalBench([.lost, .lost, .lost], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        let presented = bench.server.presented.count
        #expect(try await bench.credentials.renewalBeganAt != nil, "the doubt is written down")
        bench.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.reason == .renewalInDoubt)
        #expect(error?.kind == .reauthenticationRequired)
        #expect(bench.server.presented.count == presented, "it is not presented again")
        #expect(bench.server.violations == 0)
        #expect(try await bench.credentials.refreshToken == "refresh-1", "nothing is cleared on doubt")
    }

    @Test func aProcessThatFindsADoubtHeedsIt() async throws {
        // Another process died between the answer and the store.
        let clock = ManualClock()
        var credentials = RotatingServer.first
        credentials.renewalBeganAt = clock.timeSource().wallTime.advanced(by: .seconds(-10))
        let within = RenewalBench(reuse: grace, grace: .seconds(30), credentials: credentials, clock: clock)
        within.server.expireAccess()
        #expect(try await within.sendSkipping() == .ok)

        credentials.renewalBeganAt = clock.timeSource().wallTime.advanced(by: .seconds(-100))
        let after = RenewalBench(reuse: grace, grace: .seconds(30), credentials: credentials, clock: clock)
        after.server.expireAccess()
        let error = await #expect(throws: RecoveryError.self) { try await after.sendSkipping() }
        #expect(error?.reason == .renewalInDoubt)
        #expect(after.server.presented.isEmpty)
    }

    @Test func whatWaitsIsNotSentAfterTheGrace() async throws {
        let clock = ManualClock()
        var credentials = RotatingServer.first
        credentials.renewalBeganAt = clock.timeSource().wallTime.advanced(by: .seconds(-20))
        // The renewal waits for a limit before it sends anything, longer than the grace lasts.
        let renewer = WaitingRenewer(time: clock.timeSource(), delay: .seconds(60))
        let store = InMemoryTokenStore(credentials)
        let tokens = TokenManager(store: store, renewer: renewer, options: RenewalBench.patient)
        let runtime = Runtime(time: clock.timeSource())
        let renewal = Task { try await tokens.renew(CallContext(runtime: runtime)) }
        // The renewal's own wait, its timeout, and the heartbeat of the lease.
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(7))
        // Then the pause before it is tried again, which finds the grace over.
        let skipper = Task {
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        defer { skipper.cancel() }
        let error = await #expect(throws: RecoveryError.self) { try await renewal.value }
        #expect(error?.reason == .renewalInDoubt)
        clock.advance(by: .seconds(100))
        #expect(!renewer.hasSent)
    }

    @Test func aNewSignInEndsTheDoubt() async throws {
        let clock = ManualClock()
        var credentials = RotatingServer.first
        credentials.renewalBeganAt = clock.timeSource().wallTime.advanced(by: .seconds(-100))
        credentials.remove(.refresh)
        #expect(credentials.renewalBeganAt == nil)
    }

    @Test func aRefusalThatSaysThatNothingWasDoneLeavesNoDoubt() async throws {
        // As a 503 with Retry-After.
        let failure = Outcome(.unavailable, processed: .no, remedies: [], status: 503)
        let bench = RenewalBench([.refuse(failure)], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(try await bench.credentials.renewalBeganAt == nil)
        bench.clock.advance(by: .seconds(3600))
        #expect(try await bench.sendSkipping() == .ok, "an outage of an hour signs nobody out")
    }

    @Test func aLaterAnswerDoesNotEndTheDoubtOfAnEarlierOne() async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: [], status: 503)
        let bench = RenewalBench([.lost, .refuse(failure)], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(bench.server.presented.count == 2)
        #expect(try await bench.credentials.renewalBeganAt != nil)
        bench.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.reason == .renewalInDoubt)
        #expect(bench.server.violations == 0)
    }

    @Test func whatNeverArrivedLeavesNoDoubt() async throws {
        let never = Outcome.transport(TransportError(.cannotConnect, .neverSent, message: ""))
        let bench = RenewalBench([.refuse(never), .refuse(never), .refuse(never)], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(try await bench.credentials.renewalBeganAt == nil)
    }

    @Test func withoutAStatedGraceALaterCallMayTryAgainForHalfAMinute() async throws {
        let bench = RenewalBench([.neverProcessed])
        bench.server.expireAccess()
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.kind == .transport)
        #expect(bench.server.presented.count == 1, "the same call does not")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.sendSkipping() == .ok)

        let late = RenewalBench([.lost])
        late.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await late.sendSkipping() }
        late.clock.advance(by: .seconds(31))
        let next = await #expect(throws: RecoveryError.self) { try await late.sendSkipping() }
        #expect(next?.reason == .renewalInDoubt)
        #expect(late.server.presented == ["refresh-1"])
        #expect(late.server.violations == 0)
    }

    @Test func withoutAStatedGraceTheSameCallDoesNotPresentItTwiceEither() async throws {
        // The renewal before the request is lost; the refusal of the old token asks for another one.
        let clock = ManualClock()
        var credentials = RotatingServer.first
        credentials.expiresAt = clock.timeSource().wallTime
        let bench = RenewalBench([.lost], credentials: credentials, clock: clock)
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(bench.server.presented == ["refresh-1"])
    }

    @Test func whatAnotherMayHaveAnsweredLeavesADoubtWhereTheServerRotates() async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: [], status: 504)
        let bench = RenewalBench([.refuse(failure)], reuse: grace, grace: .seconds(30))
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(try await bench.credentials.renewalBeganAt != nil)
        #expect(try await bench.sendSkipping() == .ok, "within the grace")
    }

    /// A proxy that gives up says 503, whatever the server behind it has done.
    @Test(arguments: [[], [Outcome.Remedy.retry]])
    func a503AloneDoesNotSayThatNothingWasDone(remedies: [Outcome.Remedy]) async throws {
        let failure = Outcome(.unavailable, processed: .unknown, remedies: remedies, status: 503)
        let bench = RenewalBench(
            Array(repeating: .supplanted(failure), count: 3),
            reuse: grace,
            grace: .seconds(30)
        )
        bench.server.expireAccess()
        await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        let presented = bench.server.presented.count
        #expect(presented == (remedies.isEmpty ? 1 : 3), "within the grace it is repeated as far as it may be")
        #expect(try await bench.credentials.renewalBeganAt != nil, "the doubt is written down")
        bench.clock.advance(by: .seconds(60))
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkipping() }
        #expect(error?.reason == .renewalInDoubt)
        #expect(bench.server.presented.count == presented && bench.server.violations == 0)

        let steady = RenewalBench([.supplanted(failure)], reuse: .reusable, rotates: false)
        steady.server.expireAccess()
        if remedies.isEmpty { await #expect(throws: RecoveryError.self) { try await steady.sendSkipping() } }
        steady.clock.advance(by: .seconds(3600))
        #expect(try await steady.sendSkipping() == .ok, "what is not rotated recovers")
    }

    /// Who was held up until somebody else took over cannot say that the token was not used.
    ///
    /// The other one may be one that has lost its lease, and does not know it yet.
    @Test(arguments: [true, false])
    func whoeverPresentsItMeanwhileLeavesTheDoubt(hasLease: Bool) async throws {
        let (clock, later) = (ManualClock(), ManualClock())
        let store = InMemoryTokenStore(RotatingServer.first)
        // For the other one, time has gone on.
        later.advance(by: .seconds(6))
        let renewer = HeldUpRenewer {
            let server = RotatingServer(
                [.lost, .lost, .lost],
                reuse: .rotating(grace: .seconds(30)),
                grace: .seconds(30),
                time: later.timeSource()
            )
            let other = TokenManager(store: hasLease ? store : UnfencedTokenStore(store), renewer: server)
            let call = CallContext(runtime: Runtime(time: later.timeSource()))
            await #expect(throws: RecoveryError.self) {
                try await later.skippingWaits(upTo: .seconds(2)) { try await other.renew(call) }
            }
            #expect(server.presented.contains("refresh-1"))
        }
        let tokens = TokenManager(store: store, renewer: renewer)
        let runtime = Runtime(time: clock.timeSource())
        let error = await #expect(throws: RecoveryError.self) {
            try await tokens.renew(CallContext(runtime: runtime))
        }
        #expect(error?.kind == .transport)
        #expect(await store.read().credentials.renewalBeganAt != nil, "the doubt stays")
    }

    /// The wall clock was set between the starts of two processes of one machine.
    @Test(arguments: [60, -60])
    func processesOfOneMachineMeasureTheGraceAlike(seconds: Int) async throws {
        let clock = ManualClock()
        let reading: @Sendable () -> BootClock.Value = {
            BootClock.Value(boot: "run", microseconds: clock.now.offset.components.seconds * 1_000_000)
        }
        let start = clock.timeSource().wallTime
        func time(_ step: Int) -> TimeSource {
            TimeSource(
                clock.timeSource(wallTime: start.advanced(by: .seconds(step))),
                bootClock: BootClock(reading)
            )
        }
        let mine = time(0)
        var credentials = RotatingServer.first
        credentials.markRenewal(at: time(seconds).moment)
        // The stored form keeps it.
        credentials = try Credentials(json: JSONValue(parsing: credentials.json.description))
        #expect(credentials.renewalBegan(by: mine.moment) == mine.wallTime)
        clock.advance(by: .seconds(40))
        let began = try #require(credentials.renewalBegan(by: mine.moment))
        #expect(mine.wallTime.elapsed(since: began) == .seconds(40))
        #expect(RenewalRules.graceLeft(since: began, reuse: grace, at: mine.wallTime) == nil)
        // In another run of the machine there is only the wall clock.
        let other = TimeSource(mine, bootClock: BootClock { BootClock.Value(boot: "other", microseconds: 1) })
        #expect(credentials.renewalBegan(by: other.moment) == start.advanced(by: .seconds(seconds)))
        credentials.renewalBeganAt = nil
        #expect(credentials.renewalBegan(by: mine.moment) == nil && credentials.json["renewal_began_boot"] == nil)
    }

    @Test func aServerThatDoesNotRotateIsAskedAgain() async throws {
        let bench = RenewalBench([.lost, .lost], reuse: .reusable, rotates: false)
        bench.server.expireAccess()
        #expect(try await bench.sendSkipping() == .ok)
        #expect(bench.server.presented == ["refresh-1", "refresh-1", "refresh-1"])
        #expect(try await bench.credentials.refreshToken == "refresh-1")
    }
}

/// A renewer that is held back by a limit before it sends anything.
private final class WaitingRenewer: TokenRenewer {
    let reuse = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))
    private let time: TimeSource
    private let delay: Duration
    private let sent = Locked(false)

    init(time: TimeSource, delay: Duration) {
        self.time = time
        self.delay = delay
    }

    var hasSent: Bool { sent.withLock { $0 } }

    func canRenew(_ credentials: Credentials) -> Bool { true }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        try await time.sleep(for: delay)
        sent.withLock { $0 = true }
        return credentials
    }
}

/// A renewer that never sends, because something else comes first.
private struct HeldUpRenewer: TokenRenewer {
    let reuse = RefreshTokenGrant.Reuse.rotating(grace: .seconds(30))
    let first: @Sendable () async throws -> Void

    func canRenew(_ credentials: Credentials) -> Bool { true }

    func renew(_ credentials: Credentials, in operation: RecoveryOperation) async throws -> Credentials {
        try await first()
        throw TransportError(.cannotConnect, .neverSent, message: "")
    }
}
