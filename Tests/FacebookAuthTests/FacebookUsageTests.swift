import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Facebook's limits")
struct FacebookUsageTests {
    private static let business = "x-business-use-case-usage"
    private static let account = "x-ad-account-usage"

    private static func entry(_ type: String, _ minutes: String) -> String {
        #"{"type":"\#(type)","call_count":100,"total_cputime":1,"total_time":2,"estimated_time_to_regain_access":\#(minutes)}"#
    }

    /// A code, its header fields, and the time that they state.
    static let waits: [(Int, [(String, String)], Duration?)] = [
        (80_004, [(business, #"{"1":[\#(entry("ads_management", "10"))]}"#)], .seconds(600)),
        (80_004, [(business, #"{"1":[\#(entry("ads_management", #""10""#))]}"#)], .seconds(600)),
        // The type of the code counts, and of several the longest.
        (
            80_004,
            [(business, #"{"1":[\#(entry("ads_insights", "50")),\#(entry("ads_management", "5"))]}"#)], .seconds(300)
        ),
        (
            80_000,
            [
                (
                    business,
                    #"{"1":[\#(entry("ads_insights", "5"))],"2":[\#(entry("ads_insights", "7"))],"3":[\#(entry("pages", "9"))]}"#
                )
            ],
            .seconds(420)
        ),
        // A key that is repeated hides nothing.
        (80_001, [(business, #"{"1":[\#(entry("pages", "8"))],"1":[\#(entry("pages", "3"))]}"#)], .seconds(480)),
        // Without the type the longest of all.
        (4, [(business, #"{"1":[\#(entry("ads_insights", "5")),\#(entry("pages", "9"))]}"#)], .seconds(540)),
        (80_005, [(business, #"{"1":[\#(entry("pages", "0.5"))]}"#)], .seconds(30)),
        (80_008, [(business, #"{"1":[\#(entry("whatsapp_business", "2"))]}"#)], .seconds(120)),
        // Retry-After before all of them.
        (80_004, [(business, #"{"1":[\#(entry("ads_management", "10"))]}"#), ("retry-after", "7")], .seconds(7)),
        (17, [(account, #"{"acc_id_util_pct":100,"reset_time_duration":300}"#)], .seconds(300)),
        (
            17,
            [
                (account, #"{"acc_id_util_pct":100,"reset_time_duration":300}"#),
                (business, #"{"1":[\#(entry("pages", "1"))]}"#),
            ],
            .seconds(60)
        ),
        // Nothing that can be read is nothing that is stated.
        (4, [("x-app-usage", #"{"call_count":100}"#)], nil), (4, [(business, "{}")], nil), (4, [(business, "{")], nil),
        (4, [(business, #"{"1":[\#(entry("pages", "0"))]}"#)], nil),
        (4, [(business, #"{"1":[\#(entry("pages", "-5"))]}"#)], nil),
        (4, [(business, #"{"1":[\#(entry("pages", #""nan""#))]}"#)], nil), (4, [(account, "")], nil),
        (4, [("retry-after", "soon")], nil), (4, [("x-ratelimit-reset", "5"), ("x-ratelimit-remaining", "0")], nil),
    ]

    @Test(arguments: waits.indices)
    func theStatedTimeIsFound(index: Int) {
        let (code, lines, wait) = Self.waits[index]
        for status in [200, 400, 403] {
            let outcome = Recorded(status: status, body: Recorded.error(code), lines: lines).outcome
            #expect(outcome.retryAfter == wait)
            #expect(outcome.kind == .rateLimited)
        }
    }

    private static func keys(_ type: String, _ keys: (String, Int)...) -> [(String, String)] {
        let members = keys.map { #""\#($0.0)":[\#(entry(type, String($0.1)))]"# }
        return [(business, "{\(members.joined(separator: ","))}")]
    }

    /// A path, a code, what is reported for which objects, and the time that is the call's own.
    static let owned: [(path: String, code: Int, lines: [(String, String)], wait: Duration?)] = [
        ("/v19.0/100/feed", 80_001, keys("pages", ("200", 50), ("100", 2)), .seconds(120)),
        ("/v19.0/100_7", 80_001, keys("pages", ("200", 50), ("100", 2)), .seconds(120)),
        ("/v19.0/act_1/campaigns", 80_004, keys("ads_management", ("2", 50), ("1", 2)), .seconds(120)),
        ("/v19.0/act_1/campaigns", 80_004, keys("ads_management", ("2", 50), ("act_1", 2)), .seconds(120)),
        // The limits of others alone.
        ("/v19.0/100/feed", 80_001, keys("pages", ("200", 50)), nil),
        ("/v19.0/act_1", 80_004, keys("ads_management", ("2", 50)), nil),
        ("/v19.0/901", 80_004, keys("ads_management", ("2", 50), ("3", 5)), nil),
        // Whose a campaign, a picture or a number is, the answer tells.
        ("/v19.0/901/ads", 80_004, keys("ads_management", ("2", 5)), .seconds(300)),
        ("/v19.0/901/comments", 80_001, keys("pages", ("2", 5)), .seconds(300)),
        ("/v19.0/901/messages", 80_007, keys("whatsapp", ("2", 5)), .seconds(300)),
        ("/v19.0/me/feed", 80_001, keys("pages", ("200", 50), ("100", 2)), .seconds(3000)),
    ]

    @Test(arguments: owned.indices)
    func anothersLimitIsNotWaitedFor(index: Int) {
        let (path, code, lines, wait) = Self.owned[index]
        let outcome = Recorded(status: 400, body: Recorded.error(code), lines: lines, path: path).outcome
        #expect(outcome.kind == .rateLimited && outcome.retryAfter == wait, "\(path)")
    }

    @Test func anHourOrMoreIsAQuota() {
        let lines = [(Self.business, #"{"1":[\#(Self.entry("ads_management", "60"))]}"#)]
        let outcome = Recorded(body: Recorded.error(80_004), lines: lines).outcome
        #expect(outcome.kind == .quotaExhausted)
        #expect(outcome.remedies == [.wait])
        let endless = [(Self.business, #"{"1":[\#(Self.entry("ads_management", "1e300"))]}"#)]
        #expect(Recorded(body: Recorded.error(80_004), lines: endless).outcome.retryAfter == .longest)
    }

    @Test func regainedAccessIsNoOutagesTime() {
        let lines = [(Self.business, #"{"1":[\#(Self.entry("pages", "10"))]}"#)]
        #expect(Recorded(status: 500, body: Recorded.error(2), lines: lines).outcome.retryAfter == nil)
        let outcome = Recorded(status: 503, body: Recorded.error(2), lines: [("retry-after", "9")]).outcome
        #expect(outcome.retryAfter == .seconds(9))
        #expect(outcome.processed == .no)
        #expect(outcome.remedies == [.wait])
    }

    private static func usage(_ lines: (String, String)...) -> FacebookUsage {
        var fields = HTTPFields()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        return FacebookUsage(fields)
    }

    @Test func sharesAreRead() {
        let app = Self.usage(("X-App-Usage", #"{"call_count":28,"total_time":25,"total_cputime":125}"#))
        #expect(app.percent == 125)
        #expect(app.isBlocked)
        #expect(app.entries.first?.scope == .app)
        #expect(Self.usage(("x-app-usage", "17%")).percent == 17)
        #expect(Self.usage(("x-page-usage", #"{"call_count":"80"}"#)).entries.first?.scope == .page)
        #expect(Self.usage(("x-app-usage", "")).entries.isEmpty)
        #expect(Self.usage(("x-app-usage", "full")).entries.isEmpty)
        let account = Self.usage(
            ("x-ad-account-usage", #"{"acc_id_util_pct":9.67,"reset_time_duration":300,"ads_api_access_tier":"s"}"#)
        )
        #expect(account.entries.first?.percent == 9.67)
        #expect(account.entries.first?.tier == "s")
        #expect(account.wait(forCode: nil) == .seconds(300))
        #expect(Self.usage(("x-fb-ads-insights-throttle", #"{"app_id_util_pct":100,"acc_id_util_pct":10}"#)).isBlocked)
    }
}
