import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Scenarios as `http-recover simulate` takes them.
@Suite struct SimulationTests {
    /// The answer to a scenario, in short: for each call its attempts' times and answers, its waits, its end.
    static func lines(_ scenario: String) throws -> [String] {
        let answer = Simulation.answer(to: try JSONValue(parsing: scenario))
        if let invalid = answer["invalid"]?.string { return [invalid] }
        return (answer["calls"]?.array ?? []).map { call in
            let attempts = (call["attempts"]?.array ?? []).map { attempt in
                let budget = attempt["budget_left"]?.number.map { " left \($0.text)" } ?? ""
                let breaker = attempt["breaker"]?.string.map { " \($0)" } ?? ""
                let status = attempt["status"]?.number?.text ?? attempt["error"]?.string ?? "-"
                return "\(attempt["at_s"]?.number?.text ?? "?"): \(status)\(budget)\(breaker)"
            }
            let waits = (call["waits"]?.array ?? []).map { "wait \($0["seconds"]?.number?.text ?? "?")" }
            let end = [call["outcome"], call["reason"]].compactMap { $0?.string }.joined(separator: " ")
            return (attempts + waits + ["\(call["ended_at_s"]?.number?.text ?? "?") \(end)"]).joined(separator: ", ")
        }
    }

    @Test func aCallThatIsRepeated() throws {
        let lines = try Self.lines(
            """
            {"options": {"max_attempts": 3, "backoff": {"base_s": 1, "jitter": "full"}}, "random": [0.5, 0.25],
             "calls": [{"answers": [{"status": 503}, {"error": "unknown", "after_s": 0.2}, {"status": 200}]}]}
            """
        )
        #expect(lines == ["0: 503, 0.5: unknown, 1.2: 200, wait 0.5, wait 0.5, 1.2 ok"])
    }

    @Test func whatIsStatedTakesThePlaceOfTheOwnDelay() throws {
        let lines = try Self.lines(
            """
            {"options": {"max_attempts": 5, "backoff": {"base_s": 1, "throttled_base_s": 4}}, "calls": [{"answers": [
              {"status": 429, "headers": {"Retry-After": "7"}}, {"status": 429, "headers": {"Retry-After": "0"}},
              {"status": 503}, {"status": 503, "headers": {"grpc-retry-pushback-ms": ["0"]}}, {"status": 200}]}]}
            """
        )
        #expect(lines == ["0: 429, 7: 429, 15: 503, 19: 503, 19: 200, wait 7, wait 8, wait 4, 19 ok"])
    }

