extension Recovery.ConcurrencyLimit {
    /// How many attempts may be under way at the same time, and how that is learned.
    @nonexhaustive public enum Algorithm: Sendable, Hashable {
        /// Always as many.
        case fixed(Int)

        /// One more for each answer while at least half of the limit is used, a tenth fewer for one that is lost, refused for
        /// the load or slower than the timeout.
        case aimd(
            initial: Int = 20,
            min: Int = 20,
            max: Int = 200,
            backoffRatio: Double = 0.9,
            timeout: Duration = .seconds(5)
        )

        /// By how the time of answers departs from its long average: Netflix's second gradient.
        case gradient2(initial: Int = 20, min: Int = 20, max: Int = 200)

        /// Why no limit can work by it, as a sentence; nil if one can.
        public var problem: String? {
            switch self {
            case .fixed(let limit): return limit < 1 ? "a limit lets at least one attempt go" : nil
            case .aimd(let initial, let min, let max, let ratio, let timeout):
                if !(ratio > 0 && ratio < 1) { return "a limit becomes smaller by its ratio: above 0 and below 1" }
                if timeout <= .zero { return "a timeout is above zero" }
                return Self.problem(initial, min, max)
            case .gradient2(let initial, let min, let max): return Self.problem(initial, min, max)
            }
        }

        private static func problem(_ initial: Int, _ min: Int, _ max: Int) -> String? {
            min >= 1 && min <= initial && initial <= max
                ? nil : "a limit lies between its least, at least 1, and its most"
        }
    }
}

/// What a concurrency limit has learned; a value without clock or lock.
struct LearnedLimit: Sendable {
    private var algorithm: Recovery.ConcurrencyLimit.Algorithm
    private var estimate: Double
    /// The long average of times, and of how many.
    private var average = 0.0
    private var samples = 0

    private static let warmUp = 10
    private static let window = 600.0

    init(_ algorithm: Recovery.ConcurrencyLimit.Algorithm) {
        self.algorithm = algorithm
        switch algorithm {
        case .fixed(let limit): estimate = Double(max(1, limit))
        case .aimd(let initial, let least, let most, _, _), .gradient2(let initial, let least, let most):
            estimate = Self.bounded(Double(initial), least, most)
        }
    }

    /// How many attempts may be under way.
    var limit: Int { Int(min(max(estimate, 1), 1e9)) }

    /// Learns by another rule from now on, from where it is and within its bounds; what is fixed has learned nothing.
    mutating func change(to new: Recovery.ConcurrencyLimit.Algorithm) {
        var changed = LearnedLimit(new)
        if case .fixed = algorithm {
            self = changed
            return
        }
        changed.begin(at: limit)
        (changed.average, changed.samples) = (average, samples)
        self = changed
    }

    /// Begins with a limit that another has learned; one that is fixed stays.
    mutating func begin(at limit: Int) {
        switch algorithm {
        case .fixed: break
        case .aimd(_, let least, let most, _, _), .gradient2(_, let least, let most):
            estimate = Self.bounded(Double(limit), least, most)
        }
    }

    /// Learns from an answer.
    ///
    /// - Parameters:
    ///   - elapsed: How long it took.
    ///   - flights: How many attempts were under way when it was sent, with itself.
    ///   - isDropped: Whether it was lost or refused for the load.
    mutating func learn(elapsed: Duration, flights: Int, isDropped: Bool) {
        switch algorithm {
        case .fixed: break
        case .aimd(_, let least, let most, let ratio, let timeout):
            if isDropped || elapsed > timeout {
                estimate = (estimate * min(max(ratio, 0), 1)).rounded(.down)
            } else if flights * 2 >= limit {
                estimate += 1
            }
            estimate = Self.bounded(estimate, least, most)
        case .gradient2(_, let least, let most):
            let short = max(elapsed.inSeconds, 1e-9)
            learnAverage(short)
            let long = average
            if long / short > 2 { average *= 0.95 }
            guard Double(flights) >= estimate / 2 else { return }
            let gradient = min(max(1.5 * long / short, 0.5), 1)
            estimate = Self.bounded(estimate * 0.8 + (estimate * gradient + 4) * 0.2, least, most)
        }
    }

    private mutating func learnAverage(_ sample: Double) {
        samples = min(samples + 1, Self.warmUp + 1)
        if samples <= Self.warmUp {
            average += (sample - average) / Double(samples)
        } else {
            let factor = 2 / (Self.window + 1)
            average = average * (1 - factor) + sample * factor
        }
    }

    private static func bounded(_ estimate: Double, _ least: Int, _ most: Int) -> Double {
        let least = Double(max(least, 1))
        return estimate.isNaN ? least : max(min(estimate, Double(max(most, 1))), least)
    }
}
