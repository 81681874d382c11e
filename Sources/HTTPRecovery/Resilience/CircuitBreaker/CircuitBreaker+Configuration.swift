extension Recovery.CircuitBreaker {
    /// By which results a closed breaker judges.
    @nonexhaustive public enum Window: Sendable, Hashable {
        /// Failures in a row.
        case consecutive
        /// The last so many results.
        case count(Int)
        /// The results of the last time: in so many buckets, or each by its exact time if that is nil.
        case time(Duration, buckets: Int? = 10)
    }

    /// Somebody's word, in place of what the breaker has seen.
    @nonexhaustive public enum Override: String, Sendable, Hashable, CaseIterable {
        /// Nothing is let through.
        case open
        /// Everything is let through, and nothing counted.
        case closed
        /// Everything is let through, and counted.
        case metricsOnly = "metrics_only"
    }

    /// When a breaker opens, for how long, and how it closes again.
    public struct Configuration: Sendable, Hashable {
        /// By which results it judges.
        ///
        /// Default: those of the last minute, in ten buckets: as long as two attempts of the longest standard time.
        public var window: Window
        /// How many failures open it, whatever their share: those in a row for ``Window/consecutive``, where nil is 1,
        /// else those in the window, where nil is any number.
        ///
        /// Default: nil.
        public var failures: Int?
        /// The share of failures that opens it, above 0 to 1; nil judges by no share.
        ///
        /// Default: 0.5.
        public var failureRatio: Double?
        /// How many results it takes to judge by a share; never more than a window of so many calls holds.
        ///
        /// Default: 20.
        public var minimumCalls: Int
        /// From which time on an answer counts as slow; nil counts none.
        ///
        /// Default: nil.
        public var slowThreshold: Duration?
        /// The share of slow answers that opens it, above 0 to 1; nil judges by none.
        ///
        /// Default: nil.
        public var slowRatio: Double?
        /// How long it stays open at first, and how long a probe is waited for.
        ///
        /// Default: 10 s.
        public var breakDuration: Duration
        /// What each further break in a row is multiplied by; at least 1.
        ///
        /// Default: 1.
        public var breakGrowth: Double
        /// The longest break, also one that the server states.
        ///
        /// Default: 10 minutes.
        public var longestBreak: Duration
        /// How many probes a half-open breaker lets through in all; at least 1.
        ///
        /// Default: 1.
        public var halfOpenPermits: Int
        /// How many of them have to succeed before it closes; nil is all of them, or by the share if there is one.
        ///
        /// There are at least so many probes. Default: nil.
        public var successThreshold: Int?
        /// Whether a 408 or 429 is a failure too, as with Polly in Microsoft's standard handler; else they tell nothing, as a
        /// server that bounds one client serves the others.
        ///
        /// Default: false.
        public var countsRefusals: Bool

        /// Creates a configuration; the parameters are the properties.
        public init(
            window: Window = .time(.seconds(60)),
            failures: Int? = nil,
            failureRatio: Double? = 0.5,
            minimumCalls: Int = 20,
            slowThreshold: Duration? = nil,
            slowRatio: Double? = nil,
            breakDuration: Duration = .seconds(10),
            breakGrowth: Double = 1,
            longestBreak: Duration = .seconds(600),
            halfOpenPermits: Int = 1,
            successThreshold: Int? = nil,
            countsRefusals: Bool = false
        ) {
            self.window = window
            self.failures = failures
            self.failureRatio = failureRatio
            self.minimumCalls = minimumCalls
            self.slowThreshold = slowThreshold
            self.slowRatio = slowRatio
            self.breakDuration = breakDuration
            self.breakGrowth = breakGrowth
            self.longestBreak = longestBreak
            self.halfOpenPermits = halfOpenPermits
            self.successThreshold = successThreshold
            self.countsRefusals = countsRefusals
        }

        /// Opens after so many failures in a row.
        public static func consecutive(_ failures: Int, breakDuration: Duration = .seconds(10)) -> Configuration {
            Configuration(
                window: .consecutive,
                failures: failures,
                failureRatio: nil,
                minimumCalls: 1,
                breakDuration: breakDuration
            )
        }

        /// Why no breaker can work by it, as a sentence; nil if one can.
        public var problem: String? {
            switch window {
            case .consecutive where (failures ?? 1) < 1: return "a breaker opens after at least one failure"
            case .count(let size) where size < 1: return "a window holds at least one call"
            case .time(let length, let buckets) where length <= .zero || (buckets ?? 1) < 1:
                return "a window lasts for some time, in at least one bucket"
            default: break
            }
            for ratio in [failureRatio, slowRatio] {
                if let ratio, !(ratio > 0 && ratio <= 1) { return "a share is above 0 and at most 1" }
            }
            if slowRatio != nil, slowThreshold == nil { return "a share of slow answers needs a time that is slow" }
            if window != .consecutive, failures == nil, failureRatio == nil, slowRatio == nil {
                return "a breaker needs a number or a share at which it opens"
            }
            if breakDuration <= .zero || longestBreak <= .zero { return "a break lasts for some time" }
            if !(breakGrowth >= 1) { return "breaks do not become shorter: their growth is at least 1" }
            if halfOpenPermits < 1 || (successThreshold ?? 1) < 1 { return "a half-open breaker needs a probe" }
            return nil
        }

        func isTripped(calls: Int, failures: Int, slow: Int) -> Bool {
            func reaches(_ count: Int, _ ratio: Double?) -> Bool {
                guard let ratio, ratio > 0, count > 0 else { return false }
                return Double(count) >= ratio * Double(calls)
            }
            return reaches(failures, failureRatio) || reaches(slow, slowRatio)
        }

        /// How many probes there are in all.
        var probes: Int { max(1, halfOpenPermits, successThreshold ?? 1) }
    }
}
