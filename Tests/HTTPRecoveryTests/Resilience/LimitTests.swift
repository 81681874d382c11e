import HTTPRecoveryTesting
import Testing

@testable import HTTPRecovery

/// The values behind the limits, by tables.
@Suite struct LimitTests {
    private func enter(_ line: inout LimitLine, _ priority: Int = 0, queue: Int = 100) -> String {
        switch line.enter(priority: priority, queue: queue, turn: PlannedAttempt.Turn()) {
        case .go(let flights): "go \(flights)"
        case .line(let number): "line \(number)"
        case .refuse: "refuse"
        }
    }

    @Test func beyondTheLimitIsALineAndBeyondThatNothing() {
        var line = LimitLine(.fixed(2))
        #expect((0..<5).map { _ in enter(&line, queue: 2) } == ["go 1", "go 2", "line 1", "line 2", "refuse"])
        #expect(line.leave().count == 1)
        #expect(line.waiting == 1 && line.flights == 2)
        // The second leaves the line before its turn; the first, whose turn has come, ends.
        #expect(line.leave(2).flights == nil)
        #expect(line.leave(1).flights == 2)
        #expect(line.waiting == 0 && line.flights == 1)
        #expect(line.leave(1).flights == nil, "nobody gives a place back twice")
        #expect(line.flights == 1)
    }

    @Test func theMostUrgentGoesFirstAndThenWhoCameFirst() {
        var line = LimitLine(.fixed(1))
        for priority in [0, 0, 5, -1, 5, 0] { _ = enter(&line, priority) }
        var order: [UInt64] = []
        for _ in 0..<5 {
            _ = line.leave()
            for number in UInt64(1)...5 where !order.contains(number) {
                var copy = line
                if copy.leave(number).flights != nil { order.append(number) }
            }
        }
        #expect(order == [2, 4, 1, 5, 3])
    }

    @Test func nobodyOvertakesTheLine() {
        var line = LimitLine(.fixed(1))
        _ = enter(&line)
        _ = enter(&line)
        _ = line.change(.fixed(1))
        #expect(enter(&line) == "line 2")
        #expect(line.change(.fixed(3)).count == 2)
        #expect(line.flights == 3)
    }

    private static let fast = Duration.milliseconds(10)

    @Test func additiveIncreaseMultiplicativeDecrease() {
        var limit = LearnedLimit(.aimd(initial: 20, min: 10, max: 23))
        func learn(_ flights: Int, _ isDropped: Bool = false, took elapsed: Duration = Self.fast) -> Int {
            limit.learn(elapsed: elapsed, flights: flights, isDropped: isDropped)
            return limit.limit
        }
        #expect([learn(9), learn(10), learn(20), learn(20), learn(20)] == [20, 21, 22, 23, 23])
        #expect([learn(1, true), learn(1, took: .seconds(5)), learn(1, took: .seconds(6))] == [20, 20, 18])
        for _ in 0..<20 { _ = learn(1, true) }
        #expect(limit.limit == 10)
    }

    @Test func aGradientGrowsWhileTimesAreSteadyAndFallsWhenTheyGrow() {
        var limit = LearnedLimit(.gradient2(initial: 20, min: 5, max: 200))
        limit.learn(elapsed: Self.fast, flights: 5, isDropped: false)
        #expect(limit.limit == 20, "who does not use the limit does not learn about it")
        limit.learn(elapsed: Self.fast, flights: 20, isDropped: false)
        // 0.8 * 20 + 0.2 * (20 * 1 + 4)
        #expect(limit.limit == 20)
        limit.learn(elapsed: Self.fast, flights: 20, isDropped: false)
        #expect(limit.limit == 21)
        for _ in 0..<200 { limit.learn(elapsed: Self.fast, flights: 200, isDropped: false) }
        let high = limit.limit
        #expect(high > 100)
        for _ in 0..<50 { limit.learn(elapsed: .milliseconds(100), flights: high, isDropped: false) }
        #expect(limit.limit < high / 2)
    }

    @Test func oddLimitsAreBoundedAndSaidToBeOdd() {
        let odd: [Recovery.ConcurrencyLimit.Algorithm] = [
            .fixed(0), .aimd(initial: .max, min: .min, max: 0), .aimd(backoffRatio: .nan), .aimd(timeout: .zero),
            .gradient2(initial: -1, min: -5, max: -9), .gradient2(initial: 5, min: 20, max: 200),
        ]
        for algorithm in odd {
            #expect(algorithm.problem != nil, "\(algorithm)")
            var limit = LearnedLimit(algorithm)
            for elapsed in [Duration.zero, .longest, .zero - .longest] {
                for isDropped in [false, true] {
                    limit.learn(elapsed: elapsed, flights: .max / 4, isDropped: isDropped)
                    #expect(limit.limit >= 1)
                }
            }
        }
        for algorithm in [Recovery.ConcurrencyLimit.Algorithm.fixed(1), .aimd(), .gradient2()] {
            #expect(algorithm.problem == nil)
        }
    }