    @Test func aPushbackBeginsTheBackoffAnew() throws {
        let lines = try Self.lines(
            """
            {"options": {"max_attempts": 9, "backoff": {"base_s": 1}}, "calls": [{"answers": [
              {"status": 503}, {"status": 503}, {"status": 503, "headers": {"grpc-retry-pushback-ms": "250"}},
              {"status": 503}, {"status": 503}, {"status": 200}]}]}
            """
        )
        #expect(
            lines == [
                "0: 503, 1: 503, 3: 503, 3.25: 503, 4.25: 503, 6.25: 200, wait 1, wait 2, wait 0.25, wait 1, wait 2, 6.25 ok"
            ]
        )
    }

    @Test func advisedWaitsAreClampedByThePresetThatSaysSo() throws {
        let lines = try Self.lines(
            """
            {"options": {"preset": "aws_standard", "max_attempts": 4, "backoff": null}, "random": [1, 1, 0.5], "calls": [
              {"answers": [{"status": 503, "headers": {"x-amz-retry-after": "1000"}},
                {"status": 503, "headers": {"x-amz-retry-after": "90000"}},
                {"status": 503, "headers": {"x-amz-retry-after": "1"}}, {"status": 200}]}]}
            """
        )
        #expect(
            lines == [
                "0: 503 left 495, 1: 503 left 490, 8: 503 left 485, 10: 200 left 490, wait 1, wait 7, wait 2, 10 ok"
            ]
        )
    }

    @Test func budgetsAreTold() throws {
        let ratio = try Self.lines(
            """
            {"options": {"max_attempts": 3, "budget": {"ratio": 0, "burst": 1}}, "calls": [
              {"answers": [{"status": 500}]}, {"at_s": 1, "answers": [{"status": 500}]}]}
            """
        )
        #expect(
            ratio == [
                "0: 500 left 0, 0: 500 left 0, 0 failed budget_exhausted", "1: 500 left 0, 1 failed budget_exhausted",
            ]
        )
        let aws = try Self.lines(
            """
            {"options": {"max_attempts": 3, "attempt_timeout_s": 2,
              "budget": {"model": "aws", "capacity": 30, "retry_cost": 5, "timeout_cost": 10, "throttle_cost": 3}},
             "calls": [{"answers": [{"status": 200, "after_s": 9}, {"status": 429}, {"status": 200}]}]}
            """
        )
        #expect(aws == ["0: unknown left 20, 2: 429 left 17, 2: 200 left 20, 2 ok"])
        let grpc = try Self.lines(
            """
            {"options": {"max_attempts": 3, "budget": {"model": "grpc", "max_tokens": 4, "token_ratio": 0.5}}, "calls": [
              {"answers": [{"status": 503}, {"status": 200}]}, {"at_s": 1, "answers": [{"status": 503}]}]}
            """
        )
        #expect(
            grpc == [
                "0: 503 left 3, 0: 200 left 3.5, 0 ok", "1: 503 left 2.5, 1: 503 left 1.5, 1 failed budget_exhausted",
            ]
        )
    }

    @Test func theFirstProvenRefusalIsFreeForGRPC() throws {
        let lines = try Self.lines(
            """
            {"options": {"preset": "grpc", "max_attempts": 2, "backoff": {"base_s": 1}}, "calls": [{"method": "POST", "answers": [
              {"error": "not_processed"}, {"error": "not_processed"}, {"status": 200}]}]}
            """
        )
        #expect(lines == ["0: not_processed left 10, 0: not_processed left 9, 1: 200 left 9.1, wait 1, 1 ok"])
    }

    @Test func aBreakerIsTold() throws {
        let lines = try Self.lines(
            """
            {"options": {"breaker": {"kind": "consecutive", "failures": 2, "open_s": 5}}, "calls": [
              {"answers": [{"status": 500}]}, {"at_s": 1, "answers": [{"status": 500}]}, {"at_s": 2},
              {"at_s": 6, "answers": [{"status": 200, "after_s": 1}]}, {"at_s": 6.5}, {"at_s": 8}]}
            """
        )
        #expect(
            lines == [
                "0: 500 closed, 0 failed attempts_exhausted", "1: 500 open, 1 failed attempts_exhausted",
                "2 failed breaker_open", "6: 200 closed, 7 ok", "6.5 failed breaker_open", "8: 200 closed, 8 ok",
            ]
        )
    }

    @Test func callsStandInLineAndKeepAPace() throws {
        let limit = try Self.lines(
            """
            {"options": {"limit": {"kind": "fixed", "max": 1, "queue": 2}}, "calls": [
              {"answers": [{"status": 200, "after_s": 1}]}, {"answers": [{"status": 200, "after_s": 1}]},
              {"priority": 5, "answers": [{"status": 200, "after_s": 1}]}, {}]}
            """
        )
        #expect(limit == ["0: 200, 1 ok", "2: 200, 3 ok", "1: 200, 2 ok", "0 failed limit_reached"])
        let pace = try Self.lines(
            #"{"options": {"pacing": {"rate_per_s": 2, "burst": 2}}, "calls": [{}, {}, {}, {}]}"#
        )
        #expect(pace == ["0: 200, 0 ok", "0: 200, 0 ok", "0.5: 200, wait 0.5, 0.5 ok", "1: 200, wait 1, 1 ok"])
    }

    @Test func hedgesRunBesideTheFirst() throws {
        let lines = try Self.lines(
            """
            {"options": {"hedge": {"delay_s": 1, "max": 3}, "budget": {"ratio": 0, "burst": 9}, "max_attempts": 9}, "calls": [
              {"answers": [{"status": 200, "after_s": 5}, {"status": 200, "after_s": 1.5}, {"status": 200, "after_s": 2}]},
              {"origin": "b", "answers": [{"status": 200, "after_s": 0.5}]},
              {"origin": "c", "answers": [{"status": 503, "after_s": 0.5}, {"status": 200, "after_s": 0.25}]},
              {"origin": "d", "answers": [{"status": 404, "after_s": 1.5}, {"status": 200, "after_s": 9}]},
              {"origin": "e", "method": "POST", "answers": [{"status": 200, "after_s": 5}]},
              {"origin": "f", "answers": [{"status": 503, "headers": {"Retry-After": "2"}, "after_s": 1.5},
                {"status": 500, "after_s": 1}, {"status": 200}]}]}
            """
        )
        #expect(
            lines == [
                "0: - left 7, 1: 200 left 7, 2: - left 7, 2.5 ok", "0: 200 left 9, 0.5 ok",
                "0: 503 left 8, 0.5: 200 left 8, 0.75 ok", "0: 404 left 8, 1: - left 8, 1.5 failed not_recoverable",
                "0: 200 left 9, 5 ok",
                "0: 503 left 7, 1: 500 left 7, 4: 200 left 8, wait 2, 4 ok",
            ]
        )
        let bounded = try Self.lines(
            """
            {"options": {"hedge": {"delay_s": 1, "max": 5}, "max_attempts": 2}, "calls": [
              {"answers": [{"status": 503, "after_s": 3}]}]}
            """
        )
        #expect(bounded == ["0: 503, 1: 503, 4 failed attempts_exhausted"])
        let broke = try Self.lines(
            """
            {"options": {"hedge": {"delay_s": 1, "max": 2}, "budget": {"ratio": 0, "burst": 0}}, "calls": [
              {"answers": [{"status": 200, "after_s": 3}]}]}
            """
        )
        #expect(broke == ["0: 200 left 0, 3 ok"])
    }

    @Test(arguments: [
        // A stop ends hedging, but nothing that is under way; the server's word stands if nothing better comes.
        (
            #"[{"status": 200, "after_s": 20}, {"status": 503, "headers": {"grpc-retry-pushback-ms": "-1"}}, {"status": 200}]"#,
            3, "0: 200, 1: 503, 20 ok"
        ),
        (
            #"[{"status": 503, "after_s": 5}, {"status": 503, "headers": {"x-should-retry": "false"}}, {"status": 200}]"#,
            3, "0: 503, 1: 503, 5 failed not_recoverable"
        ),
        // A pushback is the time of the next hedge.
        (
            #"[{"status": 200, "after_s": 20}, {"status": 503, "headers": {"grpc-retry-pushback-ms": "2500"}}, {"status": 204}]"#,
            3, "0: -, 1: 503, 3.5: 204, 3.5 ok"
        ),
        // The hedge behind one that went out early comes a whole delay later.
        (
            #"[{"status": 503, "after_s": 0.9}, {"status": 200, "after_s": 10}]"#,
            4, "0: 503, 0.9: 200, 1.9: -, 2.9: -, 10.9 ok"
        ),
    ])
    func hedgesKeepToWhatTheServerSays(answers: String, most: Int, expected: String) throws {
        let lines = try Self.lines(
            #"{"options": {"max_attempts": 4, "hedge": {"delay_s": 1, "max": \#(most)}}, "calls": [{"answers": \#(answers)}]}"#
        )
        #expect(lines == [expected])
    }

    /// What a hedge is told holds for all, while the first is still under way.
    @Test func whatAHedgeIsToldOthersHearAtOnce() throws {
        let lines = try Self.lines(
            """
            {"options": {"max_attempts": 3, "hedge": {"delay_s": 1, "max": 2}}, "calls": [
              {"answers": [{"status": 200, "after_s": 20}, {"status": 429, "headers": {"Retry-After": "9"}}]},
              {"at_s": 2, "answers": [{"status": 204}]}]}
            """
        )
        #expect(lines.count == 2 && lines[1].hasPrefix("10"))
    }

    @Test func aPresetsAttemptsEndWithTheCall() throws {
        let lines = try Self.lines(
            #"{"options": {"preset": "aws_standard", "deadline_s": 5}, "calls": [{"answers": [{"status": 200, "after_s": 9}]}]}"#
        )
        #expect(lines.count == 1 && lines[0].contains("5 failed"))
    }

    @Test func manyCallsHaveAnEnd() throws {
        var simulation = Simulation(.none)
        for second in 0..<20_500 { simulation.calls.append(.init(at: .seconds(second))) }
        #expect(try simulation.runOnThisThread().calls.count == 20_500)
    }

    @Test func boundsEndCalls() throws {
        let lines = try Self.lines(
            """
            {"options": {"max_attempts": 9, "deadline_s": 5, "max_wait_s": 3, "backoff": {"base_s": 1}}, "calls": [
              {"answers": [{"status": 503}]}, {"answers": [{"status": 200, "after_s": 6}]},
              {"answers": [{"status": 429, "headers": {"Retry-After": "4"}}], "origin": "b"},
              {"answers": [{"status": 429, "headers": {"Retry-After": "5"}}], "origin": "c"},
              {"method": "POST", "answers": [{"error": "unknown"}]},
              {"method": "POST", "key": "k", "answers": [{"error": "unknown"}, {"status": 200}]},
              {"method": "POST", "answers": [{"error": "never_sent"}, {"status": 200}]},
              {"cancel_at_s": 0.5, "answers": [{"status": 503}]}, {"answers": [{"status": 404}]}]}
            """
        )
        #expect(
            lines == [
                "0: 503, 1: 503, 3: 503, wait 1, wait 2, 3 failed deadline_would_pass",
                "0: unknown, 5 failed deadline_passed",
                "0: 429, 0 failed wait_exceeds_limit", "0: 429, 0 failed deadline_would_pass",
                "0: unknown, 0 failed method_not_idempotent", "0: unknown, 1: 200, wait 1, 1 ok",
                "0: never_sent, 1: 200, wait 1, 1 ok", "0: 503, wait 1, 0.5 cancelled",
                "0: 404, 0 failed not_recoverable",
            ]
        )
        let zero = try Self.lines(#"{"options": {"deadline_s": 0}, "calls": [{}]}"#)
        #expect(zero == ["0 failed deadline_passed"])
    }

    @Test(
        arguments: [
            ("[]", "the scenario is no object"),
            (
                #"{"calls": [], "x": 1}"#,
                #"the scenario has the unknown key "x"; known are calls, name, options, random"#
            ),
            (#"{"options": {}}"#, "the scenario has no calls"),
            (
                #"{"options": {"max_attempts": 0}, "calls": []}"#,
                "options.max_attempts is no whole number of at least 1"
            ),
            (
                #"{"options": {"preset": "x"}, "calls": []}"#,
                #"options.preset "x" is not known: it is one of aggressive, aws_standard, batch, grpc, interactive, none, "#
                    + "polly_standard, standard"
            ),
            (
                #"{"options": {"deadline_s": "5 minutes"}, "calls": []}"#,
                #"options.deadline_s "5 minutes" is no time: write seconds as a number, or "500ms", "30s", "2m", "1h""#
            ),
            (
                #"{"options": {"budget": {"model": "grpc", "token_ratio": 0}}, "calls": []}"#,
                "options.budget.token_ratio has to be at least 0.001: a success adds something"
            ),
            (
                #"{"options": {"budget": {"model": "tower", "ttl_s": 61}}, "calls": []}"#,
                "options.budget.ttl_s has to be 1 to 60 seconds"
            ),
            (#"{"calls": [{"answers": [{"status": 20}]}]}"#, "calls[0].answers[0].status is no status"),
            (
                #"{"options": {"budget": {"model": "grpc", "token_ratio": 0.0009}}, "calls": []}"#,
                "options.budget.token_ratio has to be at least 0.001: a success adds something"
            ),
            (
                #"{"calls": [{"answers": [{"status": 429, "headers": "retry-after: 5"}]}]}"#,
                "calls[0].answers[0].headers is no object"
            ),
            (
                #"{"calls": [{"answers": [{"status": 200, "error": "unknown"}]}]}"#,
                "calls[0].answers[0] has both an error and a status"
            ),
            (#"{"calls": [{"at_s": 5, "cancel_at_s": 1}]}"#, "calls[0] is cancelled before it begins"),
            (#"{"calls": [{"at_s": -1}]}"#, "calls[0].at_s is below zero"),
            (#"{"random": 2, "calls": []}"#, "random numbers are 0 to 1"),
            (
                #"{"options": {"deadline_s": 1, "attempt_timeout_s": 2}, "calls": []}"#,
                "options.attempt_timeout_s is at most options.deadline_s, which is 1.0 seconds: no attempt takes longer than its call"
            ),
            (
                #"{"options": {"backoff": {}}, "calls": [{"answers": [{"status": 503}]}]}"#,
                "the calls do not end within 20000 attempts: bound their attempts or their time"
            ),
            (
                // At the end of time no wait brings anybody on.
                """
                {"options": {"adaptive": true, "max_attempts": 3}, "calls": [
                    {"at_s": 1e16, "answers": [{"status": 429}, {"status": 200}]}, {"at_s": 1e17}]}
                """,
                "the calls never end: bound their attempts or their time"
            ),
        ]
    )
    func whatIsNoScenarioIsNamed(scenario: String, sentence: String) throws {
        #expect(try Self.lines(scenario) == [sentence])
    }

    @Test func theSameScenarioHasTheSameAnswer() async throws {
        var simulation = Simulation(.standard, random: [0.1, 0.9, 0.5])
        simulation.settings.limit = .init(.fixed(3))
        simulation.calls = (0..<50).map { index in
            var call = Simulation.Call(
                at: .milliseconds(index % 5),
                answers: [.status(503), .failure(.unknown), .status(200)]
            )
            call.answers[0].delay = .milliseconds(index * 7 % 11)
            return call
        }
        let first = try await simulation.run()
        for _ in 0..<5 { #expect(try await simulation.run() == first) }
    }

    @Test func aReportCanBeDrawn() throws {
        var simulation = Simulation(.standard)
        simulation.calls = [
            .init(answers: [.status(503, after: .seconds(1)), .failure(.unknown), .status(200)]), .init(),
        ]
        let svg = try simulation.runOnThisThread().plot(title: "<a & b>")
        #expect(svg.contains("&lt;a &amp; b&gt;") && svg.hasSuffix("</svg>\n"))
        #expect(svg.components("<rect x=") == 4 && svg.components("stroke-dasharray") == 2)
        let odd = try simulation.runOnThisThread().plot(title: "<\u{338}a&\u{301}b<\u{200D}c")
        #expect(odd.contains("&lt;\u{338}a&amp;\u{301}b&lt;\u{200D}c"))
    }
}

extension String {
    /// How often the text occurs.
    fileprivate func components(_ text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
