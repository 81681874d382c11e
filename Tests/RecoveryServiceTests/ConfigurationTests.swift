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
            "HTTP_BACKOFF_KIND": "custom", "HTTP_BACKOFF_DELAYS_S": "0.25,1", "HTTP_BUDGET_RATIO": "0.5",
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

    @Test(
        arguments: [
            ("max_attempts", "many", "max_attempts is no number"), ("max_attempts", "0", "at least 1"),
            ("deadline_s", "3 days", #"deadline_s "3 days" is no time"#),
            ("adaptive", "perhaps", "adaptive is neither"),
            ("budget.model", "x", "one of none, ratio, aws, envoy, grpc, tower"),
            ("breaker.open_s", "-1", "below zero"),
            ("backoff.jitter", "1", #"backoff.jitter "1" is not known"#),
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
        #expect(try Settings.Limit(config: config.scoped(to: "l")) == .init(.fixed(3), queue: 0))
        #expect(try Settings.Pace(config: config.scoped(to: "p")) == .init(perSecond: 4))
        #expect(try Recovery.Hedging(config: config.scoped(to: "h")) == .init(after: .seconds(1)))
        let error = #expect(throws: Settings.Invalid.self) {
            try Settings.Pace(config: Self.reader(["rate_per_s": "fast"]))
        }
        #expect(error?.key == "pacing.rate_per_s")
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
