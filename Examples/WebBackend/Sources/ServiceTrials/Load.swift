import Synchronization

/// As many requests as a few callers get answered in a time, each sending its next one when the last is answered.
public struct Load: Sendable {
    /// What has come of it.
    public struct Report: Sendable {
        /// How long it took.
        public let elapsed: Duration
        /// How long each answered request took, in seconds, the shortest first.
        public let latencies: [Double]
        /// What came in place of the answer, and how often.
        public let failures: [String: Int]

        /// Answered requests a second.
        public var perSecond: Double { Double(latencies.count) / (elapsed / .seconds(1)) }

        /// The time within which a share of the requests was answered, in seconds; 0 if none was.
        public func quantile(_ share: Double) -> Double {
            guard !latencies.isEmpty else { return 0 }
            return latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))]
        }
    }

    /// Loads a service.
    ///
    /// - Parameters:
    ///   - duration: How long requests are sent.
    ///   - callers: How many there are at a time.
    ///   - call: Sends one and says what is wrong with its answer; nil if nothing is.
    public static func run(
        for duration: Duration,
        callers: Int,
        call: @escaping @Sendable () async throws -> String?
    ) async -> Report {
        let results = Results()
        let start = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    while ContinuousClock.now - start < duration {
                        let began = ContinuousClock.now
                        var problem: String?
                        do { problem = try await call() } catch { problem = "\(error)" }
                        let latency = (ContinuousClock.now - began) / .seconds(1)
                        results.add(latency, problem)
                    }
                }
            }
        }
        let all = results.all
        return Report(
            elapsed: ContinuousClock.now - start,
            latencies: all.latencies.sorted(),
            failures: all.failures
        )
    }

    private final class Results: Sendable {
        private let results = Mutex<(latencies: [Double], failures: [String: Int])>(([], [:]))

        var all: (latencies: [Double], failures: [String: Int]) { results.withLock { $0 } }

        func add(_ latency: Double, _ problem: String?) {
            results.withLock { results in
                if let problem {
                    results.failures[problem, default: 0] += 1
                } else {
                    results.latencies.append(latency)
                }
            }
        }
    }
}
