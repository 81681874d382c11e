import HTTPRecovery
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
        let low = Backoff.exponential(base: .seconds(5), cap: .seconds(1), jitter: .none)
        #expect((0..<3).map { low.delay(retry: $0, random: 0.5) } == [.seconds(1), .seconds(1), .seconds(1)])
        #expect(Backoff.exponential(base: .seconds(-1)).base == .zero)
        #expect(Backoff.exponential(multiplier: .nan).multiplier == 1)
        #expect(Backoff.exponential(multiplier: 0.1).multiplier == 1)
        #expect(Backoff.constant(.seconds(3)).delay(retry: 50, random: 0.9) == .seconds(3))
        #expect(Backoff.exponential().delay(retry: -5, random: 0.5) == .milliseconds(50))
        #expect(Backoff.exponential().delay(retry: 5000, random: 1) == .seconds(20))
    }

    private static func seconds(_ backoff: Backoff, _ random: [Double], isThrottled: Bool = false) -> [Double] {
        var progress = Backoff.Progress()
        return random.map { random in
            defer { progress.step += 1 }
            let delay = backoff.delay(&progress, isThrottled: isThrottled, random: random)
            return (delay.inSeconds * 1e6).rounded() / 1e6
        }
    }

    @Test func delaysGrowAsTheyAreTold() {
        let half = [0.5, 0.5, 0.5, 0.5]
        #expect(Self.seconds(.linear(base: .seconds(2), cap: .seconds(7), jitter: .none), half) == [2, 4, 6, 7])
        #expect(Self.seconds(.constant(.seconds(3), jitter: .plusMinus(0.25)), [0, 0.5, 1]) == [2.25, 3, 3.75])
        #expect(Self.seconds(.custom([.seconds(1), .seconds(5)]), half) == [1, 5, 5, 5])
        #expect(Self.seconds(.custom([]), half) == [0, 0, 0, 0])
        #expect(Self.seconds(.custom([.seconds(-1), .seconds(9)], cap: .seconds(4)), [0, 0]) == [0, 4])
        let grpc = Backoff.exponential(base: .seconds(1), cap: .seconds(3), jitter: .scaled(from: 0.8, to: 1.2))
        #expect(Self.seconds(grpc, [0, 0.5, 1, 0]) == [0.8, 2, 3.6, 2.4])
    }

    @Test func theCapBoundsWhatTheJitterHasMadeIfItIsTold() {
        var backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(3), jitter: .full)
        #expect(Self.seconds(backoff, [0.5, 0.5, 0.5, 0.5]) == [0.5, 1, 1.5, 1.5])
        backoff.capsAfterJitter = true
        #expect(Self.seconds(backoff, [0.5, 0.5, 0.5, 0.5]) == [0.5, 1, 2, 3])
    }

    @Test func throttlesHaveABaseOfTheirOwn() {
        let backoff = Backoff.exponential(base: .milliseconds(50), throttledBase: .seconds(1), jitter: .none)
        #expect(Self.seconds(backoff, [0, 0], isThrottled: true) == [1, 2])
        #expect(Self.seconds(backoff, [0, 0]) == [0.05, 0.1])
    }

    @Test func decorrelatedDelaysDependOnTheOneBefore() {
        let backoff = Backoff.exponential(base: .seconds(1), cap: .seconds(20), jitter: .decorrelated)
        // U(1, 3), then U(1, 3 * 2), then U(1, 3 * 3.5), then the cap.
        #expect(Self.seconds(backoff, [0.5, 0.5, 0.5, 1, 1]) == [2, 3.5, 5.75, 17.25, 20])
    }

    @Test func decorrelatedDelaysOfTheSecondSortFollowTheirFormula() {
        let backoff = Backoff.exponential(base: .seconds(1), cap: .longest, jitter: .decorrelatedV2)
        let expected = [0.5, 0.25, 0.75].enumerated().reduce(into: (level: 0.0, delays: [Double]())) { sum, draw in
            let point = Double(draw.offset) + draw.element
            let level = exp2(point) * tanh(sqrt(4 * point))
            sum.delays.append((max(0, level - sum.level) / 1.4 * 1e6).rounded() / 1e6)
            sum.level = level
        }
        #expect(Self.seconds(backoff, [0.5, 0.25, 0.75]) == expected.delays)
    }

    @Test(
        arguments: [Backoff.Jitter.none, .full, .equal, .plusMinus(0.5), .scaled(from: 0.8, to: 1.2), .decorrelated]
            + [.decorrelatedV2, .plusMinus(.nan), .scaled(from: -.infinity, to: .infinity)],
        [Duration.zero, .milliseconds(1), .seconds(1), .longest]
    )
    func noDelayOverflows(jitter: Backoff.Jitter, base: Duration) {
        for capsAfterJitter in [false, true] {
            for growth in [Backoff.exponential(base: base, jitter: jitter), .linear(base: base, jitter: jitter)] {
                var backoff = growth
                backoff.capsAfterJitter = capsAfterJitter
                var progress = Backoff.Progress()
                for step in [0, 1, 62, 63, 64, 1022, 1023, 1024, 1025, 10_000, Int.max] {
                    progress.step = step
                    let delay = backoff.delay(&progress, random: 0.999)
                    #expect(delay >= .zero && delay <= .longest)
                }
            }
        }
    }
}
