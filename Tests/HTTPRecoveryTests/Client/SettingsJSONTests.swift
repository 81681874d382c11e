import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A policy as JSON: the options of a simulated scenario, read by the same reader.
@Suite struct SettingsJSONTests {
    private typealias Settings = RecoveringClient.Settings

    private func settings(_ text: String) throws -> RecoveringClient.Settings {
        try RecoveringClient.Settings(json: JSONValue(parsing: text))
    }

    @Test(arguments: ["500ms", "0.5s"]) func aTimeMayHaveAUnit(text: String) throws {
        #expect(try settings(#"{"deadline_s": "\#(text)"}"#).deadline == .milliseconds(500))
    }

    @Test(arguments: [("30s", 30), ("2m", 120), ("1.5h", 5400), ("99999999999999999999h", Int64.max / 1000)])
    func aTimeIsSaturated(text: String, seconds: Int64) throws {
        #expect(try settings(#"{"max_wait_s": "\#(text)"}"#).maxWait == .seconds(seconds))
    }

    @Test func everyOptionIsRead() throws {
        let text = """
            {"preset": "standard", "max_attempts": 4, "deadline_s": 20, "max_wait_s": "15s", "attempt_timeout_s": 5,
             "idle_timeout_s": 2, "longest_lockout_s": "1m",
             "backoff": {"kind": "custom", "delays_s": [0.1, "2s"], "cap_s": 9, "advice_slack_s": 5, "jitter": "equal"},
             "throttled_backoff": {"base_s": 1, "factor": 3}, "budget": {"model": "envoy", "percent": 30, "floor": 1},
             "breaker": {"kind": "time", "window_s": "30s", "open_s": 4, "counts_refusals": true, "force": "closed"},
             "limit": {"max": 9, "queue": 2}, "pacing": {"rate_per_s": 3, "burst": 2}, "adaptive": true,
             "hedge": {"delay_s": "300ms", "max": 3, "quantile": 0.9}, "resends_transparently": true,
             "attempt_number": "amazon"}
            """
        var backoff = Backoff.custom([.milliseconds(100), .seconds(2)], cap: .seconds(9), jitter: .equal)
        backoff.adviceSlack = .seconds(5)
        let expected = Settings(
            deadline: .seconds(20),
            attemptTimeout: .seconds(5),
            idleTimeout: .seconds(2),
            maxAttempts: 4,
            maxWait: .seconds(15),
            backoff: backoff,
            // The rest is as the preset has it: the cap and the jitter of the standard delays after throttles.
            throttledBackoff: .exponential(base: .seconds(1), cap: .seconds(20), multiplier: 3, jitter: .equal),
            longestLockout: .seconds(60),
            budget: .inFlight(percent: 30, floor: 1),
            breaker: .init(
                window: .time(.seconds(30)),
                breakDuration: .seconds(4),
                countsRefusals: true
            ),
            breakerOverride: .closed,
            limit: .init(.fixed(9), queue: 2),
            pace: .init(perSecond: 3, burst: 2),
            isAdaptive: true,
            hedging: .init(after: .milliseconds(300), maxAttempts: 3, quantile: 0.9),
            resendsTransparently: true,
            attemptNumber: .amazon
        )
        #expect(try settings(text) == expected)
        #expect(try JSONValue(parsing: text).members?.map(\.key).sorted() == SettingsReader.optionKeys.sorted())
    }

    @Test(arguments: [
        #"{"preset": "standard"}"#, #"{"preset": "interactive"}"#,
        #"{"preset": "none", "budget": {}, "backoff": {"base_s": 1}, "max_attempts": 2}"#,
    ])
    func whatWasSimulatedIsWhatIsRun(options: String) throws {
        let simulation = try Simulation(scenario: JSONValue(parsing: #"{"options": \#(options), "calls": []}"#))
        #expect(try settings(options) == simulation.settings)
    }

    /// A policy that states one value has good ones for the rest; only a scenario begins with nothing.
    @Test func whatIsAbsentIsAsStandardHasIt() throws {
        #expect(try settings("{}") == .standard)
        var expected = Settings.standard
        expected.maxAttempts = 5
        #expect(try settings(#"{"max_attempts": 5}"#) == expected)
        let json = try JSONValue(parsing: #"{"budget": {"burst": 3}}"#)
        #expect(try Settings(json: json, base: .batch).maxAttempts == Settings.batch.maxAttempts)
        #expect(try Settings(json: JSONValue(parsing: #"{"preset": "grpc"}"#), base: .batch) == .grpc)
        let simulation = try Simulation(scenario: JSONValue(parsing: #"{"options": {"backoff": {}}, "calls": []}"#))
        #expect(simulation.settings.maxAttempts == .max && simulation.settings.deadline == nil)
    }

    @Test(
        arguments: [
            (#"{"retries": 3}"#, "retries", #"the policy has the unknown key "retries""#),
            (#"{"budget": {"rato": 1}}"#, "budget.rato", #"budget has the unknown key "rato"; known are "#),
            (#"{"max_attempts": 0}"#, "max_attempts", "max_attempts is no whole number of at least 1"),
            (#"{"budget": {"ratio": 2}}"#, "budget.ratio", "budget.ratio has to be 0 to 1"),
            (
                #"{"hedge": {"delay_s": 1, "quantile": 2}}"#, "hedge.quantile",
                "hedge.quantile has to be above 0 and below 1"
            ),
            (#"{"hedge": {}}"#, "hedge.delay_s", "hedge.delay_s is missing"),
            (
                #"{"deadline_s": "soon"}"#, "deadline_s",
                #"deadline_s "soon" is no time: write seconds as a number, or "#
            ),
            (
                #"{"limit": {"kind": "x"}}"#, "limit.kind",
                #"limit.kind "x" is not known: it is one of fixed, aimd, gradient2"#
            ),
        ]
    )
    func whatIsWrongIsNamed(text: String, key: String, sentence: String) throws {
        let error = #expect(throws: Settings.Invalid.self) { try settings(text) }
        #expect(error?.key == key)
        #expect(error?.description.hasPrefix(sentence) == true, "\(error?.description ?? "")")
    }
}
