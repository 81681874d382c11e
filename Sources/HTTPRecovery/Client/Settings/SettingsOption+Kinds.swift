/// Which keys a group has in each of its kinds; those of another kind are refused, but in a scenario without a preset.
extension SettingsOption {
    package typealias Kinds = [(kind: String, keys: Set<String>)]

    package static let backoffKinds: Kinds = {
        let shared: Set = ["cap_s", "cap", "jitter", "advice_slack_s"]
        let growing = shared.union(["base_s", "throttled_base_s"])
        return [
            ("constant", growing), ("linear", growing), ("exponential", growing.union(["factor"])),
            ("custom", shared.union(["delays_s"])),
        ]
    }()

    package static let budgetModels: Kinds = [
        ("none", []), ("ratio", ["ratio", "burst"]),
        ("aws", ["capacity", "retry_cost", "timeout_cost", "throttle_cost"]), ("envoy", ["percent", "floor"]),
        ("grpc", ["max_tokens", "token_ratio"]), ("tower", ["ttl_s", "min_per_s", "percent"]),
    ]

    package static let breakerKinds: Kinds = {
        let shared: Set = [
            "failures", "half_open_permits", "success_threshold", "open_s", "open_factor", "open_max_s",
            "counts_refusals", "force", "shared",
        ]
        let shares = shared.union(["ratio", "min_calls", "slow_s", "slow_ratio"])
        return [
            ("consecutive", shared), ("count", shares.union(["window"])),
            ("time", shares.union(["window_s", "buckets"])),
        ]
    }()

    package static let limitKinds: Kinds = {
        let learned: Set = ["max", "min", "initial", "queue"]
        return [
            ("fixed", ["max", "queue"]), ("aimd", learned.union(["backoff_ratio", "timeout_s"])),
            ("gradient2", learned),
        ]
    }()
}

extension SettingsReader {
    /// The kind of a group: the one that is named, or else the one that holds.
    ///
    /// - Parameters:
    ///   - word: The key that names it.
    ///   - kinds: Those that there are.
    ///   - otherwise: The one that holds where none is named.
    ///   - isStrict: Whether keys of other kinds are refused.
    func kind(
        _ word: String,
        of kinds: SettingsOption.Kinds,
        otherwise: String,
        isStrict: Bool
    ) throws(Failure) -> String {
        let named = try text(word)
        let kind = named ?? otherwise
        guard let keys = kinds.first(where: { $0.kind == kind })?.keys else {
            throw unknown(word, kind, kinds.map(\.kind))
        }
        if isStrict, let other = given.first(where: { $0 != word && !keys.contains($0) }) {
            let owners = kinds.filter { $0.keys.contains(other) }.map(\.kind).joined(separator: " or ")
            let reason = named == nil ? ", which holds as \(name(word)) is not given" : ""
            throw Failure(name(other), "belongs to the \(word) \(owners), not to \(kind)\(reason)")
        }
        return kind
    }

    func missing(_ key: String) -> Failure { Failure(name(key), "is missing") }
}

extension Backoff {
    /// Its kind, as a policy names it.
    var kind: String {
        switch growth {
        case .exponential(let multiplier): multiplier == 1 ? "constant" : "exponential"
        case .linear: "linear"
        case .custom: "custom"
        }
    }

    /// What a group of this kind begins with.
    static func beginning(_ kind: String, isOff: Bool) -> Backoff {
        var backoff: Backoff =
            switch kind {
            case "constant": .constant(.zero)
            case "linear": .linear()
            case "custom": .custom([])
            default: .exponential()
            }
        if isOff { (backoff.base, backoff.cap, backoff.jitter) = (.zero, .longest, .none) }
        return backoff
    }
}

extension RetryBudget.Model {
    /// Its name in a policy.
    var option: String {
        switch self {
        case .unlimited: "none"
        case .ratio: "ratio"
        case .tokens: "aws"
        case .inFlight: "envoy"
        case .throttle: "grpc"
        case .rate: "tower"
        }
    }

    /// What a group of this model begins with.
    static func beginning(_ model: String) -> Self {
        switch model {
        case "none": .unlimited
        case "aws": .tokens()
        case "envoy": .inFlight()
        case "grpc": .throttle()
        case "tower": .rate()
        default: .ratio()
        }
    }
}

extension Recovery.CircuitBreaker.Window {
    /// Its name in a policy.
    var option: String {
        switch self {
        case .consecutive: "consecutive"
        case .count: "count"
        case .time: "time"
        }
    }
}

extension Recovery.CircuitBreaker.Configuration {
    /// What a group of this kind begins with.
    static func beginning(_ kind: String, isOff: Bool) -> Self {
        var configuration = Self()
        if isOff {
            (configuration.minimumCalls, configuration.longestBreak) = (1, .longest)
            configuration.window = .time(.seconds(30), buckets: nil)
        }
        switch kind {
        case "consecutive":
            (configuration.window, configuration.failureRatio, configuration.minimumCalls) = (.consecutive, nil, 1)
        case "count": configuration.window = .count(100)
        default: break
        }
        return configuration
    }
}

extension Recovery.CircuitBreaker.Override {
    static var words: [(String, Self)] { allCases.map { ($0.rawValue, $0) } }
}

extension Recovery.ConcurrencyLimit.Algorithm {
    /// Its name in a policy.
    var option: String {
        switch self {
        case .fixed: "fixed"
        case .aimd: "aimd"
        case .gradient2: "gradient2"
        }
    }

    /// What a group of this kind begins with; a fixed one has no number of its own.
    static func beginning(_ kind: String) -> Self {
        switch kind {
        case "aimd": .aimd()
        case "gradient2": .gradient2()
        default: .fixed(1)
        }
    }
}