    @Test func aBucketPromisesPlacesInOrder() {
        var bucket = TokenBucket(rate: 2, capacity: 2, at: .zero)
        let waits = (0..<5).map { _ in bucket.take(at: .zero, within: .seconds(1)) }
        #expect(waits.map(\.wait) == [.zero, .zero, .milliseconds(500), .seconds(1), .milliseconds(1500)])
        #expect(waits.map(\.isTaken) == [true, true, true, true, false])
        bucket.giveBack(.seconds(1), at: .zero)
        #expect(bucket.take(at: .zero, within: .seconds(1)).wait == .seconds(1))
        #expect(bucket.take(at: .seconds(100), within: .zero).isTaken)
        #expect(bucket.balance(at: .seconds(100)) == 1)
        bucket.change(rate: 1000, capacity: 1, at: .seconds(100))
        #expect(bucket.take(at: .seconds(100), within: .zero).isTaken)
        #expect(bucket.take(at: .seconds(100), within: .longest).wait == .milliseconds(1))
    }

    /// All histories of seven steps: who comes, with two priorities, who ends, who leaves the line.
    @Test(arguments: 1...2, [0, 2, 100])
    func everyShortHistoryOfALineKeepsItsLimit(limit: Int, queue: Int) {
        for history in 0..<78_125 {
            var (line, rest) = (LimitLine(.fixed(limit)), history)
            // Who is under way, by the number of a place in line, and who waits, with the priority.
            var (running, waiting) = ([UInt64?](), [(number: UInt64, priority: Int)]())
            /// Calls the most urgent, and of those the first.
            func call(_ count: Int) {
                for _ in 0..<count {
                    let next = waiting.indices.min { first, second in
                        waiting[first].priority != waiting[second].priority
                            ? waiting[first].priority > waiting[second].priority : first < second
                    }
                    if let next { running.append(waiting.remove(at: next).number) }
                }
            }
            for _ in 0..<7 {
                let draw = rest % 5
                rest /= 5
                switch draw {
                case 0, 1:
                    let turn = PlannedAttempt.Turn()
                    switch line.enter(priority: draw, queue: queue, turn: turn) {
                    case .go: running.append(nil)
                    case .line(let number): waiting.append((number, draw))
                    case .refuse: #expect(waiting.count == queue)
                    }
                case 2, 3:
                    guard let ended = draw == 2 ? running.first : running.last else { continue }
                    running.remove(at: draw == 2 ? 0 : running.count - 1)
                    guard let number = ended else {
                        call(line.leave().count)
                        continue
                    }
                    let (flights, turns) = line.leave(number)
                    #expect(flights != nil, "its turn had come")
                    call(turns.count)
                default:
                    guard let gone = waiting.popLast() else { continue }
                    #expect(line.leave(gone.number).flights == nil)
                }
                #expect(line.flights == running.count && running.count <= limit && line.waiting == waiting.count)
                #expect(waiting.isEmpty || running.count == limit, "nobody waits while there is room")
            }
        }
    }

    /// Whoever comes, waits and is cancelled: within any time of the length go out no more than the limit says.
    @Test(arguments: 0..<20)
    func noHistoryPassesAPublishedLimit(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let rate = Recovery.PublishedLimits.Rate(1 + Int(random.next() % 4), per: .seconds(10))
        let admission = Recovery.PublishedLimits { _, _ in ("all", rate) }
        let bench = Bench()
        let context = CallContext(runtime: bench.client.runtime)
        let attempt = PlannedAttempt(Bench.get)
        var (waiting, left) = ([(time: Duration, permit: PlannedAttempt.Permit)](), [Duration]())
        for _ in 0..<200 {
            bench.clock.advance(by: .milliseconds(Int64(random.next() % 4000)))
            let now = bench.clock.now.offset
            left += waiting.map(\.time).filter { $0 <= now }
            waiting.removeAll { $0.time <= now }
            if random.next() % 3 == 0, !waiting.isEmpty {
                let gone = waiting.remove(at: Int(random.next() % UInt64(waiting.count)))
                _ = admission.conclude(attempt, .notSent, permit: gone.permit, context: context)
            } else if case .wait(let delay, _, let permit?) = await admission.admit(attempt, context: context) {
                waiting.append((now + delay, permit))
            }
        }
        left.sort()
        for index in left.indices.dropFirst(rate.count) {
            #expect(left[index] - left[index - rate.count] >= rate.window, "seed \(seed)")
        }
        #expect(left.count > 20)
    }

