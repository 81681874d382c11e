/// Each group begins with what the policy has there, if that is of the same kind, and else with what the library has where
/// nothing is said; each key changes its one value.
///
/// In a scenario that names no preset a group begins with what is off.
extension SettingsReader {
    /// - Parameter base: What holds so far; nil is off.
    func backoff(_ key: String, base: Backoff?) throws(Failure) -> Backoff? {
        guard let own = try object(key, keys: Self.keys(of: key)) else { return nil }
        let kind = try own.kind(
            "kind",
            of: SettingsOption.backoffKinds,
            otherwise: base?.kind ?? "exponential",
            isStrict: base != nil
        )
        let given = base.flatMap { $0.kind == kind ? $0 : nil }
        var backoff = given ?? .beginning(kind, isOff: base == nil)
        backoff.cap = try own.seconds("cap_s") ?? backoff.cap
        backoff.jitter = try own.jitter() ?? backoff.jitter
        backoff.adviceSlack = try own.unlessOff("advice_slack_s", backoff.adviceSlack, own.seconds)
        let words = ["before_jitter": false, "after_jitter": true]
        backoff.capsAfterJitter = try own.word("cap", words) ?? backoff.capsAfterJitter
        if kind == "custom" {
            if let delays = try own.durations("delays_s") {
                (backoff.growth, backoff.base) = (.custom(delays), delays[0])
            } else if given == nil {
                throw own.missing("delays_s")
            }
            return backoff
        }
        let first = try own.seconds("base_s")
        if kind == "constant", first == nil, given == nil, base != nil { throw own.missing("base_s") }
        backoff.base = first ?? backoff.base
        backoff.throttledBase = try own.unlessOff("throttled_base_s", backoff.throttledBase, own.seconds)
        if kind == "exponential", let factor = try own.number("factor", if: { $0 >= 1 }, "has to be at least 1") {
            backoff.growth = .exponential(multiplier: factor)
        }
        if kind == "constant", own.value("cap_s") == nil {
            backoff.cap = max(backoff.cap, backoff.base, backoff.throttledBase ?? .zero)
        }
        return backoff
    }

    private func jitter() throws(Failure) -> Backoff.Jitter? {
        if value("jitter")?.number != nil {
            return try number("jitter", if: (0...1).contains, "has to be 0 to 1, which is more or less by all of it")
                .map { .plusMinus($0) }
        }
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
        return try word("jitter", words)
    }

    /// - Parameter base: What holds so far; nil is off.
    func budget(base: RetryBudget.Model?) throws(Failure) -> RetryBudget.Model? {
        if switchesOff("budget") { return .unlimited }
        guard let own = try object("budget", keys: Self.keys(of: "budget")) else { return nil }
        let kind = try own.kind(
            "model",
            of: SettingsOption.budgetModels,
            otherwise: base?.option ?? "ratio",
            isStrict: base != nil
        )
        let atLeastZero = { (number: Double) in number >= 0 }
        switch base.flatMap({ $0.option == kind ? $0 : nil }) ?? .beginning(kind) {
        case .unlimited: return .unlimited
        case .ratio(var sizes):
            sizes.ratio = try own.number("ratio", if: (0...1).contains, "has to be 0 to 1") ?? sizes.ratio
            sizes.burst = try own.whole("burst") ?? sizes.burst
            return .ratio(sizes)
        case .tokens(let capacity, let retry, let timeout, let throttle):
            return .tokens(
                capacity: try own.whole("capacity") ?? capacity,
                retryCost: try own.whole("retry_cost") ?? retry,
                timeoutCost: try own.unlessOff("timeout_cost", timeout) { key throws(Failure) in try own.whole(key) },
                throttleCost: try own.whole("throttle_cost") ?? throttle
            )
        case .inFlight(let percent, let floor):
            return .inFlight(
                percent: try own.number("percent", if: atLeastZero, "has to be at least 0") ?? percent,
                floor: try own.whole("floor") ?? floor
            )
        case .throttle(let tokens, let ratio):
            let own = (
                tokens: try own.number(
                    "max_tokens",
                    if: { (1...1000).contains($0) && $0 == $0.rounded() },
                    "has to be a whole number from 1 to 1000"
                ),
                ratio: try own.number(
                    "token_ratio",
                    if: { $0 >= 0.001 },
                    "has to be at least 0.001: a success adds something"
                )
            )
            return .throttle(maxTokens: own.tokens.map { Int($0) } ?? tokens, tokenRatio: own.ratio ?? ratio)
        case .rate(let lifetime, let least, let percent):
            let isLifetime = { (time: Duration) in time >= .seconds(1) && time <= .seconds(60) }
            return .rate(
                lifetime: try own.seconds("ttl_s", if: isLifetime, "has to be 1 to 60 seconds") ?? lifetime,
                minPerSecond: try own.whole("min_per_s") ?? least,
                percent: try own.number("percent", if: (0...100_000).contains, "has to be 0 to 100000") ?? percent
            )
        }
    }

