import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Lockouts and rate limits, on the manual clock.
@Suite struct ClerkLimitTests {
    private static let create = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.email)

    private func locked(_ meta: String) -> ScriptedTransport.Step {
        .error("user_locked", status: 403, meta: meta)
    }

    @Test(arguments: [
        (#"{"lockout_expires_in_seconds":60}"#, 60), (#"{"lockout_expires_in_seconds":"60"}"#, 60),
        (#"{"duration_in_seconds":60}"#, 60), (#"{"lockout_expires_in_seconds":60.0}"#, 60),
        (#"{"lockout_expires_in_seconds":1}"#, 1), (#"{"lockout_expires_in_seconds":119}"#, 119),
    ])
    func aLockoutIsWaitedForByTheTimeThatIsLeft(meta: String, seconds: Int) async throws {
        let bench = try ClerkBench([locked(meta), .complete()])
        let person = Person()
        let task = Task { try await bench.clerk.signIn(identifier: "ada", password: "p", answering: person) }
        await bench.clock.waitForSleepers(1)
        let asked = try #require(bench.clock.requestedDelays.first)
        // Those who wait together leave spread out: the spread only adds, a tenth of the wait and at most a second.
        #expect(asked >= .seconds(seconds) && asked <= .seconds(seconds + 1))
        #expect(await bench.clerk.lockouts.lockout(of: "ADA") == .remaining(.seconds(seconds)))
        bench.clock.advance(by: .seconds(seconds) - .nanoseconds(1))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(2))
        #expect(try await task.value.id == "sess_1")
        #expect(bench.transport.received.count == 2)
        #expect(person.waits.count == 1)
        #expect(person.waits.first?.hasPrefix("account_locked") == true)
        let waits = bench.events.events.compactMap { event in
            if case .wait(let reason, let duration, let until) = event.kind { (reason, duration, until) } else { nil }
        }
        #expect(waits.map(\.0) == [.accountLocked])
        #expect(waits.first?.1 == asked)
    }

    @Test func aLockoutThatIsLongerThanAllowedFailsWithItsTime() async throws {
        let bench = try ClerkBench([locked(#"{"lockout_expires_in_seconds":3600}"#)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .accountLocked)
        #expect(error?.reason == .waitExceedsLimit)
        #expect(error?.retryAfter == .seconds(3600))
        #expect(error?.retryAt == Timestamp(secondsSinceEpoch: 1_893_456_000 + 3600))
        #expect(error?.remedies == [.wait])
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test func aLockoutCanBeFailedAtOnce() async throws {
        let bench = try ClerkBench([locked(#"{"lockout_expires_in_seconds":10}"#)]) {
            Recovery {
                RateLimitBackoff()
                TransientRetry()
            }
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.reason == .accountLocked)
        #expect(error?.retryAfter == .seconds(10))
    }

    @Test(arguments: ["{}", #"{"lockout_expires_in_seconds":null}"#, #"{"lockout_expires_in_seconds":"soon"}"#])
    func aLockoutWithoutATimeHasNoEnd(meta: String) async throws {
        let bench = try ClerkBench([locked(meta)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .accountLocked)
        #expect(error?.outcome.lockout == .indefinite)
        #expect(error?.retryAfter == nil)
        #expect(bench.clock.requestedDelays.isEmpty)
    }

    @Test(arguments: ["-5", "1e300", "1e400", "99999999999999999999999999", "\"1e30\"", "0"])
    func noNumberTraps(number: String) async throws {
        let bench = try ClerkBench([locked(#"{"lockout_expires_in_seconds":\#(number)}"#), .complete()])
        _ = try? await bench.signIn()
        #expect(bench.transport.received.count <= 2)
    }

    @Test(arguments: 0..<3)
    func aRateLimitIsWaitedForAtEachStep(limited: Int) async throws {
        var steps: [ScriptedTransport.Step] = [Self.create, Self.create, .complete()]
        steps.insert(.error("too_many_requests", status: 429, ["retry-after": "7"]), at: limited)
        let bench = try ClerkBench(steps)
        let person = Person([.emailCode: "424242"])
        _ = try await bench.signIn(nil, person)
        #expect(bench.transport.received.count == 4)
        #expect(bench.clock.requestedDelays.count == 1)
        let delay = try #require(bench.clock.requestedDelays.first)
        #expect(delay >= .seconds(7) && delay < .seconds(8))
        #expect(person.keys == [.emailCode])
        #expect(person.waits == ["rate_limited \(delay.inSeconds)"])
    }

    @Test func aRateLimitHoldsForItsClassOfEndpoints() async throws {
        let bench = try ClerkBench([.error("too_many_requests", status: 429, ["retry-after": "60"])])
        let task = Task { try await bench.clerk.signIn(identifier: "a", password: "p", answering: Person()) }
        await bench.clock.waitForSleepers(1)
        bench.transport.append([.client([])])
        _ = try await bench.clerk.currentClient()
        #expect(bench.sent.last == "GET /client", "another endpoint is not held")
        let other = Task { try await bench.clerk.signIn(identifier: "b", password: "p", answering: Person()) }
        await bench.clock.waitForSleepers(2)
        #expect(bench.transport.received.count == 2, "but another's sign-in is")
        task.cancel()
        other.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await #expect(throws: CancellationError.self) { try await other.value }
    }

    @Test func aResendThatComesTooSoonWaitsHalfAMinute() async throws {
        let bench = try ClerkBench([
            Self.create, Self.create, .error("verification_code_too_many_requests", status: 429), Self.create,
            .complete(),
        ])
        _ = try await bench.signIn(nil, Person([.emailCode: [.resend, .text("424242")]]))
        #expect((bench.clock.requestedDelays.first ?? .zero) >= .seconds(30))
    }

    @Test func waitsAreShownInOrderAndNoLongerThanTheyLast() async throws {
        let bench = try ClerkBench([
            .error("too_many_requests", status: 429, ["retry-after": "3"]),
            locked(#"{"lockout_expires_in_seconds":5}"#), .complete(),
        ])
        let countdown = Countdown()
        let session = try await bench.skippingWaits {
            try await bench.clerk.signIn(identifier: "ada", password: "p", answering: countdown)
        }
        #expect(session.id == "sess_1")
        #expect(countdown.log == ["begin rate_limited", "end", "begin account_locked", "end"])
    }
}

/// Shows a wait until it is told to stop.
private final class Countdown: ChallengeResponder {
    private let person = Log()

    var log: [String] { person.words }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer { throw Challenge.NoAnswer(challenge.key) }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        person.add("begin \(reason.rawValue)")
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        withExtendedLifetime(continuation) {}
        person.add("end")
    }
}
