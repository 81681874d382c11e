#if Configuration
import AuthRecovery
import Configuration
import HTTPRecovery
import RecoveryService
import Testing

/// Policies from a configuration, in the types that each kind of provider has.
@Suite struct ConfigurationTests {
    private typealias Settings = RecoveringClient.Settings

    private static func reader(_ values: [AbsoluteConfigKey: ConfigValue]) -> ConfigReader {
        ConfigReader(provider: InMemoryProvider(values: values))
    }

    @Test func withoutAValueThereAreTheDefaults() throws {
        #expect(try Settings(config: Self.reader([:])) == .standard)
        #expect(try Settings(config: Self.reader([:]), preset: "batch") == .batch)
        #expect(try Settings(config: Self.reader(["preset": "interactive"]), preset: "batch") == .interactive)
    }

    @Test func theEnvironmentHasTextsAlone() throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: [
            "HTTP_MAX_ATTEMPTS": "5", "HTTP_DEADLINE_S": "30", "HTTP_MAX_WAIT_S": "500ms", "HTTP_ADAPTIVE": "true",
            "HTTP_BREAKER_KIND": "consecutive", "HTTP_BREAKER_FAILURES": "7", "HTTP_BACKOFF_JITTER": "0.5,1.5",
            "HTTP_BACKOFF_KIND": "custom", "HTTP_BACKOFF_DELAYS_S": "250ms,1", "HTTP_BUDGET_RATIO": "0.5",
            "HTTP_BUDGET_MODEL": "ratio",
        ])
        let settings = try Settings(config: ConfigReader(provider: provider).scoped(to: "http"))
        #expect(settings.maxAttempts == 5 && settings.deadline == .seconds(30))
        #expect(settings.maxWait == .milliseconds(500) && settings.isAdaptive)
        #expect(settings.breaker?.window == .consecutive && settings.breaker?.failures == 7)
        #expect(
            settings.backoff
                == .custom([.milliseconds(250), .seconds(1)], cap: .longest, jitter: .scaled(from: 0.5, to: 1.5))
        )
        #expect(settings.budget == .ratio(.init(ratio: 0.5, burst: 10)))
        #expect(settings.attemptTimeout == Settings.standard.attemptTimeout, "the rest is as it was")
    }

    private static let words: [(String, Backoff.Jitter)] = [
        ("none", .none), ("full", .full), ("equal", .equal), ("decorrelated", .decorrelated),
        ("decorrelated_v2", .decorrelatedV2), ("0.25", .plusMinus(0.25)), ("1", .plusMinus(1)),
        ("0.8,1.2", .scaled(from: 0.8, to: 1.2)), ("0.8, 1.2", .scaled(from: 0.8, to: 1.2)),
    ]

    @Test(arguments: words) func theEnvironmentSaysHowDelaysAreSpread(text: String, jitter: Backoff.Jitter) throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: [
            "API_BACKOFF_JITTER": text, "API_THROTTLED_BACKOFF_JITTER": text,
        ])
        let settings = try Settings(config: ConfigReader(provider: provider).scoped(to: "api"))
        #expect(settings.backoff.jitter == jitter && settings.throttledBackoff?.jitter == jitter)
        guard !text.contains(",") else { return }
        let typed = try Settings(config: Self.reader(["backoff.jitter": ConfigValue(.string(text), isSecret: false)]))
        #expect(typed.backoff.jitter == jitter)
    }

    /// Each key has the same value as a text of the environment as in a policy file.
    @Test(arguments: [
        ("PRESET", "grpc", #"{"preset": "grpc"}"#), ("MAX_ATTEMPTS", "4", #"{"max_attempts": 4}"#),
        ("DEADLINE_S", "off", #"{"deadline_s": "off"}"#), ("ATTEMPT_TIMEOUT_S", "2.5", #"{"attempt_timeout_s": 2.5}"#),
        ("ATTEMPT_NUMBER", "amazon", #"{"attempt_number": "amazon"}"#), ("ADAPTIVE", "true", #"{"adaptive": true}"#),
        ("RESENDS_TRANSPARENTLY", "false", #"{"resends_transparently": false}"#),
        ("BACKOFF_FACTOR", "3", #"{"backoff": {"factor": 3}}"#),
        ("BACKOFF_CAP", "after_jitter", #"{"backoff": {"cap": "after_jitter"}}"#),
        ("BACKOFF_KIND", "linear", #"{"backoff": {"kind": "linear"}}"#),
        ("THROTTLED_BACKOFF", "off", #"{"throttled_backoff": "off"}"#),
        ("BUDGET_MODEL", "aws", #"{"budget": {"model": "aws"}}"#), ("BUDGET", "off", #"{"budget": "off"}"#),
        ("BREAKER", "off", #"{"breaker": "off"}"#), ("BREAKER_FORCE", "open", #"{"breaker": {"force": "open"}}"#),
        ("BREAKER_SHARED", "true", #"{"breaker": {"shared": true}}"#),
        ("BREAKER_COUNTS_REFUSALS", "true", #"{"breaker": {"counts_refusals": true}}"#),
        ("BREAKER_SLOW_S", "1500ms", #"{"breaker": {"slow_s": 1.5}}"#),
        ("LIMIT_MAX", "7", #"{"limit": {"max": 7}}"#),
        ("PACING_RATE_PER_S", "0.5", #"{"pacing": {"rate_per_s": 0.5}}"#),
        ("HEDGE_DELAY_S", "1", #"{"hedge": {"delay_s": 1}}"#),
    ])
    func theEnvironmentSaysWhatAFileSays(variable: String, text: String, json: String) throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: ["API_\(variable)": text])
        let settings = try Settings(config: ConfigReader(provider: provider).scoped(to: "api"))
        #expect(try settings == Settings(json: JSONValue(parsing: json)))
    }

    @Test(arguments: ["1", "0.5", "250ms"]) func oneDelayIsAListToo(text: String) throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: [
            "BACKOFF_KIND": "custom", "BACKOFF_DELAYS_S": text,
        ])
        let json = text.hasSuffix("s") ? "\"\(text)\"" : text
        let expected = try Settings(
            json: JSONValue(parsing: #"{"backoff": {"kind": "custom", "delays_s": [\#(json)]}}"#)
        )
        #expect(try Settings(config: ConfigReader(provider: provider)) == expected)
    }

    /// The word in the place of a group counts, whoever has said something in it.
    @Test func aGroupThatIsOffIsNotPutTogether() throws {
        let environment = EnvironmentVariablesProvider(environmentVariables: ["BREAKER": "off", "LIMIT": "off"])
        let file = InMemoryProvider(values: ["breaker.open_s": 30, "limit.max": 9])
        let settings = try Settings(config: ConfigReader(providers: [environment, file]), base: .pollyStandard)
        #expect(settings.breaker == nil && settings.limit == nil)
    }

    @Test func aTypedProviderHasNumbers() throws {
        let settings = try Settings(
            config: Self.reader([
                "deadline_s": 12, "budget.ratio": 0.25, "adaptive": ConfigValue(.bool(true), isSecret: false),
                "backoff.kind": "custom", "backoff.delays_s": ConfigValue(.doubleArray([0.5]), isSecret: false),
                "backoff.jitter": "full",
            ])
        )
        #expect(settings.deadline == .seconds(12) && settings.budget == .ratio(.init(ratio: 0.25, burst: 10)))
        #expect(settings.isAdaptive && settings.backoff == .custom([.milliseconds(500)], cap: .longest, jitter: .full))
    }

    /// What is said of a group changes nothing else in it.
    @Test func aPartOfAGroupLeavesTheRest() throws {
        let provider = EnvironmentVariablesProvider(environmentVariables: [
            "API_BREAKER_OPEN_S": "30", "API_BACKOFF_CAP_S": "5", "API_BUDGET_BURST": "3",
        ])
        var expected = Settings.interactive
        expected.breaker = .init(breakDuration: .seconds(30))
        expected.backoff.cap = .seconds(5)
        expected.budget = .ratio(.init(burst: 3))
        #expect(
            try Settings(config: ConfigReader(provider: provider).scoped(to: "api"), preset: "interactive") == expected
        )
    }

    /// Each form of a list that a provider may have.
    @Test(arguments: [
        ConfigContent.string("500ms,1s"), .stringArray(["500ms", "1s"]), .stringArray(["0.5", "1"]),
        .doubleArray([0.5, 1]), .stringArray(["0.5", "1s"]),
    ])
    func delaysAreTimesInEachForm(content: ConfigContent) throws {
        let config = Self.reader([
            "backoff.kind": "custom", "backoff.delays_s": ConfigValue(content, isSecret: false),
        ])
        #expect(try Settings(config: config).backoff == .custom([.milliseconds(500), .seconds(1)]))
    }

    @Test(
        arguments: [
            ("max_attempts", "many", "max_attempts is no number"), ("max_attempts", "0", "at least 1"),
            ("deadline_s", "3 days", #"deadline_s "3 days" is no time"#),
            ("adaptive", "perhaps", "adaptive is neither"),
            ("budget.model", "x", "one of none, ratio, aws, envoy, grpc, tower"),
            ("breaker.open_s", "-1", "below zero"),
            ("backoff.jitter", "some", #"backoff.jitter "some" is not known"#),
            ("backoff.jitter", "2", "backoff.jitter has to be 0 to 1"), ("backoff", "off", "such as backoff.kind"),
            ("max_wait_s", "off", #"max_wait_s "off" is no time"#),
            ("budget", "none", "such as budget.model"), ("pacing.rate_per_s", "0", "above 0"),
            ("budget.retry_cost", "200", "belongs to the model aws"),
        ]
    )
    func whatIsThereAndInvalidIsNamed(key: String, value: String, sentence: String) throws {
        let config = Self.reader([AbsoluteConfigKey(ConfigKey(key)): ConfigValue(.string(value), isSecret: false)])
        let error = #expect(throws: Settings.Invalid.self) { try Settings(config: config) }
        #expect(error?.key == key)
        #expect(error?.description.contains(sentence) == true, "\(error?.description ?? "")")
    }

    @Test func eachPolicyIsReadByItself() throws {
        let config = Self.reader([
            "b.base_s": "2s", "b.jitter": "none", "r.model": "aws", "r.capacity": 9, "c.kind": "count", "c.window": 5,
            "l.max": 3, "p.rate_per_s": 4, "h.delay_s": "1s",
        ])
        #expect(try Backoff(config: config.scoped(to: "b")).base == .seconds(2))
        #expect(try RetryBudget.Model(config: config.scoped(to: "r")) == .tokens(capacity: 9))
        #expect(try Recovery.CircuitBreaker.Configuration(config: config.scoped(to: "c")).window == .count(5))
        #expect(try Settings.Limit(config: config.scoped(to: "l")) == .init(.fixed(3)))
        #expect(try Settings.Pace(config: config.scoped(to: "p")) == .init(perSecond: 4))
        #expect(try Recovery.Hedging(config: config.scoped(to: "h")) == .init(after: .seconds(1)))
        let error = #expect(throws: Settings.Invalid.self) {
            try Settings.Pace(config: Self.reader(["rate_per_s": "fast"]))
        }
        #expect(error?.key == "pacing.rate_per_s")
    }

    @Test func aProgramsOwnSettingsMayHoldBelow() throws {
        var base = Settings.interactive
        base.breaker = .init()
        var expected = base
        expected.breaker?.breakDuration = .seconds(30)
        #expect(try Settings(config: Self.reader(["breaker.open_s": 30]), base: base) == expected)
        #expect(try Settings(config: Self.reader(["preset": "batch"]), base: base) == .batch)
    }

    @Test func whatStandsBesideThePolicyIsReadToo() throws {
        #expect(try Redirects(config: Self.reader([:])).limit == 10)
        #expect(try Redirects(config: Self.reader(["limit": 3])).limit == 3)
        #expect(try TokenManager.RenewalOptions(config: Self.reader([:])) == .init())
        let options = try TokenManager.RenewalOptions(
            config: Self.reader([
                "leeway_s": "2m", "timeout_s": 9, "lease_s": 1, "cooldown_s": "500ms", "limit": 2, "window_s": 7,
            ])
        )
        let expected = TokenManager.RenewalOptions(
            leeway: .seconds(120),
            timeout: .seconds(9),
            lease: .seconds(1),
            cooldown: .milliseconds(500),
            limit: 2,
            window: .seconds(7)
        )
        #expect(options == expected)
        _ = try Recovery.AnnouncedLimits(config: Self.reader(["per": "endpoint", "spacing_below": 0.5, "up_to_s": 60]))
        _ = try RecoveringClient.StaleAnswers(config: Self.reader(["for_s": "1h", "most_entries": 5, "most_bytes": 9]))
        func key(_ read: (ConfigReader) throws -> Void, _ key: AbsoluteConfigKey, _ value: ConfigValue) -> String? {
            #expect(throws: Settings.Invalid.self) { try read(Self.reader([key: value])) }?.key
        }
        #expect(key({ _ = try Redirects(config: $0) }, "limit", "many") == "limit")
        #expect(key({ _ = try Recovery.AnnouncedLimits(config: $0) }, "per", "user") == "per")
        #expect(key({ _ = try Recovery.AnnouncedLimits(config: $0) }, "spacing_below", 2) == "spacing_below")
        #expect(key({ _ = try RecoveringClient.StaleAnswers(config: $0) }, "most_bytes", -1) == "most_bytes")
        #expect(key({ _ = try TokenManager.RenewalOptions(config: $0) }, "lease_s", 0) == "lease_s")
        #expect(key({ _ = try TokenManager.RenewalOptions(config: $0) }, "timeout_s", "0s") == "timeout_s")
    }

    @Test func aSecretIsShownToNobody() throws {
        let reports = Reports()
        let provider = InMemoryProvider(values: ["oauth.client_secret": "hunter2", "deadline_s": 5])
        let config = ConfigReader(provider: provider, accessReporter: reports)
        #expect(try Secret(config: config, forKey: "oauth.client_secret").reveal() == "hunter2")
        #expect(try Settings(config: config).deadline == .seconds(5))
        let texts = reports.texts.withLock { $0 }
        #expect(texts.contains { $0.contains("oauth.client_secret") } && !texts.contains { $0.contains("hunter2") })
        let error = #expect(throws: Settings.Invalid.self) { try Secret(config: config, forKey: "none") }
        #expect(error?.key == "none")
    }

    private final class Reports: AccessReporter {
        let texts = Locked<[String]>([])

        func report(_ event: AccessEvent) {
            let result: String
            switch event.result {
            case .success(let value): result = value.map { "\($0)" } ?? "nothing"
            case .failure(let error): result = "\(error)"
            }
            texts.withLock { $0.append("\(event.metadata.key) \(result)") }
        }
    }
}
#endif
