import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Rules that meet each other in a scenario.
@Suite struct SimulationRuleTests {
    /// Proven to be unprocessed for the first time, a request is sent again for nothing, whether it is hedged or not.
    @Test(arguments: ["", #", "hedge": {"delay_s": 10, "max": 2}"#])
    func theFirstProvenRefusalIsFreeWithHedgesToo(hedge: String) throws {
        let lines = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 2, "backoff": {"base_s": 1}, "budget": {"model": "grpc"}\(hedge),
              "breaker": {"kind": "consecutive", "failures": 1, "open_s": 5}},
             "calls": [{"answers": [{"error": "not_processed", "after_s": 0.1}, {"status": 200}]}]}
            """
        )
        #expect(lines == ["0: not_processed left 10 closed, 0.1: 200 left 10 closed, 0.1 ok"])
    }

    /// RFC 9110 section 15.5.20, RFC 8470 section 5.2.
    @Test(arguments: [421, 425])
    func whatIsWorthOneRepetitionHasOneWithHedgesToo(status: Int) throws {
        for hedge in ["", #", "hedge": {"delay_s": 10, "max": 5}"#] {
            let lines = try SimulationTests.lines(
                """
                {"options": {"max_attempts": 8, "backoff": {"base_s": 0}\(hedge)},
                 "calls": [{"answers": [{"status": \(status), "after_s": 0.1}]}]}
                """
            )
            #expect(lines == ["0: \(status), 0.1: \(status), 0.2 failed not_recoverable"])
        }
    }

    @Test(arguments: [#""Retry-After": "0""#, ""])
    func aStatedZeroCountsAsNotStated(header: String) throws {
        let lines = try SimulationTests.lines(
            """
            {"options": {"preset": "standard"}, "random": 0.5,
             "calls": [{"answers": [{"status": 503, "headers": {\(header)}}, {"status": 200}]}]}
            """
        )
        #expect(lines[0].hasSuffix("wait 0.05, 0.05 ok"), "\(lines)")
        let hedged = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 5, "backoff": {"base_s": 5}, "hedge": {"delay_s": 10, "max": 3}},
             "calls": [{"answers": [{"status": 503, "headers": {\(header)}, "after_s": 1}, {"status": 200}]}]}
            """
        )
        #expect(hedged == ["0: 503, 1: 200, 1 ok"])
    }

    /// A delay by itself makes no refusal a passing one.
    @Test(arguments: ["0", "5", "7200"])
    func aRefusalIsNoLimitThoughItStatesATime(time: String) throws {
        let lines = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 2, "backoff": {"base_s": 5}},
             "calls": [{"answers": [{"status": 403, "headers": {"Retry-After": "\(time)"}}, {"status": 200}]}]}
            """
        )
        #expect(lines == ["0: 403, 0 failed not_recoverable"])
    }

    /// A limit over hours is one too.
    @Test(arguments: [3599, 3600])
    func aLimitOfAnyLengthIsCounted(wait: Int) throws {
        let lines = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 3, "backoff": {"base_s": 1}, "budget": {"model": "grpc", "max_tokens": 2}},
             "calls": [{"answers": [{"status": 429, "headers": {"Retry-After": "\(wait)"}}]}]}
            """
        )
        #expect(lines == ["0: 429 left 1, 0 failed budget_exhausted"])
        let limited = try SimulationTests.lines(
            """
            {"options": {"limit": {"kind": "aimd", "min": 1, "initial": 2, "max": 2}}, "calls": [
              {"answers": [{"status": 429, "headers": {"Retry-After": "\(wait)"}}]},
              {"origin": "a", "at_s": 4000, "answers": [{"status": 200, "after_s": 1}]},
              {"origin": "a", "at_s": 4000, "answers": [{"status": 200, "after_s": 1}]}]}
            """
        )
        #expect(limited.last == "4000 failed limit_reached", "\(limited)")
    }

    /// The numbers beside an attempt are those of the time when it had ended.
    @Test func whatStandsInLineIsToldAsItWas() throws {
        let lined = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 3, "backoff": {"base_s": 0}, "budget": {"model": "aws", "capacity": 20},
              "limit": {"kind": "fixed", "max": 1, "queue": 5}}, "calls": [
              {"cancel_at_s": 1.5, "answers": [{"status": 500, "after_s": 1}]},
              {"at_s": 0.5, "answers": [{"status": 200, "after_s": 2}]}]}
            """
        )
        #expect(lined.first == "0: 500 left 6, 1.5 cancelled", "\(lined)")
        let raced = try SimulationTests.lines(
            """
            {"options": {"max_attempts": 3, "hedge": {"delay_s": 0.5, "max": 2},
              "breaker": {"kind": "consecutive", "failures": 1, "open_s": 1}}, "calls": [
              {"answers": [{"status": 500, "after_s": 1}, {"status": 200, "after_s": 5}]},
              {"at_s": 1.5, "answers": [{"status": 200}]}]}
            """
        )
        #expect(raced.first?.hasPrefix("0: 500 open, 0.5: 200 ") == true, "\(raced)")
        #expect(raced.last == "1.5 failed breaker_open", "\(raced)")
    }

    /// As with a budget, what is absent bounds nothing.
    @Test func hedgesAloneHedge() throws {
        let lines = try SimulationTests.lines(
            #"{"options": {"hedge": {"delay_s": 0.25, "max": 3}}, "calls": [{"answers": [{"status": 200, "after_s": 1}]}]}"#
        )
        #expect(lines == ["0: 200, 0.25: -, 0.5: -, 1 ok"])
    }

    @Test func aFreeResendThatIsRefusedTellsWhatItWasFor() throws {
        let scenario = """
            {"options": {"max_attempts": 5, "backoff": {"base_s": 1}, "budget": {"model": "grpc"},
              "breaker": {"kind": "consecutive", "failures": 1, "open_s": 10}}, "calls": [
              {"answers": [{"error": "not_processed", "after_s": 2}]},
              {"at_s": 1, "method": "POST", "answers": [{"status": 500}]}]}
            """
        let call = Simulation.answer(to: try JSONValue(parsing: scenario))["calls"]?[0]
        #expect(call?["kind"]?.string == "transport" && call?["reason"]?.string == "breaker_open", "\(call ?? .null)")
    }
}
