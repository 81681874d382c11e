import HTTPRecovery
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's rate limits")
struct OktaLimitTests {
    private static let date = ("Date", "Thu, 01 Jan 2026 00:00:00 GMT")
    private static let epoch: Int64 = 1_767_225_600

    private static func reset(_ seconds: Int64) -> (String, String) {
        ("x-rate-limit-reset", String(epoch + seconds))
    }

    private static let bucket = [("x-rate-limit-limit", "600"), ("x-rate-limit-remaining", "0")]

    /// Fields of a 429 with E0000047, and the delay that they state.
    static let stated: [(name: String, lines: [(String, String)], delay: Duration?)] = [
        ("a bucket", bucket + [date, reset(48)], .seconds(49)),
        ("in another case", [("X-Rate-Limit-Reset", String(epoch + 48)), date], .seconds(49)),
        ("two lines: the smaller one", bucket + [date, reset(48), reset(12)], .seconds(13)),
        ("two lines joined", bucket + [date, ("x-rate-limit-reset", "\(epoch + 48), \(epoch + 12)")], .seconds(13)),
        ("a line that is none", bucket + [date, ("x-rate-limit-reset", "soon"), reset(12)], .seconds(13)),
        ("a zero does not count", bucket + [date, ("x-rate-limit-reset", "0"), reset(12)], .seconds(13)),
        ("negative", bucket + [date, ("x-rate-limit-reset", "-5")], nil),
        ("passed", bucket + [date, reset(-90)], .seconds(1)),
        ("without a date the local clock counts", bucket + [reset(20)], .seconds(21)),
        ("the server's date counts", bucket + [("Date", "Thu, 01 Jan 2026 01:00:00 GMT"), reset(3620)], .seconds(21)),
        ("none", [date], nil),
        (
            "too many requests at once",
            [("x-rate-limit-limit", "0"), ("x-rate-limit-remaining", "0"), date, reset(40)], .seconds(1)
        ),
        ("Retry-After", bucket + [date, reset(48), ("Retry-After", "7")], .seconds(7)),
        ("Retry-After that is none", bucket + [date, reset(48), ("Retry-After", "nan")], .seconds(49)),
        (
            "more than a number holds", bucket + [date, ("x-rate-limit-reset", String(repeating: "9", count: 40))],
            .longest
        ),
    ]