    @Test func anotherAlgorithmGoesOnFromWhatWasLearned() {
        var learned = LearnedLimit(.aimd(initial: 100, min: 5, max: 200))
        for _ in 0..<10 { learned.learn(elapsed: .zero, flights: 100, isDropped: true) }
        let limit = learned.limit
        #expect((5..<50).contains(limit))
        for algorithm in [Recovery.ConcurrencyLimit.Algorithm.aimd(initial: 100, min: 5, max: 300), .gradient2(min: 5)]
        {
            learned.change(to: algorithm)
            #expect(learned.limit == limit)
        }
        learned.change(to: .aimd(initial: 60, min: 50, max: 300))
        #expect(learned.limit == 50)
        learned.change(to: .fixed(7))
        #expect(learned.limit == 7)
        learned.change(to: .aimd(initial: 60, min: 50, max: 300))
        #expect(learned.limit == 60)
    }

    @Test func aPlaceThatIsGivenBackIsTakenByTheNext() {
        var bucket = TokenBucket(rate: 1, capacity: 1, at: .zero)
        let waits = (0..<4).map { _ in bucket.take(at: .zero, within: .longest).wait.inSeconds }
        #expect(waits == [0, 1, 2, 3])
        let (now, later) = (Duration.milliseconds(500), Duration.milliseconds(600))
        bucket.giveBack(.seconds(1), at: now)
        #expect(bucket.take(at: later, within: .zero) == (.milliseconds(400), false))
        #expect(bucket.take(at: later, within: .longest) == (.milliseconds(400), true))
        // Behind the last place stands nobody: with it those go in front of it that were given back.
        bucket.giveBack(.seconds(2), at: later)
        bucket.giveBack(.seconds(3), at: later)
        #expect(abs(bucket.balance(at: later) + 0.4) < 1e-6)
        #expect(bucket.take(at: .seconds(100), within: .zero) == (.zero, true))
    }

    /// Whoever comes, waits and leaves the line: no more go out than the rate allows.
    @Test(arguments: 0..<40)
    func noHistoryOfABucketPassesItsRate(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func draw(_ count: UInt64) -> Int { Int(random.next() % count) }
        let (rate, burst) = (Double(1 + draw(10)), 1 + draw(3))
        var bucket = TokenBucket(rate: rate, capacity: Double(burst), at: .zero)
        var (now, waiting, left) = (Duration.zero, [Duration](), [Duration]())
        for _ in 0..<400 {
            now += .milliseconds(draw(300))
            left += waiting.filter { $0 <= now }
            waiting.removeAll { $0 <= now }
            if draw(3) == 0, !waiting.isEmpty {
                bucket.giveBack(waiting.remove(at: draw(UInt64(waiting.count))), at: now)
            } else {
                let place = bucket.take(at: now, within: .seconds(5))
                if place.isTaken { waiting.append(now + place.wait) }
            }
        }
        left.sort()
        for (index, time) in left.enumerated() where index >= burst {
            // Between any two go out no more than the burst and what the time has brought.
            for first in [index - burst, index / 2, 0] where first <= index - burst {
                let most = (time - left[first]).inSeconds * rate + Double(burst)
                #expect(Double(index - first + 1) <= most + 1e-3)
            }
        }
        #expect(left.count > 50)
    }

    @Test(arguments: [(Double.nan, Double.nan), (-1, -1), (.infinity, .infinity), (0, 0)])
    func noBucketTraps(rate: Double, capacity: Double) {
        var bucket = TokenBucket(rate: rate, capacity: capacity, at: .longest)
        for now in [Duration.zero, .longest, .zero - .longest] {
            for _ in 0..<3 { #expect(bucket.take(at: now, within: .longest).wait >= .zero) }
        }
    }

    /// The published course of a client that is throttled at 5 s, 10 s and so on is checked from outside; this is the
    /// formula, by hand.
    @Test func theCubicRateFallsWithAThrottleAndGrowsAlongACubic() {
        var rate = CubicRate(at: 0)
        for step in 0..<20 { rate.learn(isThrottled: false, at: Double(step) * 0.25) }
        #expect(rate.rate == nil)
        #expect(rate.take(at: 5) == 0)
        rate.learn(isThrottled: true, at: 5)
        // Four a second, of which the average has not seen all; a throttle takes three tenths.
        let measured = rate.rate.map { $0 / 0.7 } ?? 0
        #expect(abs(measured - 4) < 0.3)
        #expect(rate.take(at: 5) == 0, "a token was there")
        let wait = rate.take(at: 5)
        #expect(abs(wait - 1 / (measured * 0.7)) < 1)
        var last = rate.rate ?? 0
        for step in 1...8 {
            rate.learn(isThrottled: false, at: 5 + Double(step) * 0.5)
            rate.learn(isThrottled: false, at: 5 + Double(step) * 0.5)
            let next = rate.rate ?? 0
            #expect(next >= last - 1e-9)
            last = next
        }
        rate.learn(isThrottled: true, at: 9.5)
        #expect((rate.rate ?? 0) < last)
    }
}
