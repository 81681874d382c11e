extension SettingsReader {
    static let presets: [String: RecoveringClient.Settings] = [
        "standard": .standard, "aggressive": .aggressive, "batch": .batch, "interactive": .interactive, "none": .none,
        "aws_standard": .awsStandard, "grpc": .grpc, "polly_standard": .pollyStandard,
    ]

    /// What the options make of a preset, or of what holds where none is named.
    package func settings(base: RecoveringClient.Settings) throws(Failure) -> RecoveringClient.Settings {
        var settings = try word("preset", Self.presets) ?? base
        if let attempts = try whole("max_attempts", atLeast: 1) {
            // gRPC's more than five mean five (proposal A6).
            settings.maxAttempts = try text("preset") == "grpc" ? min(attempts, 5) : attempts
        }
        settings.deadline = try seconds("deadline_s") ?? settings.deadline
        settings.maxWait = try seconds("max_wait_s") ?? settings.maxWait
        settings.idleTimeout = try seconds("idle_timeout_s") ?? settings.idleTimeout
        settings.longestLockout = try seconds("longest_lockout_s") ?? settings.longestLockout
        if let timeout = try seconds("attempt_timeout_s") {
            settings.attemptTimeout = timeout
        } else if let deadline = settings.deadline, deadline > .zero {
            // What a preset says of attempts ends with the call.
            settings.attemptTimeout = settings.attemptTimeout.map { min($0, deadline) }
        }
        if let backoff = try backoff("backoff") {
            settings.backoff = backoff
            settings.throttledBackoff = nil
        }
        settings.throttledBackoff = try backoff("throttled_backoff") ?? settings.throttledBackoff
        if let budget = try budget() {
            settings.budget = budget
            // By gRPC's rules the first resend of what was provably not processed is free (proposal A6).
            if case .throttle = budget { settings.resendsTransparently = true }
        }
        if let (breaker, word) = try breaker() {
            settings.breaker = breaker
            settings.breakerOverride = word
        }
        settings.limit = try limit() ?? settings.limit
        if let pacing = try object("pacing", keys: Self.keys(of: "pacing")) {
            guard let rate = try pacing.number("rate_per_s") else {
                throw Failure(pacing.name("rate_per_s"), "is missing")
            }
            settings.pace = .init(perSecond: rate, burst: try pacing.whole("burst", atLeast: 1) ?? 1)
        }
        settings.isAdaptive = try bool("adaptive") ?? settings.isAdaptive
        if let hedge = try object("hedge", keys: Self.keys(of: "hedge")) {
            guard let delay = try hedge.seconds("delay_s") else { throw Failure(hedge.name("delay_s"), "is missing") }
            settings.hedging = .init(
                after: delay,
                maxAttempts: try hedge.whole("max", atLeast: 1) ?? 2,
                quantile: try hedge.number("quantile")
            )
        }
        settings.resendsTransparently = try bool("resends_transparently") ?? settings.resendsTransparently
        let forms: [String: RecoveringClient.AttemptNumber.Form] = ["amazon": .amazon, "grpc": .grpc]
        settings.attemptNumber = try word("attempt_number", forms) ?? settings.attemptNumber
        return settings
    }

    private func backoff(_ key: String) throws(Failure) -> Backoff? {
        guard let own = try object(key, keys: Self.keys(of: key)) else { return nil }
        let base = try own.seconds("base_s") ?? .zero
        let throttled = try own.seconds("throttled_base_s")
        let cap = try own.seconds("cap_s") ?? .longest
        let jitter = try own.jitter()
        var backoff: Backoff
        switch try own.text("kind") ?? "exponential" {
        case "constant": backoff = .constant(base, throttled: throttled, cap: cap, jitter: jitter)
        case "linear": backoff = .linear(base: base, throttledBase: throttled, cap: cap, jitter: jitter)
        case "exponential":
            let factor = try own.number("factor") ?? 2
            guard factor.isFinite, factor >= 1 else { throw Failure(own.name("factor"), "is at least 1") }
            backoff = .exponential(
                base: base,
                throttledBase: throttled,
                cap: cap,
                multiplier: factor,
                jitter: jitter
            )
        case "custom":
            guard let delays = try own.durations("delays_s") else { throw Failure(own.name("delays_s"), "is missing") }
            backoff = .custom(delays, cap: cap, jitter: jitter)
        case let kind: throw own.unknown("kind", kind, ["constant", "linear", "exponential", "custom"])
        }
        backoff.adviceSlack = try own.seconds("advice_slack_s")
        backoff.capsAfterJitter = try own.word("cap", ["before_jitter": false, "after_jitter": true]) ?? false
        return backoff
    }

    private func jitter() throws(Failure) -> Backoff.Jitter {
        if let range = try? numbers("jitter") {
            guard range.count == 2, range[0] >= 0, range[0] <= range[1], range[1].isFinite else {
                throw Failure(name("jitter"), "is a least and a greatest factor")
            }
            return .scaled(from: range[0], to: range[1])
        }
        let words: [String: Backoff.Jitter] = [
            "none": .none, "full": .full, "equal": .equal, "decorrelated": .decorrelated,
            "decorrelated_v2": .decorrelatedV2,
        ]
        return try word("jitter", words) ?? .none
    }

    private func budget() throws(Failure) -> RetryBudget.Model? {
        guard let own = try object("budget", keys: Self.keys(of: "budget")) else { return nil }
        switch try own.text("model") ?? "ratio" {
        case "none": return .unlimited
        case "ratio":
            let ratio = try own.number("ratio") ?? 0.2
            guard (0...1).contains(ratio) else { throw Failure(own.name("ratio"), "is 0 to 1") }
            return .ratio(.init(ratio: ratio, burst: try own.whole("burst") ?? 10))
        case "aws":
            return .tokens(
                capacity: try own.whole("capacity") ?? 500,
                retryCost: try own.whole("retry_cost") ?? 14,
                timeoutCost: try own.whole("timeout_cost"),
                throttleCost: try own.whole("throttle_cost") ?? 5
            )
        case "envoy": return .inFlight(percent: try own.number("percent") ?? 20, floor: try own.whole("floor") ?? 3)
        case "grpc":
            return .throttle(
                maxTokens: try own.whole("max_tokens") ?? 10,
                tokenRatio: try own.number("token_ratio") ?? 0.1
            )
        case "tower":
            return .rate(
                lifetime: try own.seconds("ttl_s") ?? .seconds(10),
                minPerSecond: try own.whole("min_per_s") ?? 10,
                percent: try own.number("percent") ?? 20
            )
        case let model: throw own.unknown("model", model, ["none", "ratio", "aws", "envoy", "grpc", "tower"])
        }
    }

    private func breaker() throws(Failure) -> (
        Recovery.CircuitBreaker.Configuration, Recovery.CircuitBreaker.Override?
    )? {
        guard let own = try object("breaker", keys: Self.keys(of: "breaker")) else { return nil }
        var result = Recovery.CircuitBreaker.Configuration()
        let failures = try own.whole("failures", atLeast: 1)
        let slow = try own.number("slow_ratio")
        switch try own.text("kind") ?? (failures == nil ? "count" : "consecutive") {
        case "consecutive":
            result.window = .consecutive
            result.failureRatio = nil
        case "count": result.window = .count(try own.whole("window", atLeast: 1) ?? 100)
        case "time":
            result.window = .time(
                try own.seconds("window_s") ?? .seconds(30),
                buckets: try own.whole("buckets", atLeast: 1)
            )
        case let kind: throw own.unknown("kind", kind, ["consecutive", "count", "time"])
        }
        result.failures = failures
        if result.window != .consecutive {
            // A number, or a share of slow answers, stands for itself.
            result.failureRatio = try own.number("ratio") ?? (failures == nil && slow == nil ? 0.5 : nil)
        }
        result.minimumCalls = try own.whole("min_calls", atLeast: 1) ?? 1
        result.slowThreshold = try own.seconds("slow_s")
        result.slowRatio = slow
        result.halfOpenPermits = try own.whole("half_open_permits", atLeast: 1) ?? 1
        result.successThreshold = try own.whole("success_threshold", atLeast: 1)
        result.breakDuration = try own.seconds("open_s") ?? .seconds(10)
        result.breakGrowth = try own.number("open_factor") ?? 1
        result.longestBreak = try own.seconds("open_max_s") ?? .longest
        result.countsRefusals = try own.bool("counts_refusals") ?? false
        let force = try own.word("force", Dictionary(uniqueKeysWithValues: Recovery.CircuitBreaker.Override.words))
        return (result, force)
    }

    private func limit() throws(Failure) -> RecoveringClient.Settings.Limit? {
        guard let own = try object("limit", keys: Self.keys(of: "limit")) else { return nil }
        let queue = try own.whole("queue") ?? 0
        let (most, least) = (try own.whole("max", atLeast: 1), try own.whole("min", atLeast: 1))
        let initial = try own.whole("initial", atLeast: 1)
        switch try own.text("kind") ?? "fixed" {
        case "fixed":
            guard let limit = most ?? initial else { throw Failure(own.name("max"), "is missing") }
            return .init(.fixed(limit), queue: queue)
        case "aimd":
            let bounds = Self.bounds(least, initial, most)
            return .init(.aimd(initial: bounds.initial, min: bounds.least, max: bounds.most), queue: queue)
        case "gradient2":
            let bounds = Self.bounds(least, initial, most)
            return .init(.gradient2(initial: bounds.initial, min: bounds.least, max: bounds.most), queue: queue)
        case let kind: throw own.unknown("kind", kind, ["fixed", "aimd", "gradient2"])
        }
    }

    /// The documented 20, 20 and 200, as far as what is said leaves room for them.
    private static func bounds(_ least: Int?, _ initial: Int?, _ most: Int?) -> (least: Int, initial: Int, most: Int) {
        let lowest = least ?? min(20, initial ?? 20, most ?? 20)
        let highest = most ?? max(200, initial ?? 0, lowest)
        return (lowest, initial ?? min(max(20, lowest), highest), highest)
    }
}

extension RecoveringClient.Settings {
    /// Every policy switched off.
    package static let nothing = RecoveringClient.Settings(
        deadline: nil,
        attemptTimeout: nil,
        maxAttempts: 1,
        maxWait: .longest,
        backoff: .constant(.zero),
        throttledBackoff: nil,
        longestLockout: .longest,
        budget: .unlimited
    )
}

extension Recovery.CircuitBreaker.Override {
    fileprivate static var words: [(String, Self)] { allCases.map { ($0.rawValue, $0) } }
}
