import Testing

@testable import HTTPRecovery

/// The value that is a breaker: by tables, and through all short histories.
@Suite struct BreakerStateTests {
    private typealias Configuration = Recovery.CircuitBreaker.Configuration

    /// What happens, with the second at which it does.
    private enum Event {
        case ok(Double, took: Double = 0)
        case bad(Double, retryAfter: Double? = nil)
        case ask(Double)
    }

    private static func seconds(_ seconds: Double) -> Duration { .saturating(seconds: seconds) }

    /// Lives through the events; an attempt begins and ends at its time, as a probe where one is wanted.
    private func states(_ configuration: Configuration, _ events: [Event]) -> [String] {
        var breaker = BreakerState(configuration, at: .zero)
        return events.map { event in
            let (time, result): (Double, BreakerState.Result?) =
                switch event {
                case .ok(let time, let took): (time, .init(isFailure: false, elapsed: Self.seconds(took)))
                case .bad(let time, let after):
                    (time, .init(isFailure: true, elapsed: .zero, retryAfter: after.map(Self.seconds)))
                case .ask(let time): (time, nil)
                }
            let now = Self.seconds(time)
            switch breaker.admit(at: now) {
            case .refuse(let left): return "refused" + (left.map { " \($0.inSeconds)" } ?? "")
            case .go: breaker.end(result, at: now)
            case .probe(let number): breaker.end(result, probe: number, at: now)
            }
            return breaker.state.rawValue
        }
    }

