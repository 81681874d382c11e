import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Keeping within the published rates.
@Suite struct ClerkPacingTests {
    private let create = HTTPRequest(
        method: .post,
        scheme: "https",
        authority: "clerk.example.com",
        path: "/v1/client/sign_ins?_is_native=true"
    )

    /// The present of a call, and an attempt of it.
    private func admit(
        _ request: HTTPRequest,
        at seconds: Double,
        within limit: Duration = .seconds(600),
        _ pacing: Recovery.PublishedLimits
    ) async throws -> (attempt: PlannedAttempt, context: CallContext, delay: Duration, permit: PlannedAttempt.Permit?) {
        let clock = ManualClock()
        let time = clock.timeSource()
        clock.advance(by: .seconds(seconds))
        let context = CallContext(runtime: Runtime(time: time))
        let attempt = PlannedAttempt(request, longestWait: limit)
        switch await pacing.admit(attempt, context: context) {
        case .go(let permit): return (attempt, context, .zero, permit)
        case .wait(let delay, _, let permit): return (attempt, context, delay, permit)
        default: throw NoPlace()
        }
    }

    private struct NoPlace: Error {}

    /// A place whose time has passed while a gate was closed is none: at its opening the rate holds.
    @Test func whoHasWaitedForAGateTakesAPlaceAnew() async throws {
        let clock = ManualClock()
        let times = Locked<[Double]>([])
        let note = ScriptedTransport.Step.run { _ in
            times.withLock { $0.append(clock.now.offset.inSeconds) }
            return .scripted(200)
        }
        let transport = ScriptedTransport([.status(429, ["retry-after": "60"])], then: note)
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: clock.timeSource())) {
            Recovery(admissions: [Recovery.PublishedLimits.clerk()])
        }
        try await clock.skippingWaits {
            try await withThrowingTaskGroup { group in
                group.addTask { _ = try await client.send(create) }
                while transport.received.isEmpty { await Task.yield() }
                for _ in 0..<19 { group.addTask { _ = try await client.send(create) } }
                try await group.waitForAll()
            }
        }
        let sent = times.withLock { $0.sorted() }
        #expect(sent.count == 20)
        let most = sent.map { start in sent.count { $0 >= start && $0 < start + 9 } }.max() ?? 0
        #expect(most <= 5, "\(sent)")
    }

    private func delays(
        _ request: HTTPRequest,
        _ count: Int,
        at seconds: Double,
        _ pacing: Recovery.PublishedLimits
    ) async throws -> [Double] {
        var delays: [Double] = []
        for _ in 0..<count { delays.append(try await admit(request, at: seconds, pacing).delay.inSeconds) }
        return delays
    }

    @Test func signInsAreBegunAtTheirRate() async throws {
        let pacing = Recovery.PublishedLimits.clerk()
        #expect(try await delays(create, 12, at: 0, pacing) == [0, 0, 0, 0, 0, 10, 10, 10, 10, 10, 20, 20])
        #expect(try await delays(create, 1, at: 25, pacing) == [0])
    }

    @Test(arguments: [
        ("/v1/client/sign_ins/sia_1/attempt_first_factor", 3), ("/v1/client/sign_ins/sia_2/attempt_second_factor", 3),
        ("/v1/client/sign_ups", 5), ("/v1/client/sign_ups/sua_1/attempt_verification", 3),
        ("/v1/client/sign_ins/sia_1/prepare_first_factor", 100), ("/v1/client/sessions/sess_1/tokens", 100),
    ])
    func eachClassHasItsRate(path: String, count: Int) async throws {
        var request = create
        request.path = path
        let waits = try await delays(request, count + 1, at: 0, Recovery.PublishedLimits.clerk())
        #expect(waits.prefix(count).allSatisfy { $0 == 0 })
        #expect(waits.last == (count == 100 ? 0 : 10))
    }

    @Test func bothFactorsAndAllSignInsShareARate() async throws {
        let pacing = Recovery.PublishedLimits.clerk()
        var (first, second) = (create, create)
        first.path = "/v1/client/sign_ins/sia_1/attempt_first_factor"
        second.path = "/v1/client/sign_ins/sia_2/attempt_second_factor"
        #expect(try await delays(first, 2, at: 0, pacing) + delays(second, 2, at: 0, pacing) == [0, 0, 0, 10])
    }

    @Test func aPlaceBeyondTheLimitIsNotTakenAndOneCanBeGivenBack() async throws {
        let pacing = Recovery.PublishedLimits.clerk()
        _ = try await delays(create, 5, at: 0, pacing)
        let refused = try await admit(create, at: 0, within: .seconds(5), pacing)
        #expect(refused.delay == .seconds(10) && refused.permit == nil)
        #expect(try await delays(create, 5, at: 0, pacing) == [10, 10, 10, 10, 10])
        let taken = try await admit(create, at: 0, pacing)
        #expect(taken.delay == .seconds(20))
        let permit = try #require(taken.permit)
        _ = pacing.conclude(taken.attempt, .notSent, permit: permit, context: taken.context)
        #expect(try await delays(create, 1, at: 0, pacing) == [20])
    }

    @Test func whatIsStillToWaitTakesNoPlace() async throws {
        let pacing = Recovery.PublishedLimits.clerk()
        let context = CallContext(runtime: Runtime(time: ManualClock().timeSource()))
        for _ in 1...20 { _ = await pacing.admit(PlannedAttempt(create, isDue: false), context: context) }
        #expect(try await delays(create, 5, at: 0, pacing) == [0, 0, 0, 0, 0])
    }

    @Test func aSixthSignInWaitsVisibly() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: Recovery.PublishedLimits.clerk())
        )
        let person = Person()
        for _ in 1...6 { _ = try await bench.signIn("p", person) }
        #expect(bench.clock.now.offset == .seconds(10))
        #expect(person.waits == ["rate_limited 10.0"])
    }

    @Test func oneThatCannotWaitFailsAtOnceWithTheTime() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: Recovery.PublishedLimits.clerk())
        ) {
            Deadline(.seconds(5))
            Recovery()
        }
        for _ in 1...5 { _ = try await bench.signIn() }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .rateLimited && error?.reason == .deadlineWouldPass)
        #expect(error?.retryAfter == .seconds(10))
        #expect(bench.transport.received.count == 5)
    }

    @Test(.timeLimit(.minutes(30)))
    func theServersWordHoldsBehindTheWait() async throws {
        // While the sixth waits for its place, somebody else finds the account locked: it does not go out.
        let bench = try ClerkBench(
            (1...5).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: Recovery.PublishedLimits.clerk())
        )
        for _ in 1...5 { _ = try await bench.signIn() }
        let sixth = Task {
            try await bench.clerk.signIn(identifier: ClerkBench.identifier, password: "p", answering: Person())
        }
        await bench.clock.waitForSleepers(1)
        let key = SharedState.Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "clerk.example.com"),
            name: "ada@example.com"
        )
        await bench.client.runtime.state.close(SharedState.Gate(key: key, reason: .accountLocked, opensAt: nil))
        bench.clock.advance(by: .seconds(10))
        let error = await #expect(throws: RecoveryError.self) { try await sixth.value }
        #expect(error?.kind == .accountLocked)
        #expect(bench.transport.received.count == 5)
    }

    @Test(.timeLimit(.minutes(30)))
    func aCancelledWaitGivesItsPlaceBack() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: Recovery.PublishedLimits.clerk())
        )
        for _ in 1...5 { _ = try await bench.signIn() }
        for _ in 1...20 {
            let waiting = Task { try await bench.clerk.signIn(identifier: "a", password: "p", answering: Person()) }
            await bench.clock.waitForSleepers(1)
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        _ = try await bench.signIn()
        #expect(bench.clock.now.offset == .seconds(10))
    }
}
