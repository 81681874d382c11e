import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Random clients with all policies at once, on virtual time: what bounds calls holds whatever else does, and nothing that
/// was taken is lost.
@Suite(.timeLimit(.minutes(30))) struct AllAdmissionsHistoryTests {
    private struct Drawn {
        var simulation: Simulation
        var limit: Int?
        var budget: (ratio: Double, burst: Int)?
    }

    private static func draw(_ random: ByteMutator) -> Drawn {
        var settings = RecoveringClient.Settings.standard
        settings.deadline = random.below(4) == 0 ? nil : .seconds(1 + random.below(60))
        settings.attemptTimeout = settings.deadline.map { min($0, .seconds(1 + random.below(9))) } ?? .seconds(5)
        settings.maxAttempts = 1 + random.below(5)
        settings.maxWait = .seconds(random.below(30))
        settings.resendsTransparently = random.below(3) == 0
        var budget: (Double, Int)?
        switch random.below(6) {
        case 0: settings.budget = .tokens(capacity: random.below(60))
        case 1: settings.budget = .inFlight(percent: 20, floor: random.below(3))
        case 2: settings.budget = .throttle()
        case 3: settings.budget = .rate(lifetime: .seconds(1), minPerSecond: random.below(3))
        default:
            budget = (0.2, random.below(4))
            settings.budget = .ratio(.init(ratio: 0.2, burst: budget?.1 ?? 0))
        }
        if random.below(2) == 0 {
            settings.breaker = .init(
                window: [.consecutive, .count(4), .time(.seconds(30)), .time(.seconds(30), buckets: nil)][
                    random.below(4)
                ],
                failures: 1 + random.below(4),
                minimumCalls: 1 + random.below(4),
                breakDuration: .seconds(1 + random.below(9)),
                halfOpenPermits: 1 + random.below(2),
                countsRefusals: random.below(2) == 0
            )
            if random.below(8) == 0 { settings.breakerOverride = .metricsOnly }
        }
        var limit: Int?
        if random.below(2) == 0 {
            limit = 1 + random.below(4)
            settings.limit = .init(.fixed(limit ?? 1), queue: random.below(20))
        }
        if random.below(3) == 0 {
            settings.pace = .init(perSecond: Double(1 + random.below(20)), burst: 1 + random.below(3))
        }
        settings.isAdaptive = random.below(3) == 0
        if random.below(2) == 0 {
            settings.hedging = .init(after: .milliseconds(random.below(2000)), maxAttempts: 1 + random.below(3))
        }
        var simulation = Simulation(settings, random: (0..<7).map { _ in Double(random.below(1000)) / 1000 })
        simulation.calls = (0..<1 + random.below(25)).map { _ in
            var call = Simulation.Call(at: .milliseconds(random.below(20_000)))
            call.answers = (0..<1 + random.below(5)).map { _ in answer(random) }
            call.method = random.below(4) == 0 ? .post : .get
            call.priority = random.below(3)
            if random.below(5) == 0 { call.cancellation = call.start + .milliseconds(random.below(5000)) }
            return call
        }
        // Long after: whatever has happened, nothing stands in the way any more.
        simulation.calls.append(.init(at: .seconds(100_000)))
        return Drawn(simulation: simulation, limit: limit, budget: budget)
    }

    private static func answer(_ random: ByteMutator) -> Simulation.Answer {
        let delay = Duration.milliseconds(random.below(4) == 0 ? random.below(12_000) : random.below(200))
        switch random.below(9) {
        case 0: return .status(404, after: delay)
        case 1:
            var fields = HTTPFields()
            fields[.retryAfter] = String(random.below(20))
            return .status(429, fields, after: delay)
        case 2, 3: return .status(503, after: delay)
        case 4: return .failure(.neverSent, after: delay)
        case 5: return .failure(.notProcessed, after: delay)
        case 6: return .failure(.unknown, after: delay)
        default: return .status(200, after: delay)
        }
    }

    @Test(arguments: 0..<4) func whatBoundsCallsHolds(part: UInt64) throws {
        var ends: [String: Int] = [:]
        for round in 0..<UInt64(ByteMutator.rounds(150)) {
            let seed = part << 32 | round
            let drawn = Self.draw(ByteMutator(seed: seed))
            let (simulation, settings) = (drawn.simulation, drawn.simulation.settings)
            let report = try simulation.runOnThisThread()
            #expect(report.calls.last?.end == .ok, "seed \(seed): something is held for ever")
            for (call, result) in zip(simulation.calls, report.calls) {
                let free = settings.resendsTransparently ? 1 : 0
                #expect(result.attempts.count <= settings.maxAttempts + free, "seed \(seed)")
                for wait in result.waits {
                    #expect(wait.duration > .zero && wait.duration <= settings.maxWait + .seconds(6), "seed \(seed)")
                }
                if let deadline = settings.deadline {
                    // Bounds are kept to the nanosecond.
                    #expect(result.time <= call.start + deadline + .nanoseconds(2), "seed \(seed): past the deadline")
                }
                if result.end == .cancelled { #expect(result.time == call.cancellation, "seed \(seed): not at once") }
                if result.end == .failed { #expect(result.reason != nil && result.kind != nil, "seed \(seed)") }
                ends[result.reason?.rawValue ?? result.end.rawValue, default: 0] += 1
            }
            let attempts = zip(simulation.calls.indices, report.calls).flatMap { index, call in
                call.attempts.map { (start: $0.time, end: $0.end ?? call.time) }
            }
            if let limit = drawn.limit {
                for attempt in attempts {
                    let beside = attempts.count { $0.start <= attempt.start && attempt.start < $0.end }
                    #expect(beside <= limit, "seed \(seed): \(beside) at \(attempt.start)")
                }
            }
            if let pace = settings.pace {
                let starts = attempts.map(\.start).sorted()
                for last in starts.indices {
                    for first in [0, last / 2, last - pace.burst] where first >= 0 && first < last {
                        let time = (starts[last] - starts[first]).inSeconds
                        let most = time * pace.perSecond + Double(pace.burst)
                        #expect(Double(last - first + 1) <= most + 1e-3, "seed \(seed): beyond the pace")
                    }
                }
            }
            for call in report.calls {
                for attempt in call.attempts {
                    let beside = call.attempts.count { $0.time <= attempt.time && attempt.time < ($0.end ?? call.time) }
                    #expect(beside <= max(1, settings.hedging?.maxAttempts ?? 1), "seed \(seed): too many hedges")
                }
            }
            // What succeeds gives its price back, so the bound is for those that do not.
            if let budget = drawn.budget, !report.calls.dropLast().contains(where: { $0.end == .ok }) {
                let free = settings.resendsTransparently ? simulation.calls.count : 0
                let most = Double(simulation.calls.count) * (1 + budget.ratio) + Double(max(budget.burst, 1) + free)
                #expect(Double(attempts.count) <= most, "seed \(seed)")
            }
            if round % 10 == 0 {
                #expect(try simulation.runOnThisThread() == report, "seed \(seed): not the same again")
            }
        }
        #expect(ends.count > 8, "\(ends)")
    }
}

extension HTTPField.Name {
    fileprivate static var retryAfter: HTTPField.Name { HTTPField.Name("Retry-After") ?? .accept }
}
