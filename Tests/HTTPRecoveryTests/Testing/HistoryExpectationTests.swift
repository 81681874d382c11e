import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite struct HistoryExpectationTests {
    /// A call that waits for a limit, meets an outage and is given up.
    private func history() async throws -> History {
        let bench = Bench([.status(429, ["retry-after": "20"])], then: .status(503))
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        return try #require(error?.history)
    }

    @Test func whatTheCallHasDoneIsExpected() async throws {
        let history = try await history()
        try history.expect()
        try history.expect(.givenUp(.attemptsExhausted))
        try history.expect(.retry(because: .rateLimited), .retry(because: .unavailable))
        try history.expect(
            .attempt(because: .call, .rateLimited, status: 429),
            .wait(because: .rateLimited, atLeast: .seconds(20)),
            .retry(because: .rateLimited, status: 503),
            .wait(because: .unavailable, atMost: .seconds(5)),
            .attempt(because: .retry(after: .unavailable)),
            .givenUp(.attemptsExhausted),
            andNothingElse: true
        )
    }

    @Test(arguments: [
        ([History.Expectation.repair()], "the call lacks a repair that succeeded, from the start"),
        ([.repair("sign_in", succeeded: false)], "the call lacks the repair sign_in that failed, from the start"),
        (
            [.givenUp(.budgetExhausted)],
            "the call lacks that it was given up because of budget_exhausted, from the start"
        ),
        (
            [.attempt(because: .hedge, .ok, status: 200)],
            "the call lacks an attempt because of hedge that came to ok answered with 200, from the start"
        ),
        (
            [.retry(because: .unavailable), .retry(because: .rateLimited)],
            "the call lacks an attempt because of rate_limited, after line 5"
        ),
        (
            [
                .wait(because: .rateLimited, atLeast: .seconds(20), atMost: .seconds(60)),
                .wait(atLeast: .seconds(120)),
            ],
            "the call lacks a wait of at least 120.0 seconds, after line 2"
        ),
    ])
    func whatIsMissingIsTold(expected: [History.Expectation], problem: String) async throws {
        let history = try await history()
        let error = #expect(throws: History.Unexpected.self) {
            switch expected.count {
            case 1: try history.expect(expected[0])
            default: try history.expect(expected[0], expected[1])
            }
        }
        #expect(error?.problem == problem)
        let first = "it has done this:\n    1. attempt because of call: rate_limited, status 429\n"
        #expect(error?.description.contains(first) == true)
        #expect(error?.story.last == "6. given up because of attempts_exhausted" && error?.story.count == 6)
    }

    @Test func whatIsTooMuchIsTold() async throws {
        let history = try await history()
        let between = #expect(throws: History.Unexpected.self) {
            try history.expect(.attempt(), .attempt(), andNothingElse: true)
        }
        #expect(between?.problem == "line 2 is not an attempt")
        let after = #expect(throws: History.Unexpected.self) { try history.expect(.attempt(), andNothingElse: true) }
        #expect(after?.problem == "line 2 was not expected")
        let none = #expect(throws: History.Unexpected.self) { try History().expect(.attempt()) }
        #expect(none?.description == "the call lacks an attempt, from the start; it has done this: nothing")
    }
}
