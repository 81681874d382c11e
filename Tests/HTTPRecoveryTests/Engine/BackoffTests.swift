import HTTPRecovery
import Testing

@Suite struct BackoffTests {
    @Test func theDelayDoublesUpToTheCapBeforeJitter() {
        let backoff = Backoff.exponential(base: .milliseconds(100), cap: .seconds(1), jitter: .none)
        let delays = (0..<6).map { backoff.delay(retry: $0, random: 0.5) }
        #expect(delays == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
    }

    @Test(arguments: [(0.0, 0), (0.5, 500), (0.999, 999)])
    func fullJitterStaysSpreadOverTheWholeRange(random: Double, milliseconds: Int) {
        let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(1))
        #expect(abs(backoff.delay(retry: 9, random: random).inSeconds * 1000 - Double(milliseconds)) < 0.001)
    }

    @Test func equalJitterKeepsHalf() {
        let backoff = Backoff.exponential(base: .seconds(2), jitter: .equal)
        #expect(backoff.delay(retry: 0, random: 0) == .seconds(1))
        #expect(backoff.delay(retry: 0, random: 0.5) == .milliseconds(1500))
    }

    @Test func anOddConfigurationIsClamped() {
        #expect(Backoff.exponential(base: .seconds(5), cap: .seconds(1)).cap == .seconds(5))
        #expect(Backoff.exponential(base: .seconds(-1)).base == .zero)
        #expect(Backoff.exponential(multiplier: .nan).multiplier == 1)
        #expect(Backoff.exponential(multiplier: 0.1).multiplier == 1)
        #expect(Backoff.constant(.seconds(3)).delay(retry: 50, random: 0.9) == .seconds(3))
        #expect(Backoff.exponential().delay(retry: -5, random: 0.5) == .milliseconds(50))
        #expect(Backoff.exponential().delay(retry: 5000, random: 1) == .seconds(20))
    }
}