    @Test func failuresInARowOpenItAndAProbeClosesIt() {
        let configuration = Configuration.consecutive(2, breakDuration: .seconds(5))
        #expect(
            states(configuration, [.bad(0), .ok(0), .bad(1), .bad(1), .ask(2), .ask(5.5), .ok(6), .bad(7), .bad(7)])
                == [
                    "closed", "closed", "closed", "open", "refused 4.0", "refused 0.5", "closed", "closed", "open",
                ]
        )
        #expect(
            states(configuration, [.bad(0), .bad(0), .bad(5), .ask(9), .ok(10)]).dropFirst() == [
                "open", "open", "refused 1.0", "closed",
            ]
        )
    }

    /// What another process has found broken for a shorter time ends no break of one's own, and is no further change.
    @Test(arguments: [(3, 9.0), (9, 9), (20, 19)]) func aBreakThatIsHeardOfOnlyLengthensOnesOwn(end: Int, left: Double)
    {
        var breaker = BreakerState(.consecutive(1, breakDuration: .seconds(9)), at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        #expect(breaker.news() == .init(state: .open, end: .seconds(9)))
        breaker.open(until: .seconds(end), at: .zero)
        #expect(breaker.admit(at: end > 9 ? .seconds(1) : .zero) == .refuse(.seconds(left)))
        #expect((breaker.news() != nil) == (end > 9))
    }

    @Test(arguments: [
        (Recovery.CircuitBreaker.Window.count(10), Recovery.CircuitBreaker.Window.count(10)), (.count(10), .count(6)),
        (.time(.seconds(60)), .time(.seconds(60))), (.time(.seconds(60)), .time(.seconds(30), buckets: nil)),
        (.count(10), .time(.seconds(30))), (.time(.seconds(60), buckets: nil), .count(10)),
    ])
    func anotherConfigurationKeepsTheResults(old: Recovery.CircuitBreaker.Window, new: Recovery.CircuitBreaker.Window) {
        var breaker = BreakerState(Configuration(window: old, minimumCalls: 6), at: .zero)
        func end(_ isFailure: Bool, _ time: Int) -> Recovery.CircuitBreaker.State {
            breaker.end(.init(isFailure: isFailure, elapsed: .zero), at: .seconds(time))
            return breaker.state
        }
        for (index, isFailure) in [false, true, true, false, true].enumerated() { _ = end(isFailure, 100 + index) }
        breaker.configuration = Configuration(window: new, minimumCalls: 6, breakDuration: .seconds(99))
        #expect(end(true, 106) == .open && breaker.opensUntil == .seconds(205))
    }

    @Test func failuresInARowAreKeptByAnotherConfiguration() {
        var breaker = BreakerState(.consecutive(3), at: .zero)
        for _ in 0..<2 { breaker.end(.init(isFailure: true, elapsed: .zero), at: .seconds(1)) }
        breaker.configuration = .consecutive(3, breakDuration: .seconds(1))
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .seconds(1))
        #expect(breaker.state == .open)
    }

    @Test func oneForMetricsAloneCountsWhateverItsStateWas() {
        var breaker = BreakerState(.init(window: .count(10), failures: 1, minimumCalls: 1), at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .seconds(1))
        #expect(breaker.state == .open)
        breaker.override = .metricsOnly
        for second in 2...5 { breaker.end(.init(isFailure: second == 2, elapsed: .zero), at: .seconds(second)) }
        #expect(breaker.rate == (0.25, 4) && breaker.state == .metricsOnly)
        breaker.override = nil
        #expect(breaker.state == .open)
    }

    @Test func onesForMetricsAloneCountNothingThatBeganBeforeAChange() {
        var breaker = BreakerState(.init(window: .count(10), failures: 1, minimumCalls: 1), at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .seconds(10))
        breaker.override = .metricsOnly
        breaker.end(.init(isFailure: true, elapsed: .seconds(3)), at: .seconds(12))
        #expect(breaker.rate.calls == 0)
        breaker.end(.init(isFailure: false, elapsed: .seconds(2)), at: .seconds(12))
        #expect(breaker.rate == (0, 1))
    }

    @Test(arguments: [
        (4.0, BreakerState.Answer.go), (5, .go), (3.999, .refuse(.seconds(4))), (0, .refuse(.seconds(4))),
    ])
    func whatIsDueWithTheEndOfABreakIsNotRefused(delay: Double, answer: BreakerState.Answer) {
        var breaker = BreakerState(.consecutive(1, breakDuration: .seconds(5)), at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        #expect(breaker.plan(at: .seconds(1), after: Self.seconds(delay)) == answer)
    }

    @Test func aProbeThatIsLateOpensNothing() {
        var configuration = Configuration(window: .count(1), failureRatio: 1, minimumCalls: 1)
        (configuration.breakDuration, configuration.halfOpenPermits) = (.seconds(1), 2)
        configuration.successThreshold = 1
        var breaker = BreakerState(configuration, at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        #expect((0..<2).map { _ in breaker.admit(at: .seconds(1)) } == [.probe(1), .probe(2)])
        breaker.end(.init(isFailure: false, elapsed: .zero), probe: 1, at: .seconds(1))
        breaker.end(.init(isFailure: true, elapsed: .zero), probe: 2, at: .seconds(2))
        #expect(breaker.state == .closed && breaker.rate.calls == 0)
    }

    @Test func breaksGrowUpToTheLongestAndBeginAnewAfterClosing() {
        var configuration = Configuration.consecutive(1, breakDuration: .seconds(2))
        configuration.breakGrowth = 3
        configuration.longestBreak = .seconds(10)
        let events: [Event] = [.bad(0), .ask(0), .bad(2), .ask(2), .bad(8), .ask(8), .ok(18), .bad(18), .ask(18)]
        #expect(
            states(configuration, events) == [
                "open", "refused 2.0", "open", "refused 6.0", "open", "refused 10.0", "closed", "open", "refused 2.0",
            ]
        )
    }

    @Test func theServerSaysHowLongToLeaveItAlone() {
        let configuration = Configuration.consecutive(1, breakDuration: .seconds(2))
        #expect(
            states(configuration, [.bad(0, retryAfter: 7), .ask(0), .ok(7), .bad(8, retryAfter: 0), .ask(8)])
                == ["open", "refused 7.0", "closed", "open", "refused 2.0"]
        )
        #expect(states(configuration, [.bad(0, retryAfter: 1e9), .ask(0)]) == ["open", "refused 600.0"])
    }

    @Test func aWindowOfCallsJudgesByItsShare() {
        let configuration = Configuration(window: .count(4), failureRatio: 0.5, minimumCalls: 4)
        #expect(states(configuration, [.bad(0), .bad(0), .bad(0), .ok(0)]).last == "open")
        #expect(states(configuration, [.bad(0), .ok(0), .ok(0), .ok(0), .bad(0), .ok(0)]).last == "closed")
        #expect(states(configuration, [.ok(0), .ok(0), .ok(0), .ok(0), .bad(0), .bad(0)]).last == "open")
        // Fewer than asked for fit into the window.
        let small = Configuration(window: .count(2), failureRatio: 1, minimumCalls: 100)
        #expect(states(small, [.bad(0), .bad(0)]) == ["closed", "open"])
        var counted = Configuration(window: .count(5), failures: 2, failureRatio: nil, minimumCalls: 1)
        #expect(states(counted, [.bad(0), .ok(0), .bad(0)]).last == "open")
        #expect(states(counted, [.bad(0), .ok(0), .ok(0), .ok(0), .ok(0), .bad(0)]).last == "closed")
        counted.halfOpenPermits = 2
        #expect(
            states(counted, [.bad(0), .bad(0), .bad(10), .ok(10), .ask(10)]).suffix(3) == [
                "half_open", "open", "refused 10.0",
            ]
        )
    }

    @Test(arguments: [nil, 10])
    func aWindowOfTimeForgets(buckets: Int?) {
        let window = Recovery.CircuitBreaker.Window.time(.seconds(10), buckets: buckets)
        let configuration = Configuration(window: window, failureRatio: 0.5, minimumCalls: 3)
        #expect(states(configuration, [.bad(0), .bad(0), .bad(9.5)]).last == "open")
        #expect(states(configuration, [.bad(0), .bad(0), .bad(11)]).last == "closed")
        #expect(states(configuration, [.bad(0), .ok(11), .ok(12), .bad(13), .bad(13)]).last == "open")
    }

    @Test func slowAnswersOpenItToo() {
        let configuration = Configuration(
            window: .count(2),
            failureRatio: nil,
            minimumCalls: 2,
            slowThreshold: .seconds(1),
            slowRatio: 1
        )
        #expect(states(configuration, [.ok(1, took: 0.9), .ok(3, took: 1), .ok(6, took: 2)]).last == "open")
    }

    @Test func probesAreJudgedTogetherAndALostOneIsNotWaitedForForEver() {
        let configuration = Configuration(
            window: .count(2),
            failureRatio: 0.5,
            minimumCalls: 2,
            breakDuration: .seconds(4),
            halfOpenPermits: 3
        )
        var breaker = BreakerState(configuration, at: .zero)
        for _ in 0..<2 { breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero) }
        let probes = (0..<4).map { _ in breaker.admit(at: .seconds(4)) }
        #expect(probes == [.probe(1), .probe(2), .probe(3), .refuse(.seconds(4))])
        breaker.end(.init(isFailure: true, elapsed: .zero), probe: 1, at: .seconds(5))
        #expect(breaker.state == .halfOpen)
        breaker.end(nil, probe: 2, at: .seconds(5))
        #expect(breaker.admit(at: .seconds(5)) == .probe(4))
        #expect(breaker.admit(at: .seconds(5)) == .refuse(.seconds(3)))
        // The third is lost: its place is free again.
        #expect(breaker.admit(at: .seconds(8)) == .probe(5))
        breaker.end(.init(isFailure: false, elapsed: .zero), probe: 3, at: .seconds(8))
        breaker.end(.init(isFailure: false, elapsed: .zero), probe: 4, at: .seconds(8))
        #expect(breaker.state == .halfOpen)
        breaker.end(.init(isFailure: false, elapsed: .zero), probe: 5, at: .seconds(8))
        #expect(breaker.state == .closed)
    }

    @Test func whatBeganBeforeAChangeCountsForNothing() {
        var breaker = BreakerState(.consecutive(1, breakDuration: .seconds(1)), at: .zero)
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        guard case .probe(let probe) = breaker.admit(at: .seconds(1)) else {
            Issue.record("no probe")
            return
        }
        // One from before, that is no probe.
        breaker.end(.init(isFailure: true, elapsed: .seconds(3)), at: .seconds(2))
        #expect(breaker.state == .halfOpen)
        breaker.end(.init(isFailure: false, elapsed: .seconds(1)), probe: probe, at: .seconds(2))
        #expect(breaker.state == .closed)
        breaker.end(.init(isFailure: true, elapsed: .seconds(3)), at: .seconds(4))
        #expect(breaker.state == .closed)
        breaker.end(.init(isFailure: true, elapsed: .seconds(2)), at: .seconds(4))
        #expect(breaker.state == .open)
        breaker.end(.init(isFailure: false, elapsed: .zero), probe: probe, at: .seconds(9))
        #expect(breaker.state == .open)
    }

    @Test func somebodysWordHolds() {
        var breaker = BreakerState(.consecutive(1), override: .open, at: .zero)
        #expect(breaker.admit(at: .zero) == .refuse(nil) && breaker.state == .forcedOpen)
        breaker.override = .metricsOnly
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        #expect(breaker.admit(at: .zero) == .go && breaker.state == .metricsOnly)
        breaker.override = .closed
        breaker.end(.init(isFailure: true, elapsed: .zero), at: .zero)
        #expect(breaker.admit(at: .zero) == .go && breaker.state == .forcedClosed)
        breaker.override = nil
        #expect(breaker.state == .closed)
    }

    /// What may never be otherwise, in all histories of eight steps.
    @Test(arguments: [1, 2], [1, 2])
    func everyShortHistoryKeepsTheRules(permits: Int, threshold: Int) {
        let configuration = Configuration(
            window: .count(2),
            failureRatio: 0.5,
            minimumCalls: 2,
            breakDuration: .seconds(2),
            halfOpenPermits: permits,
            successThreshold: threshold
        )
        let most = max(permits, threshold)
        for history in 0..<65_536 {
            var (breaker, time, probes) = (BreakerState(configuration, at: .zero), 0, [Int]())
            var rest = history
            for _ in 0..<8 {
                defer { rest /= 4 }
                let now = Duration.seconds(time)
                let before = breaker.state
                switch rest % 4 {
                case 0: time += 1
                case 1:
                    let answer = breaker.admit(at: now)
                    if case .probe(let probe) = answer { probes.append(probe) }
                    switch answer {
                    case .go: #expect(before == .closed)
                    case .probe: #expect(breaker.state == .halfOpen)
                    case .refuse(let left):
                        #expect(before != .closed && (left.map { $0 > .zero && $0 <= .seconds(2) } ?? true))
                    }
                case let kind:
                    let result = BreakerState.Result(isFailure: kind == 2, elapsed: .zero)
                    let probe = before == .closed || probes.isEmpty ? nil : probes.removeFirst()
                    breaker.end(result, probe: probe, at: now)
                    // What is no probe changes nothing but a closed one.
                    if probe == nil, before != .closed { #expect(breaker.state == before) }
                    if kind == 3, before == .closed { #expect(breaker.rate.calls <= 2) }
                }
                #expect(probes.count <= most * 8)
            }
            // Whatever has happened, it closes once the server is well again.
            for _ in 0..<6 {
                time += 1000
                let now = Duration.seconds(time)
                guard case .probe(let probe) = breaker.admit(at: now) else { continue }
                breaker.end(.init(isFailure: false, elapsed: .zero), probe: probe, at: now)
            }
            #expect(breaker.state == .closed, "history \(history) is stuck")
        }
    }
}
