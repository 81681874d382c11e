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

    private func instant(_ seconds: Double) -> TimeSource.Instant {
        TimeSource.Instant(sinceStart: .seconds(seconds))
    }

    private func delays(_ request: HTTPRequest, _ count: Int, at seconds: Double, _ pacing: ClerkPacing) -> [Double] {
        (0..<count).map { _ in
            pacing.takePlace(for: request, at: instant(seconds), within: .seconds(600)).delay.inSeconds
        }
    }

    @Test func signInsAreBegunAtTheirRate() {
        let pacing = ClerkPacing()
        #expect(delays(create, 12, at: 0, pacing) == [0, 0, 0, 0, 0, 10, 10, 10, 10, 10, 20, 20])
        #expect(delays(create, 1, at: 25, pacing) == [0])
    }

    @Test(arguments: [
        ("/v1/client/sign_ins/sia_1/attempt_first_factor", 3), ("/v1/client/sign_ins/sia_2/attempt_second_factor", 3),
        ("/v1/client/sign_ups", 5), ("/v1/client/sign_ups/sua_1/attempt_verification", 3),
        ("/v1/client/sign_ins/sia_1/prepare_first_factor", 100), ("/v1/client/sessions/sess_1/tokens", 100),
    ])
    func eachClassHasItsRate(path: String, count: Int) {
        var request = create
        request.path = path
        let waits = delays(request, count + 1, at: 0, ClerkPacing())
        #expect(waits.prefix(count).allSatisfy { $0 == 0 })
        #expect(waits.last == (count == 100 ? 0 : 10))
    }

    @Test func bothFactorsAndAllSignInsShareARate() {
        let pacing = ClerkPacing()
        var (first, second) = (create, create)
        first.path = "/v1/client/sign_ins/sia_1/attempt_first_factor"
        second.path = "/v1/client/sign_ins/sia_2/attempt_second_factor"
        #expect(delays(first, 2, at: 0, pacing) + delays(second, 2, at: 0, pacing) == [0, 0, 0, 10])
    }

    @Test func aPlaceBeyondTheLimitIsNotTakenAndOneCanBeGivenBack() {
        let pacing = ClerkPacing()
        _ = delays(create, 5, at: 0, pacing)
        #expect(pacing.takePlace(for: create, at: instant(0), within: .seconds(5)).delay == .seconds(10))
        #expect(delays(create, 5, at: 0, pacing) == [10, 10, 10, 10, 10])
        let place = pacing.takePlace(for: create, at: instant(0), within: .seconds(600))
        #expect(place.delay == .seconds(20))
        pacing.giveBack(place)
        #expect(delays(create, 1, at: 0, pacing) == [20])
    }

    @Test func aSixthSignInWaitsVisibly() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: ClerkPacing())
        )
        let person = Person()
        for _ in 1...6 { _ = try await bench.signIn("p", person) }
        #expect(bench.clock.now.offset == .seconds(10))
        #expect(person.waits == ["rate_limited 10.0"])
    }

    @Test func oneThatCannotWaitFailsAtOnceWithTheTime() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: ClerkPacing())
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
            configuration: ClerkConfiguration(pacing: ClerkPacing())
        )
        for _ in 1...5 { _ = try await bench.signIn() }
        let sixth = Task {
            try await bench.clerk.signIn(identifier: ClerkBench.identifier, password: "p", answering: Person())
        }
        await bench.clock.waitForSleepers(1)
        let key = Gate.Key(
            scope: .account,
            origin: Origin(scheme: "https", authority: "clerk.example.com"),
            name: "ada@example.com"
        )
        await bench.client.runtime.state.close(Gate(key: key, reason: .accountLocked, opensAt: nil))
        bench.clock.advance(by: .seconds(10))
        let error = await #expect(throws: RecoveryError.self) { try await sixth.value }
        #expect(error?.kind == .accountLocked)
        #expect(bench.transport.received.count == 5)
    }

    @Test(.timeLimit(.minutes(30)))
    func aCancelledWaitGivesItsPlaceBack() async throws {
        let bench = try ClerkBench(
            (1...6).map { .complete("sess_\($0)") },
            configuration: ClerkConfiguration(pacing: ClerkPacing())
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
