import FacebookAuth
import HTTPRecovery
import HTTPTypes
import Testing

@Suite("What Facebook's answers state besides their codes")
struct FacebookStatusTests {
    private static let feed = "/v19.0/me/feed"

    /// Statuses that tell by themselves what has become of the request.
    static let statuses: [Row] =
        [408, 421, 425].flatMap { status in
            ["", "{}", "null", "<html>", #"{"error":{}}"#, #"{"error":"server_error"}"#].flatMap { body in
                [
                    FacebookAnswerTests.row(status, body, .unavailable, [.retry]),
                    FacebookAnswerTests.row(status, body, .unavailable, [.retry], presenting: .access, .post, at: feed),
                ]
            }
        } + [
            FacebookAnswerTests.row(507, "", .unavailable, processed: .unknown),
            FacebookAnswerTests.row(507, "", .unavailable, processed: .unknown, at: feed),
            FacebookAnswerTests.row(508, "{}", .unavailable, processed: .unknown),
            FacebookAnswerTests.row(511, "", .unreadable, processed: .unknown),
            FacebookAnswerTests.row(511, "<html>", .unreadable, processed: .unknown),
            FacebookAnswerTests.row(501, "", .misconfigured, [.fixRequest], processed: .unknown),
            FacebookAnswerTests.row(
                408,
                #"{"error":"invalid_grant"}"#,
                .unavailable,
                [.retry],
                presenting: .code,
                .post,
                at: "/v19.0/oauth/access_token"
            ),
            FacebookAnswerTests.row(
                421,
                #"{"error":"invalid_grant"}"#,
                .unavailable,
                [.retry],
                presenting: .code,
                .post,
                at: "/v19.0/oauth/access_token"
            ),
        ]

    @Test(arguments: statuses)
    func aStatusTellsWhatHasBecomeOfTheRequest(row: Row) {
        row.check()
    }

    @Test(arguments: ["190", "190.0", "1.9e2", #""190""#, #"" 190 ""#, #""+190""#, #""1.9E2""#, #""\t190.0\n""#])
    func aCodeIsAWholeNumberHoweverItIsWritten(code: String) {
        let outcome = Recorded(body: #"{"error":{"code":\#(code),"error_subcode":\#(code)}}"#).outcome
        #expect(outcome.kind == .credentialRejected)
        #expect(outcome.code == "190")
        #expect(outcome.subcode == "190")
    }

    @Test(arguments: [("190.5", "190.5"), (#""a1""#, "a1"), ("1e400", "1e400"), (#"" ""#, nil)] as [(String, String?)])
    func aCodeThatIsNoWholeNumberStaysAsItIs(code: String, told: String?) {
        let outcome = Recorded(body: #"{"error":{"code":\#(code),"message":"m"}}"#).outcome
        #expect(outcome.kind == .unknown)
        #expect(outcome.code == told)
    }

    @Test func aStatedWaitIsToldWithEveryError() {
        for body in [
            Recorded.error(987_654), Recorded.error(190, 459), Recorded.error(100), Recorded.error(4),
            #"{"error":{"message":"m"}}"#, "hello",
        ] {
            let outcome = Recorded(body: body, lines: [("retry-after", "7")]).outcome
            #expect(outcome.retryAfter == .seconds(7), "\(body)")
        }
        #expect(
            Recorded(body: Recorded.error(4), lines: [("retry-after", "5"), ("retry-after", "50")]).outcome.retryAfter
                == .seconds(50)
        )
    }

    @Test func aBareCodeIsNoTextForThePerson() {
        let body = Recorded.error(100, more: #","error_user_msg":"ERROR_CODE_7","error_user_title":"Sorry""#)
        #expect(Recorded(body: body).outcome.userMessage == "Sorry")
    }

    /// A long batch is judged like a short one; one of which only the beginning is there is none that went well.
    @Test func aLongBatchIsReadItemByItem() {
        let id = String(repeating: "1", count: 25_000)
        let item = #"{"code":200,"headers":[],"body":"{\"id\":\"\#(id)\"}"}"#
        let body = "[" + Array(repeating: item, count: 50).joined(separator: ",") + "]"
        let whole = Recorded(status: 200, body: body, method: .post, path: "/v19.0/").outcome
        #expect(whole.kind == .ok && whole.items.count == 50)
        let cut = String(body.dropLast(9))
        let beginning = Recorded(status: 200, body: cut, method: .post, path: "/v19.0/").outcome
        #expect(beginning.kind == .unreadable && beginning.items.isEmpty)
        // Of a list the rest streams on.
        #expect(Recorded(status: 200, body: cut, path: Self.feed).outcome.kind == .ok)
    }
}
