import HTTPRecovery
import HTTPRecoveryTesting

/// A thousand clients, in four processes, that call the service every five seconds for four minutes.
struct Storm {
    /// One way to recover.
    struct Variant {
        let name: String
        let settings: RecoveringClient.Settings
    }

    /// What came of it, second by second.
    struct Course {
        let name: String
        var attempts = [Double](repeating: 0, count: Storm.seconds)
        var successes = [Double](repeating: 0, count: Storm.seconds)
        /// The slowest of a hundred calls that ended well.
        var latencies = [Double](repeating: 0, count: Storm.seconds)
        /// Attempts a call during the outage.
        var amplification = 0.0
        /// How long after the outage 99 of 100 calls succeed again for five seconds; nil if they never do.
        var recovery: Double?
        /// The share of all calls that succeeded.
        var share = 0.0
    }

    static let seconds = 240
    private static let clients = 1000
    private static let processes = 4
    private static let pause = 5.0

    static let variants: [Variant] = {
        func retrying(_ backoff: Backoff, _ budget: RetryBudget.Model) -> RecoveringClient.Settings {
            bounded(.init(maxAttempts: 4, backoff: backoff, throttledBackoff: nil, budget: budget))
        }
        func bounded(_ settings: RecoveringClient.Settings) -> RecoveringClient.Settings {
            var settings = settings
            settings.attemptTimeout = .seconds(1)
            settings.deadline = .seconds(20)
            return settings
        }
        var adaptive = RecoveringClient.Settings.awsStandard
        adaptive.isAdaptive = true
        var guarded = RecoveringClient.Settings.standard
        guarded.breaker = .init()
        let exponential = Backoff.exponential(jitter: .none)
        return [
            Variant(name: "naive retry", settings: retrying(.constant(.zero), .unlimited)),
            Variant(name: "backoff", settings: retrying(exponential, .unlimited)),
            Variant(name: "full jitter", settings: retrying(.exponential(), .unlimited)),
            Variant(name: "jitter, budget", settings: retrying(.exponential(), .ratio())),
            Variant(name: "default", settings: bounded(.standard)),
            Variant(name: "default, breaker", settings: bounded(guarded)),
            Variant(name: "adaptive", settings: bounded(adaptive)),
        ]
    }()

    /// Lives through it; the same each time.
    static func run(_ variant: Variant, seed: UInt64) throws -> Course {
        var generator = SplitMix(state: seed)
        let service = StormService()
        let arrivals = Arrivals()
        var simulation = Simulation(variant.settings, random: (0..<100_000).map { _ in generator.unit() })
        simulation.mostAttempts = 1_000_000
        simulation.server = { arrival in
            arrivals.note(arrival)
            return service.answer(arrival)
        }
        for client in 0..<clients {
            var time = generator.unit() * pause
            while time < Double(seconds) {
                var call = Simulation.Call(at: .saturating(seconds: time))
                call.origin = "process-\(client % processes)"
                simulation.calls.append(call)
                time += pause
            }
        }
        return try course(variant, simulation, arrivals)
    }

    private static func course(_ variant: Variant, _ simulation: Simulation, _ arrivals: Arrivals) throws -> Course {
        let report = try simulation.runOnThisThread()
        var course = Course(name: variant.name)
        for time in arrivals.times { course.attempts[min(Int(time), seconds - 1)] += 1 }
        var begun = [Double](repeating: 0, count: seconds)
        var good = begun
        var times = [[Double]](repeating: [], count: seconds)
        var (calls, attempts) = (0, 0)
        for (call, result) in zip(simulation.calls, report.calls) {
            let start = min(Int(call.start.inSeconds), seconds - 1)
            begun[start] += 1
            if StormService.outage.contains(call.start.inSeconds),
                result.time.inSeconds < StormService.outage.upperBound
            {
                calls += 1
                attempts += result.attempts.count
            }
            guard result.end == .ok else { continue }
            good[start] += 1
            course.successes[min(Int(result.time.inSeconds), seconds - 1)] += 1
            times[start].append((result.time - call.start).inSeconds)
        }
        for second in 0..<seconds where !times[second].isEmpty {
            let sorted = times[second].sorted()
            course.latencies[second] = sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
        }
        course.amplification = Double(attempts) / Double(max(1, calls))
        course.share = good.reduce(0, +) / max(1, begun.reduce(0, +))
        let end = Int(StormService.outage.upperBound)
        course.recovery = (end..<seconds - 5).first { second in
            let span = second..<second + 5
            return good[span].reduce(0, +) >= 0.99 * begun[span].reduce(0, +)
        }.map { Double($0 - end) }
        return course
    }
}

extension Duration {
    fileprivate static func - (first: Duration, second: Duration) -> Duration { first.saturatingSubtracting(second) }
}
