#if Configuration
public import AuthRecovery
public import Configuration
public import HTTPRecovery

extension Redirects {
    /// Reads how many redirects a call follows from a configuration; the page <doc:PolicyKeys> lists the key.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        let values = try LayerOptions.reader(LayerOptions.redirects, in: config)
        self.init(limit: try values.whole("limit") ?? Redirects().limit)
    }
}

extension Recovery.AnnouncedLimits {
    /// Reads how announced limits are kept to from a configuration; the page <doc:PolicyKeys> lists the keys.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public convenience init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        let values = try LayerOptions.reader(LayerOptions.announcedLimits, in: config)
        let scopes = Dictionary(uniqueKeysWithValues: Outcome.Scope.allCases.map { ($0.rawValue, $0) })
        self.init(
            per: try values.word("per", scopes) ?? .credential,
            spacingBelow: try values.number("spacing_below", if: (0...1).contains, "has to be 0 to 1") ?? 0.1,
            heedingUpTo: try values.seconds("up_to_s") ?? .seconds(900)
        )
    }
}

extension RecoveringClient.StaleAnswers {
    /// Reads which earlier answers are kept from a configuration; the page <doc:PolicyKeys> lists the keys.
    ///
    /// - Parameters:
    ///   - config: The configuration, scoped to where the values stand.
    ///   - applies: Which failures it stands in for. Default: 500, 502, 503, 504, lost connections and timeouts.
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public convenience init(
        config: ConfigReader,
        when applies: @escaping @Sendable (Outcome) -> Bool = { $0.isServerError }
    ) throws(RecoveringClient.Settings.Invalid) {
        let values = try LayerOptions.reader(LayerOptions.staleAnswers, in: config)
        self.init(
            forUpTo: try values.seconds("for_s"),
            mostEntries: try values.whole("most_entries") ?? 100,
            mostBytes: try values.whole("most_bytes") ?? 1 << 20,
            when: applies
        )
    }
}

extension TokenManager.RenewalOptions {
    /// Reads when credentials are renewed from a configuration; the page <doc:PolicyKeys> lists the keys.
    ///
    /// - Throws: `RecoveringClient.Settings.Invalid`, which names the key.
    public init(config: ConfigReader) throws(RecoveringClient.Settings.Invalid) {
        let values = try LayerOptions.reader(LayerOptions.renewal, in: config)
        self.init()
        leeway = try values.seconds("leeway_s") ?? leeway
        timeout = try values.seconds("timeout_s", if: { $0 >= .milliseconds(1) }, "has to be above zero") ?? timeout
        let isLong = { (time: Duration) in time >= .milliseconds(100) }
        lease = try values.seconds("lease_s", if: isLong, "has to be at least 0.1 seconds") ?? lease
        cooldown = try values.seconds("cooldown_s") ?? cooldown
        limit = try values.whole("limit", atLeast: 1) ?? limit
        window = try values.seconds("window_s") ?? window
    }
}
#endif
