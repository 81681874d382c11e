extension RetryBudget {
    /// How a budget decides whether a resend can be paid for; one budget an origin, for retries, hedges, redirects and
    /// what operations repeat.
    @nonexhaustive public enum Model: Sendable, Hashable {
        /// Each call adds a fraction of a resend, up to a burst; the default, and the only one that a store shares.
        case ratio(Configuration = Configuration())

        /// The AWS SDKs' quota: resends cost tokens by what they follow; a success gives back what its last resend cost, or
        /// 1 without one. Nothing is given back for a failure.
        ///
        /// - Parameters:
        ///   - capacity: What there is at first, and the most; at least 0.
        ///   - retryCost: What a resend costs.
        ///   - timeoutCost: What it costs after our own attempt timeout; nil is the same.
        ///   - throttleCost: What it costs after a refusal for too many requests.
        case tokens(capacity: Int = 500, retryCost: Int = 14, timeoutCost: Int? = nil, throttleCost: Int = 5)

        /// Envoy's: so many percent of the calls in flight may be resends at the same time, and always a few.
        ///
        /// - Parameters:
        ///   - percent: The share; 20 is a fifth.
        ///   - floor: The resends that are always allowed.
        case inFlight(percent: Double = 20, floor: Int = 3)

        /// gRPC's (proposal A6): each failure that could be repeated, or that the server forbids to repeat, takes a token, each
        /// success adds a fraction of one; nothing is repeated while no more than half of them are left.
        ///
        /// - Parameters:
        ///   - maxTokens: What there is at first, and the most: 1 to 1000.
        ///   - tokenRatio: What a success adds; at least 0.001, and digits behind the third are ignored.
        case throttle(maxTokens: Int = 10, tokenRatio: Double = 0.1)

        /// Finagle's and tower's: resends are a share of the calls of the last seconds, and a few in each second.
        ///
        /// - Parameters:
        ///   - lifetime: How long a call counts: 1 to 60 s.
        ///   - minPerSecond: The resends in each second that need no calls.
        ///   - percent: The share; 20 is a fifth, 1000 ten for each call.
        case rate(lifetime: Duration = .seconds(10), minPerSecond: Int = 10, percent: Double = 20)

        /// Nothing bounds resends but the attempts of each call.
        case unlimited

        /// Which model it is, whatever its sizes.
        var name: String {
            switch self {
            case .ratio: "ratio"
            case .tokens: "tokens"
            case .inFlight: "in_flight"
            case .throttle: "throttle"
            case .rate: "rate"
            case .unlimited: "unlimited"
            }
        }

        /// Why no budget can be made of the model, as a sentence; nil if one can.
        public var problem: String? {
            switch self {
            case .ratio, .unlimited: nil
            case .tokens(let capacity, let retry, let timeout, let throttle):
                [capacity, retry, timeout ?? 0, throttle].contains { $0 < 0 } ? "a budget has no negative costs" : nil
            case .inFlight(let percent, let floor):
                percent.isFinite && percent >= 0 && floor >= 0 ? nil : "a share and a floor are at least 0"
            case .throttle(let tokens, let ratio):
                !(1...1000).contains(tokens)
                    ? "the tokens of a throttle are 1 to 1000"
                    : ratio.isFinite && ratio >= 0.001
                        ? nil : "a success has to add something: the token ratio is at least 0.001"
            case .rate(let lifetime, let least, let percent):
                lifetime < .seconds(1) || lifetime > .seconds(60)
                    ? "calls count for 1 to 60 seconds"
                    : least >= 0 && (0...100_000).contains(percent)
                        ? nil : "a rate is at least 0, its share at most 100000"
            }
        }
    }
}
