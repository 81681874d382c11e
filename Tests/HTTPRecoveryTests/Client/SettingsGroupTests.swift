import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A group of which a part is said: the rest of it is as the preset has it, or as the library has it.
@Suite struct SettingsGroupTests {
    private typealias Settings = RecoveringClient.Settings

    private func settings(_ text: String, base: RecoveringClient.Settings = .standard) throws -> Settings {
        try Settings(json: JSONValue(parsing: text), base: base)
    }

    /// One value that is said, and what has to change in the preset for it.
    private static let changes: [(String, Settings, @Sendable (inout Settings) -> Void)] = [
        (#""backoff": {"cap_s": 5}"#, .standard, { $0.backoff.cap = .seconds(5) }),
        (#""backoff": {"jitter": "none"}"#, .grpc, { $0.backoff.jitter = .none }),
        (#""backoff": {"base_s": "80ms"}"#, .awsStandard, { $0.backoff.base = .milliseconds(80) }),
        (#""backoff": {"factor": 3}"#, .pollyStandard, { $0.backoff.growth = .exponential(multiplier: 3) }),
        (#""backoff": {}"#, .interactive, { _ in }),
        (
            #""backoff": {"throttled_base_s": 2}"#, .standard,
            {
                $0.backoff.throttledBase = .seconds(2)
                $0.throttledBackoff = nil
            }
        ),
        (#""throttled_backoff": {"cap_s": 9}"#, .interactive, { $0.throttledBackoff?.cap = .seconds(9) }),
        (
            #""throttled_backoff": {"cap_s": 9}"#, .awsStandard,
            {
                var backoff = $0.backoff
                (backoff.base, backoff.throttledBase, backoff.cap) = (.seconds(1), nil, .seconds(9))
                $0.throttledBackoff = backoff
            }
        ),
        (#""budget": {"retry_cost": 200}"#, .awsStandard, { $0.budget = .tokens(retryCost: 200) }),
        (#""budget": {"burst": 3}"#, .aggressive, { $0.budget = .ratio(.init(ratio: 0.5, burst: 3)) }),
        (#""budget": {"max_tokens": 7}"#, .grpc, { $0.budget = .throttle(maxTokens: 7) }),
        (#""budget": {}"#, .pollyStandard, { _ in }),
        (#""breaker": {"open_s": 30}"#, .pollyStandard, { $0.breaker?.breakDuration = .seconds(30) }),
        (#""breaker": {"failures": 5}"#, .pollyStandard, { $0.breaker?.failures = 5 }),
        (#""breaker": {"window_s": 40}"#, .pollyStandard, { $0.breaker?.window = .time(.seconds(40)) }),
        (#""breaker": {"buckets": 0}"#, .pollyStandard, { $0.breaker?.window = .time(.seconds(30), buckets: nil) }),
        (#""breaker": {"force": "open"}"#, .pollyStandard, { $0.breakerOverride = .open }),
        (#""breaker": {"shared": true}"#, .pollyStandard, { $0.isBreakerShared = true }),
        (#""backoff": {"jitter": 0.25}"#, .standard, { $0.backoff.jitter = .plusMinus(0.25) }),
        (
            #""limit": {"kind": "aimd", "backoff_ratio": 0.5, "timeout_s": "2s"}"#, .standard,
            { $0.limit = .init(.aimd(backoffRatio: 0.5, timeout: .seconds(2))) }
        ),
        (#""deadline_s": "off""#, .standard, { $0.deadline = nil }),
        (#""attempt_timeout_s": "off""#, .pollyStandard, { $0.attemptTimeout = nil }),
        (#""longest_lockout_s": "off""#, .interactive, { $0.longestLockout = nil }),
        (#""attempt_number": "off""#, .awsStandard, { $0.attemptNumber = nil }),
        (#""breaker": "off""#, .pollyStandard, { $0.breaker = nil }),
        (#""limit": "off""#, .pollyStandard, { $0.limit = nil }),
        (#""budget": "off""#, .aggressive, { $0.budget = .unlimited }),
        (#""throttled_backoff": "off""#, .standard, { $0.throttledBackoff = nil }),
        (#""backoff": {"throttled_base_s": "off"}"#, .awsStandard, { $0.backoff.throttledBase = nil }),
        (#""backoff": {"advice_slack_s": "off"}"#, .awsStandard, { $0.backoff.adviceSlack = nil }),
        (
            #""breaker": {"ratio": "off", "failures": 5}"#, .pollyStandard,
            {
                $0.breaker?.failureRatio = nil
                $0.breaker?.failures = 5
            }
        ),
        (#""max_attempts": 4"#, .grpc, { $0.maxAttempts = 4 }),
        // As gRPC has it (proposal A6), whether by its preset or by the program's settings.
        (#""max_attempts": 9"#, .grpc, { $0.maxAttempts = 5 }),
        (
            #""max_attempts": 9, "attempt_number": "off""#, .grpc,
            { ($0.maxAttempts, $0.attemptNumber) = (9, nil) }
        ),
        (
            #""budget": {"model": "grpc"}"#, .standard,
            { ($0.budget, $0.resendsTransparently) = (.throttle(), true) }
        ),
        (
            #""budget": {"model": "grpc"}, "resends_transparently": false"#, .standard, { $0.budget = .throttle() }
        ),
        (#""breaker": {"open_s": 30}"#, .interactive, { $0.breaker = .init(breakDuration: .seconds(30)) }),
        (#""breaker": {}"#, .interactive, { $0.breaker = .init() }),
        (#""breaker": {"failures": 5}"#, .interactive, { $0.breaker = .consecutive(5) }),
        (#""breaker": {"window": 50}"#, .interactive, { $0.breaker = .init(window: .count(50)) }),
        (#""limit": {"queue": 4}"#, .pollyStandard, { $0.limit?.queue = 4 }),
        (#""limit": {"max": 4}"#, .pollyStandard, { $0.limit = .init(.fixed(4), queue: 0) }),
        (#""limit": {"max": 4}"#, .standard, { $0.limit = .init(.fixed(4)) }),
        (
            #""limit": {"kind": "aimd", "max": 10}"#, .standard,
            { $0.limit = .init(.aimd(initial: 10, min: 10, max: 10)) }
        ),
    ]

    @Test(arguments: changes.indices) func whatIsNotSaidIsAsThePresetHasIt(index: Int) throws {
        let (text, base, change) = Self.changes[index]
        let presets = [
            "standard": Settings.standard, "aggressive": .aggressive, "interactive": .interactive, "grpc": .grpc,
            "aws_standard": .awsStandard, "polly_standard": .pollyStandard,
        ]
        let name = try #require(presets.first { $0.value == base }?.key)
        #expect(try settings("{\(text)}", base: base) == settings(#"{"preset": "\#(name)", \#(text)}"#))
        var expected = base
        change(&expected)
        #expect(try settings(#"{"preset": "\#(name)", \#(text)}"#) == expected)
    }

    /// A group of another kind begins with what the library has.
    @Test func anotherKindBeginsAnew() throws {
        #expect(try settings(#"{"backoff": {"kind": "linear"}}"#, base: .interactive).backoff == .linear())
        let constant = try settings(#"{"backoff": {"kind": "constant", "base_s": 30}}"#, base: .interactive).backoff
        #expect(constant == .constant(.seconds(30)))
        #expect(try settings(#"{"budget": {"model": "aws"}}"#, base: .aggressive).budget == .tokens())
        let count = try settings(#"{"breaker": {"kind": "count"}}"#, base: .pollyStandard).breaker
        #expect(count == .init(window: .count(100)))
        let time = try settings(#"{"breaker": {"kind": "time", "failures": 3}}"#).breaker
        #expect(time == .init(failures: 3, failureRatio: nil))
        #expect(
            try settings(#"{"limit": {"kind": "gradient2", "min": 30}}"#, base: .pollyStandard).limit
                == .init(.gradient2(initial: 30, min: 30, max: 200))
        )
    }

    /// What is not said of a group stays, though nothing but the program has set it.
    @Test func whatAProgramHasSetStays() throws {
        var base = Settings.standard
        base.backoff = .exponential(jitter: .plusMinus(0.25))
        base.limit = .init(.aimd(initial: 5, min: 2, max: 9, backoffRatio: 0.5, timeout: .seconds(2)), queue: 7)
        base.pace = .init(perSecond: 5, burst: 4)
        base.hedging = .init(after: .seconds(1), maxAttempts: 4, quantile: 0.9)
        var expected = base
        expected.backoff.cap = .seconds(5)
        expected.limit = .init(.aimd(initial: 5, min: 2, max: 30, backoffRatio: 0.5, timeout: .seconds(2)), queue: 7)
        expected.pace?.burst = 6
        expected.hedging?.maxAttempts = 3
        let text = """
            {"backoff": {"cap_s": 5}, "limit": {"max": 30}, "pacing": {"burst": 6}, "hedge": {"max": 3}}
            """
        #expect(try settings(text, base: base) == expected)
    }

    /// What only a program has is switched off by the same word.
    @Test func whatAProgramHasIsSwitchedOff() throws {
        var base = Settings.pollyStandard
        base.idleTimeout = .seconds(2)
        base.breaker?.failures = 9
        base.breaker?.slowThreshold = .seconds(1)
        base.breaker?.slowRatio = 0.5
        base.breaker?.successThreshold = 3
        base.breakerOverride = .metricsOnly
        base.budget = .tokens(timeoutCost: 20)
        base.pace = .init(perSecond: 5)
        base.hedging = .init(after: .seconds(1), quantile: 0.9)
        var expected = base
        expected.idleTimeout = nil
        expected.breaker = .init(
            window: .time(.seconds(30)),
            failureRatio: 0.1,
            minimumCalls: 100,
            breakDuration: .seconds(5),
            countsRefusals: true
        )
        expected.breakerOverride = nil
        expected.budget = .tokens()
        expected.pace = nil
        expected.hedging?.quantile = nil
        let text = """
            {"idle_timeout_s": "off", "pacing": "off", "hedge": {"quantile": "off"}, "budget": {"timeout_cost": "off"},
             "breaker": {"failures": "off", "slow_s": "off", "slow_ratio": "off", "success_threshold": "off", "force": "off"}}
            """
        #expect(try settings(text, base: base) == expected)
        expected = base
        (expected.hedging, expected.breaker, expected.breakerOverride) = (nil, nil, nil)
        #expect(try settings(#"{"hedge": "off", "breaker": "off"}"#, base: base) == expected)
    }

    /// In a scenario that names no preset, what is absent is off, and a group may have keys of any kind.
    @Test func aScenarioBeginsWithNothing() throws {
        let options = """
            {"backoff": {"kind": "constant", "base_s": 1, "factor": 3}, "breaker": {"ratio": 0.5}, "budget": {"burst": 3},
             "limit": {"max": 2, "min": 1, "initial": 1}, "max_attempts": 3}
            """
        let simulation = try Simulation(scenario: JSONValue(parsing: #"{"options": \#(options), "calls": []}"#))
        var expected = Settings(
            deadline: nil,
            attemptTimeout: nil,
            maxAttempts: 3,
            maxWait: .longest,
            backoff: .constant(.seconds(1), cap: .longest),
            throttledBackoff: nil,
            longestLockout: .longest,
            budget: .ratio(.init(burst: 3)),
            limit: .init(.fixed(2), queue: 0)
        )
        expected.breaker = .init(window: .count(100), minimumCalls: 1, longestBreak: .longest)
        #expect(simulation.settings == expected)
    }

    @Test(
        arguments: [
            (#"{"pacing": {"rate_per_s": 0}}"#, "pacing.rate_per_s", "above 0"),
            (#"{"pacing": {}}"#, "pacing.rate_per_s", "is missing"),
            (#"{"attempt_timeout_s": 0}"#, "attempt_timeout_s", "above zero"),
            (#"{"attempt_timeout_s": 90}"#, "attempt_timeout_s", "at most deadline_s"),
            (#"{"idle_timeout_s": 0}"#, "idle_timeout_s", "above zero"),
            (#"{"idle_timeout_s": 40}"#, "idle_timeout_s", "below attempt_timeout_s"),
            (#"{"hedge": {"delay_s": 1, "quantile": 5}}"#, "hedge.quantile", "above 0 and below 1"),
            (#"{"budget": {"model": "envoy", "percent": -5}}"#, "budget.percent", "at least 0"),
            (#"{"budget": {"model": "tower", "percent": -5}}"#, "budget.percent", "0 to 100000"),
            (#"{"budget": {"model": "tower", "ttl_s": 61}}"#, "budget.ttl_s", "1 to 60 seconds"),
            (#"{"budget": {"model": "grpc", "max_tokens": 1001}}"#, "budget.max_tokens", "from 1 to 1000"),
            (#"{"budget": {"model": "grpc", "token_ratio": 0}}"#, "budget.token_ratio", "at least 0.001"),
            (#"{"limit": {"kind": "aimd", "min": 9, "max": 3}}"#, "limit.min", "at most limit.max, which is 3"),
            (#"{"limit": {"kind": "aimd", "initial": 9, "max": 3}}"#, "limit.initial", "at most limit.max"),
            (#"{"limit": {"kind": "gradient2", "initial": 9, "min": 30}}"#, "limit.initial", "at least limit.min"),
            (#"{"breaker": {"ratio": 2}}"#, "breaker.ratio", "above 0 and at most 1"),
            (#"{"breaker": {"slow_ratio": 0.5}}"#, "breaker.slow_s", "is missing"),
            (#"{"breaker": {"open_s": 0}}"#, "breaker.open_s", "above zero"),
            (#"{"breaker": {"window_s": 0}}"#, "breaker.window_s", "above zero"),
            (#"{"breaker": {"window_s": 9}}"#, "breaker.window_s", "at least twice attempt_timeout_s"),
            (#"{"breaker": {"open_factor": 0.5}}"#, "breaker.open_factor", "at least 1"),
            (#"{"budget": "none"}"#, "budget", "such as budget.model"),
            (#"{"budget": {"retry_cost": 3}}"#, "budget.retry_cost", "aws, not to ratio, which holds as budget.model"),
            (#"{"budget": {"model": "aws", "ratio": 0.5}}"#, "budget.ratio", "belongs to the model ratio, not to aws"),
            (#"{"budget": {"model": "none", "percent": 5}}"#, "budget.percent", "envoy or tower, not to none"),
            (
                #"{"breaker": {"kind": "consecutive", "ratio": 0.5}}"#, "breaker.ratio",
                "count or time, not to consecutive"
            ),
            (#"{"breaker": {"kind": "time", "window": 5}}"#, "breaker.window", "belongs to the kind count"),
            (#"{"backoff": {"kind": "constant", "factor": 3}}"#, "backoff.factor", "exponential, not to constant"),
            (#"{"backoff": {"kind": "constant"}}"#, "backoff.base_s", "is missing"),
            (#"{"backoff": {"jitter": 1.5}}"#, "backoff.jitter", "0 to 1"),
            (#"{"backoff": {"jitter": [0.5]}}"#, "backoff.jitter", "a least and a greatest factor"),
            (#"{"backoff": {"base_s": "off"}}"#, "backoff.base_s", "is no time"),
            (#"{"breaker": {"kind": "consecutive", "shared": 1}}"#, "breaker.shared", "neither true nor false"),
            (#"{"limit": {"kind": "aimd", "backoff_ratio": 1}}"#, "limit.backoff_ratio", "above 0 and below 1"),
            (#"{"limit": {"kind": "aimd", "timeout_s": 0}}"#, "limit.timeout_s", "above zero"),
            (#"{"limit": {"max": 9, "timeout_s": 1}}"#, "limit.timeout_s", "aimd, not to fixed"),
            (#"{"backoff": {"delays_s": [1]}}"#, "backoff.delays_s", "custom, not to exponential"),
            (#"{"backoff": {"kind": "custom"}}"#, "backoff.delays_s", "is missing"),
            (#"{"backoff": {"kind": "custom", "delays_s": []}}"#, "backoff.delays_s", "at least one time"),
            (#"{"backoff": {"kind": "custom", "delays_s": ""}}"#, "backoff.delays_s", "is no time"),
            (#"{"backoff": {"kind": "custom", "delays_s": "1s,soon"}}"#, "backoff.delays_s", "is no time"),
            (#"{"backoff": {"kind": "custom", "delays_s": "-1"}}"#, "backoff.delays_s", "below zero"),
            (#"{"limit": {"kind": "fixed", "max": 3, "initial": 2}}"#, "limit.initial", "aimd or gradient2"),
        ]
    )
    func whatCannotBeIsNamedByItsKey(text: String, key: String, words: String) throws {
        let error = #expect(throws: Settings.Invalid.self) { try settings(text) }
        #expect(error?.key == key)
        let description = error?.description ?? ""
        #expect(description.hasPrefix(key) && description.contains(words), "\(description)")
    }

    @Test func delaysMayBeATextWithCommas() throws {
        let backoff = try settings(#"{"backoff": {"kind": "custom", "delays_s": "500ms, 1s,2"}}"#).backoff
        #expect(backoff == .custom([.milliseconds(500), .seconds(1), .seconds(2)]))
    }
}
