import HTTPRecovery
import Testing

@testable import CommandLineSupport

@Suite("The timeline of --verbose")
struct TimelineTests {
    private static let now = Timestamp(secondsSinceEpoch: 1_893_456_000)

    private static func lost() -> Outcome {
        var outcome = Outcome(.transport, scope: .origin, processed: .unknown)
        outcome.transportError = TransportError(.connectionLost, .unknown, message: "s3cret")
        return outcome
    }

    private static func limited() -> Outcome {
        var outcome = Outcome(.rateLimited, scope: .origin, processed: .no, retryAfter: .seconds(300), status: 429)
        outcome.code = "too_many_requests"
        return outcome
    }

    static let rows: [(RecoveryEvent.Kind, String?)] = [
        (
            .attempt(number: 2, method: "GET", url: "https://h/a", transport: "curl"),
            "attempt 2: GET https://h/a (curl)"
        ),
        (.response(number: 2, status: 429, elapsed: .milliseconds(12)), "attempt 2: HTTP 429, 12 ms"),
        (
            .failure(number: 2, limited()),
            "attempt 2: rate limited too_many_requests; scope origin, processed: no, the server states 5 min"
        ),
        (.failure(number: 1, lost()), "attempt 1: transport: connection lost; scope origin, processed: unknown"),
        (
            .line(reason: .unavailable, atMost: .seconds(300), until: Self.now),
            "stands in line, for 5 min at most: unavailable"
        ),
        (.retry(number: 3, reason: .rateLimited), "attempt 3 follows: rate limited"),
        (.refresh(.joined), "token: joined"),
        (.clear(.access), "cleared: access"),
        (.fallback(from: "password", to: "email_code"), "falls back from password to email code"),
        (.challenge(kind: "totp", destination: nil), "asks for: totp"),
        (.challenge(kind: "email_code", destination: "ada@example.com"), "asks for: email code, a***@e***.com"),
        (
            .givingUp(limited(), reason: .waitExceedsLimit, retryAfter: .seconds(300), until: nil),
            "gives up: rate limited (wait exceeds limit), worth trying again in 5 min"
        ),
        (
            .done(.failed, attempts: 1, waited: .zero, elapsed: .milliseconds(7)),
            "done: failed, 1 attempt, waited 0 ms of 7 ms"
        ),
        (
            .done(.ok, attempts: 2, waited: .seconds(2), elapsed: .milliseconds(2500)),
            "done: ok, 2 attempts, waited 2 s of 2.5 s"
        ),
        (.store(.available), nil),
    ]

    @Test(arguments: rows.indices)
    func eachEventIsALine(index: Int) {
        let (kind, text) = Self.rows[index]
        #expect(Timeline.text(kind, now: Self.now) == text)
    }

    @Test func aWaitSaysUntilWhen() throws {
        let wait = RecoveryEvent.Kind.wait(
            reason: .accountLocked,
            duration: .milliseconds(250),
            until: Self.now.advanced(by: .milliseconds(250))
        )
        let text = try #require(Timeline.text(wait, now: Self.now))
        #expect(text.hasPrefix("wait 250 ms, until ") && text.hasSuffix(": account locked"))
    }

    @Test(arguments: [
        (Duration.zero, "   0.000"), (.milliseconds(12_345), "  12.345"), (.seconds(100_000), "100000.000"),
        (.seconds(-1), "   0.000"),
    ])
    func stampsStandBelowEachOther(duration: Duration, text: String) {
        #expect(Timeline.stamp(duration) == text)
    }
}