    @Test(arguments: stated.indices)
    func theDelayIsWhatTheFieldsState(index: Int) {
        let (name, lines, delay) = Self.stated[index]
        let outcome = Recorded(status: 429, body: Recorded.error("E0000047"), lines: lines).outcome
        #expect(
            outcome.retryAfter.map { min($0, .seconds(1 << 40)) } == delay.map { min($0, .seconds(1 << 40)) },
            "\(name)"
        )
        #expect(
            outcome.kind == (delay.map { $0 >= .seconds(3600) } ?? false ? .quotaExhausted : .rateLimited),
            "\(name)"
        )
        #expect(outcome.scope == .origin)
        #expect(outcome.processed == .no)
    }

    /// Something is left of the org's limit: it is another one that was met, and it holds nobody else.
    @Test(arguments: [("0", Outcome.Scope.origin), ("1", .endpoint), ("599, 0", .origin), ("", .origin)])
    func aLimitHoldsAsMuchAsWasUsedUp(remaining: String, scope: Outcome.Scope) {
        let rest = remaining.isEmpty ? [] : [("x-rate-limit-remaining", remaining)]
        for body in [Recorded.error("E0000047"), #"{"error":"invalid_grant","error_description":"API call exceeded"}"#]
        {
            let lines = [("x-rate-limit-limit", "600"), Self.date, Self.reset(20)] + rest
            let outcome = Recorded(status: 429, body: body, lines: lines).outcome
            #expect(outcome.kind == .rateLimited && outcome.scope == scope)
            #expect(outcome.retryAfter == (remaining == "1" ? nil : .seconds(21)))
        }
    }

    /// The reset of the org's requests says nothing of the limit that was met beside a rest of them; a second one does.
    @Test func theResetOfWhatIsNotUsedUpStatesNothing() {
        let rest = [("x-rate-limit-limit", "600"), ("x-rate-limit-remaining", "599"), Self.date]
        let bodies = [Recorded.error("E0000047"), #"{"error":"invalid_grant","error_description":"rate limit"}"#, "{}"]
        for body in bodies {
            let one = Recorded(status: 429, body: body, lines: rest + [Self.reset(48)]).outcome
            #expect(one.kind == .rateLimited && one.scope == .endpoint && one.retryAfter == nil, "\(body)")
            let two = Recorded(status: 429, body: body, lines: rest + [Self.reset(48), Self.reset(12)]).outcome
            #expect(two.scope == .endpoint && two.retryAfter == .seconds(13), "\(body)")
        }
    }

    @Test func theFieldsOnOtherAnswersStateNothing() {
        let lines = Self.bucket + [Self.date, Self.reset(48)]
        for status in [200, 400, 401, 403, 404, 500, 503] {
            let body = status == 200 ? Recorded.state("MFA_REQUIRED") : Recorded.error("E0000068")
            #expect(Recorded(status: status, body: body, lines: lines).outcome.retryAfter == nil)
        }
    }

    @Test func aWindowIsWhatItsFieldsStateUnlessTheyCountSomethingElse() {
        let body = Recorded.error("E0000109")
        let full = Self.bucket + [Self.date, Self.reset(20)]
        #expect(Recorded(status: 429, body: body, lines: full).outcome.retryAfter == .seconds(21))
        let other = [("x-rate-limit-remaining", "500"), Self.date, Self.reset(48)]
        #expect(Recorded(status: 429, body: body, lines: other).outcome.retryAfter == .seconds(30))
    }

    @Test func aQuotaIsNotOverWhenItsMinuteIs() {
        for code in ["E0000146", "E0000147", "E0000186"] {
            let lines = Self.bucket + [Self.date, Self.reset(30)]
            let outcome = Recorded(status: 429, body: Recorded.error(code), lines: lines).outcome
            #expect(outcome.kind == .quotaExhausted)
            #expect(outcome.retryAfter == nil)
            #expect(!outcome.remedies.contains(.wait))
        }
    }

    /// Throttles in the clothes of something else.
    static let disguised: [Recorded] = [
        Recorded(
            status: 429,
            body:
                #"{"error":"invalid_grant","error_description":"API call exceeded rate limit due to too many requests."}"#,
            presented: .refresh,
            path: "/oauth2/v1/token"
        ),
        Recorded(
            status: 400,
            body: #"{"error":"invalid_grant","error_description":"API call exceeded rate limit"}"#,
            presented: .refresh,
            path: "/oauth2/default/v1/token"
        ),
        Recorded(status: 429, body: #"{"error":"too_many_user_codes"}"#, presented: .client, path: "/oauth2/v1/device"),
        Recorded(
            status: 429,
            body:
                #"{"version":"1.0.0","messages":{"type":"array","value":[{"message":"Too many","i18n":{"key":"tooManyRequests"},"class":"ERROR"}]}}"#,
            path: "/idp/idx/challenge/answer"
        ),
        Recorded(status: 429, body: "<html>", path: "/api/v1/users"),
        Recorded(status: 429, body: "", path: "/api/v1/users"),
        Recorded(status: 429, body: "{}"), Recorded(status: 429, body: "Too Many Requests"),
    ]

    @Test(arguments: disguised.indices)
    func aThrottleRefusesNothing(index: Int) {
        let outcome = Self.disguised[index].outcome
        #expect(outcome.kind == .rateLimited)
        #expect(outcome.tokenAction == .keep)
        #expect(outcome.remedies.first == .wait)
        #expect(outcome.processed == .no)
        #expect(outcome.credential == nil)
    }
}