    /// The breaker that this group makes of the one that holds so far.
    func breaker(
        base: Recovery.CircuitBreaker.Configuration?,
        isOff: Bool
    ) throws(Failure) -> Recovery.CircuitBreaker.Configuration {
        let failures = try unlessOff("failures", nil) { key throws(Failure) in try whole(key, atLeast: 1) }
        let guess = isOff ? "count" : value("window") != nil ? "count" : "time"
        let isNumber = failures != nil && (isOff || guess == "time" && value("window_s") == nil)
        let kind = try kind(
            "kind",
            of: SettingsOption.breakerKinds,
            otherwise: base?.window.option ?? (isNumber ? "consecutive" : guess),
            isStrict: !isOff
        )
        let given = base.flatMap { $0.window.option == kind ? $0 : nil }
        var result = given ?? .beginning(kind, isOff: isOff)
        switch result.window {
        case .consecutive: break
        case .count(let size): result.window = .count(try whole("window", atLeast: 1) ?? size)
        case .time(let length, let buckets):
            // None at all is by exact times.
            let number = try whole("buckets")
            result.window = .time(
                try seconds("window_s", if: { $0 > .zero }, "has to be above zero") ?? length,
                buckets: number.map { $0 == 0 ? nil : $0 } ?? buckets
            )
        }
        try readLimits(of: &result, failures: failures, isNew: given == nil)
        result.halfOpenPermits = try whole("half_open_permits", atLeast: 1) ?? result.halfOpenPermits
        result.successThreshold =
            try unlessOff("success_threshold", result.successThreshold) { key throws(Failure) in
                try whole(key, atLeast: 1)
            }
        let positive = { (time: Duration) in time > .zero }
        result.breakDuration = try seconds("open_s", if: positive, "has to be above zero") ?? result.breakDuration
        result.longestBreak = try seconds("open_max_s", if: positive, "has to be above zero") ?? result.longestBreak
        result.breakGrowth = try number("open_factor", if: { $0 >= 1 }, "has to be at least 1") ?? result.breakGrowth
        result.countsRefusals = try bool("counts_refusals") ?? result.countsRefusals
        return result
    }

    /// At what the breaker opens.
    private func readLimits(
        of breaker: inout Recovery.CircuitBreaker.Configuration,
        failures: Int?,
        isNew: Bool
    ) throws(Failure) {
        let isShare = { (share: Double) in share > 0 && share <= 1 }
        breaker.failures = try unlessOff("failures", breaker.failures) { _ in failures }
        breaker.minimumCalls = try whole("min_calls", atLeast: 1) ?? breaker.minimumCalls
        breaker.slowThreshold = try unlessOff("slow_s", breaker.slowThreshold, seconds)
        func share(_ key: String) throws(Failure) -> Double? {
            try number(key, if: isShare, "has to be above 0 and at most 1")
        }
        let slow = try unlessOff("slow_ratio", nil, share)
        breaker.slowRatio = try unlessOff("slow_ratio", breaker.slowRatio) { _ in slow }
        if breaker.window != .consecutive {
            // A number, or a share of slow answers, stands for itself.
            let other = isNew && (failures != nil || slow != nil) ? nil : breaker.failureRatio
            breaker.failureRatio = try unlessOff("ratio", other, share)
        }
        if breaker.slowRatio != nil, breaker.slowThreshold == nil {
            throw Failure(name("slow_s"), "is missing: a share of slow answers needs a time that is slow")
        }
    }

    func limit(
        base: RecoveringClient.Settings.Limit?,
        isOff: Bool
    ) throws(Failure) -> RecoveringClient.Settings.Limit? {
        guard let own = try object("limit", keys: Self.keys(of: "limit")) else { return nil }
        let kind = try own.kind(
            "kind",
            of: SettingsOption.limitKinds,
            otherwise: base?.algorithm.option ?? "fixed",
            isStrict: !isOff
        )
        let given = base.flatMap { $0.algorithm.option == kind ? $0 : nil }
        let queue = try own.whole("queue") ?? given?.queue ?? (isOff ? 0 : 100)
        let (most, least) = (try own.whole("max", atLeast: 1), try own.whole("min", atLeast: 1))
        let initial = try own.whole("initial", atLeast: 1)
        switch given?.algorithm ?? .beginning(kind) {
        case .fixed(let limit):
            guard let limit = most ?? initial ?? (given == nil ? nil : limit) else { throw own.missing("max") }
            return .init(.fixed(limit), queue: queue)
        case .aimd(let first, let lowest, let highest, let ratio, let timeout):
            let bounds = try own.bounds(least, initial, most, (lowest, first, highest))
            let isShare = { (share: Double) in share > 0 && share < 1 }
            let shrinking = try own.number("backoff_ratio", if: isShare, "has to be above 0 and below 1")
            let slow = try own.seconds("timeout_s", if: { $0 > .zero }, "has to be above zero")
            let algorithm = Recovery.ConcurrencyLimit.Algorithm.aimd(
                initial: bounds.initial,
                min: bounds.least,
                max: bounds.most,
                backoffRatio: shrinking ?? ratio,
                timeout: slow ?? timeout
            )
            return .init(algorithm, queue: queue)
        case .gradient2(let first, let lowest, let highest):
            let bounds = try own.bounds(least, initial, most, (lowest, first, highest))
            return .init(.gradient2(initial: bounds.initial, min: bounds.least, max: bounds.most), queue: queue)
        }
    }

    private typealias Bounds = (least: Int, initial: Int, most: Int)

    /// Those that hold, as far as what is said leaves room for them.
    private func bounds(_ least: Int?, _ initial: Int?, _ most: Int?, _ base: Bounds) throws(Failure) -> Bounds {
        if let least, let most, least > most {
            throw Failure(name("min"), "is at most \(name("max")), which is \(most)")
        }
        if let initial, let least, initial < least {
            throw Failure(name("initial"), "is at least \(name("min")), which is \(least)")
        }
        if let initial, let most, initial > most {
            throw Failure(name("initial"), "is at most \(name("max")), which is \(most)")
        }
        let lowest = least ?? min(base.least, initial ?? base.initial, most ?? base.most)
        let highest = most ?? max(base.most, initial ?? 0, lowest)
        return (lowest, initial ?? min(max(base.initial, lowest), highest), highest)
    }
}
