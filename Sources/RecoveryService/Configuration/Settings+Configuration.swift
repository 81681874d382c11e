#if Configuration
public import Configuration
public import HTTPRecovery

extension RecoveringClient.Settings {
    /// Reads how a client recovers from a configuration.
    ///
    /// The keys are those of a simulated policy, as the page <doc:PolicyKeys> lists them; a time is a number of seconds, or a
    /// text with a unit (`500ms`, `30s`, `2m`, `1h`).
    ///
    /// - Parameters:
    ///   - config: The configuration, scoped to where the policy stands.
    ///   - preset: What holds for all that is not configured, unless `preset` is. Default: `RecoveringClient.Settings.standard`,
    ///     by its name.
    /// - Throws: `RecoveringClient.Settings.Invalid` for a value that is there and is none: it names the key and what is allowed.
    public init(config: ConfigReader, preset: String = "standard") throws(Invalid) {
        try self.init(config: config.snapshot(), preset: preset)
    }

    /// The same, from values that all are of one moment.
    public init(config: ConfigSnapshotReader, preset: String = "standard") throws(Invalid) {
        let json = config.policy()
        let members = json.members ?? []
        let isNamed = members.contains { $0.key == "preset" }
        try self.init(json: .object(isNamed ? members : members + [JSONValue.Member("preset", .string(preset))]))
    }

    /// The same with what a program holds for good where nothing is configured.
    ///
    /// - Parameters:
    ///   - config: The configuration, scoped to where the policy stands.
    ///   - base: What holds for all that is not configured, unless `preset` is.
    /// - Throws: `RecoveringClient.Settings.Invalid` for a value that is there and is none: it names the key and what is allowed.
    public init(config: ConfigReader, base: Self) throws(Invalid) {
        try self.init(config: config.snapshot(), base: base)
    }

    /// The same, from values that all are of one moment.
    public init(config: ConfigSnapshotReader, base: Self) throws(Invalid) {
        try self.init(json: config.policy(), base: base)
    }

    /// A policy that has one option, which stands at the top of the configuration.
    fileprivate init(_ option: String, of config: ConfigReader) throws(Invalid) {
        try self.init(json: config.snapshot().policy(of: option))
    }

    fileprivate static func missing(_ option: String) -> Invalid {
        Invalid(key: option, "\(option) is not configured")
    }
}

extension Backoff {
    /// Reads delays from a configuration; the keys are those behind `backoff.`, and what is absent is as there.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        self = try RecoveringClient.Settings("backoff", of: config).backoff
    }
}

extension RetryBudget.Model {
    /// Reads a budget from a configuration; the keys are those behind `budget.`, and what is absent is as there.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        self = try RecoveringClient.Settings("budget", of: config).budget
    }
}

extension Recovery.CircuitBreaker.Configuration {
    /// Reads a breaker from a configuration; the keys are those behind `breaker.`, and what is absent is as there.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        guard let own = try RecoveringClient.Settings("breaker", of: config).breaker else {
            throw RecoveringClient.Settings.missing("breaker")
        }
        self = own
    }
}

extension RecoveringClient.Settings.Limit {
    /// Reads a concurrency limit from a configuration; the keys are those behind `limit.`, and what is absent is as there.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        guard let own = try RecoveringClient.Settings("limit", of: config).limit else {
            throw RecoveringClient.Settings.missing("limit")
        }
        self = own
    }
}

extension RecoveringClient.Settings.Pace {
    /// Reads a rate from a configuration; the keys are those behind `pacing.`.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        guard let own = try RecoveringClient.Settings("pacing", of: config).pace else {
            throw RecoveringClient.Settings.missing("pacing")
        }
        self = own
    }
}

extension Recovery.Hedging {
    /// Reads how requests are hedged from a configuration; the keys are those behind `hedge.`.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        guard let own = try RecoveringClient.Settings("hedge", of: config).hedging else {
            throw RecoveringClient.Settings.missing("hedge")
        }
        self = own
    }
}
#endif
