import HTTPRecoveryTesting
import Testing

@Suite struct ManualClockTests {
    @Test(.timeLimit(.minutes(30)))
    func whoeverWaitsForSleepersStopsWhenItIsCancelled() async {
        let clock = ManualClock()
        let waiting = Task { await clock.waitForSleepers(1) }
        let advancing = Task { await clock.advanceToNextDeadline() }
        waiting.cancel()
        advancing.cancel()
        await waiting.value
        await advancing.value
        // A cancelled one does not move the clock under the feet of whoever sleeps later.
        let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(1))) }
        await clock.waitForSleepers(1)
        await advancing.value
        #expect(clock.now.offset == .zero)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }
}
