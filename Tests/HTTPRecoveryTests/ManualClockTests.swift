import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite struct ManualClockTests {
    @Test(.timeLimit(.minutes(30)))
    func whoeverWaitsForSleepersStopsWhenItIsCancelled() async {
        let clock = ManualClock()
        let waiting = Task { await clock.waitForSleepers(1) }
        let stating = Task { await clock.waitForSleeper(of: .seconds(1)) }
        let advancing = Task { await clock.advanceToNextDeadline() }
        waiting.cancel()
        stating.cancel()
        advancing.cancel()
        await waiting.value
        await stating.value
        await advancing.value
        // A cancelled one does not move the clock under the feet of whoever sleeps later.
        let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        await clock.waitForSleepers(1)
        await advancing.value
        #expect(clock.now.offset == .zero)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    /// The one that is stated, and no other: a longer one with as much time left, a shorter one, a guard.
    @Test(.timeLimit(.minutes(30)))
    func aStatedWaitIsAwaited() async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let others = [
            Task { try await time.sleep(for: .seconds(7)) },
            Task { try await time.sleep(for: .seconds(3)) },
            Task { try await time.withTimeout(until: time.now.advanced(by: .seconds(7))) { try await hang() } },
        ]
        await clock.waitForSleepers(3)
        clock.advance(by: .seconds(2))
        let guarding = Task {
            try await time.withAbandonment(after: .seconds(5)) { try await hang() }
        }
        await clock.waitForSleeper(of: .seconds(5), purpose: .guard)
        let hasSeen = Locked(false)
        let watcher = Task {
            await clock.waitForSleeper(of: .seconds(5))
            hasSeen.withLock { $0 = true }
        }
        for _ in 0..<1000 { await Task.yield() }
        #expect(!hasSeen.withLock { $0 })
        let sleeper = Task { try await time.sleep(for: .seconds(5)) }
        await watcher.value
        clock.advance(by: .seconds(5))
        try await sleeper.value
        for other in others + [guarding] { other.cancel() }
    }

    @Test(.timeLimit(.minutes(30)))
    func aStatedWaitIsFoundToWithinTheClocksExactness() async throws {
        let clock = ManualClock()
        let sleeper = Task {
            let inexact = Duration.seconds(5) - Duration(secondsComponent: 0, attosecondsComponent: 3)
            try await clock.sleep(until: ManualClock.Instant(offset: inexact))
        }
        await clock.waitForSleeper(of: .seconds(5))
        sleeper.cancel()
    }
}

/// Never ends but by cancellation.
private func hang() async throws {
    let flight = Flight<Void>()
    try await flight.value
}
