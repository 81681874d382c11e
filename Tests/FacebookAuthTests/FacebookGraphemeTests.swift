import FacebookAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Scalars that join their neighbours to one character of a `String`, at every place of what a server may send.
@Suite("Joined characters in what Facebook sends")
struct FacebookGraphemeTests {
    private let mutator = ByteMutator(seed: 3)

    private static let rows =
        FacebookCodeTests.limits + FacebookCodeTests.tokens + FacebookCodeTests.server + FacebookCodeTests.requests
        + FacebookCodeTests.exchanges + FacebookCodeTests.devices + FacebookAnswerTests.errors
        + FacebookAnswerTests.wrapped + FacebookAnswerTests.logins + FacebookAnswerTests.successes

    @Test func bodies() {
        for row in Self.rows {
            for text in mutator.joined(row.recorded.body, limit: 32) {
                var recorded = row.recorded
                recorded.body = text
                #expect(recorded.outcome.status == recorded.status)
            }
        }
    }

    @Test(arguments: [
        "(#100) Param me[data] must be one of {A, B} - got \"x\"", "Error validating access token: Session has expired",
        "Missing redirect_uri parameter.", "API calls from the server require an appsecret_proof argument",
    ])
    func messages(_ message: String) {
        for text in mutator.joined(message, limit: 384) {
            for code in [100, 190] {
                let body = #"{"error":{"message":\#(JSONValue.string(text)),"code":\#(code)}}"#
                let outcome = Recorded(body: body).outcome
                #expect(outcome.isFailure && (outcome.parameter?.utf8.count ?? 0) <= 256)
            }
        }
    }

    @Test(arguments: [
        ("x-app-usage", #"{"call_count":28,"total_time":25,"total_cputime":25}"#), ("x-page-usage", "17%"),
        (
            "x-business-use-case-usage",
            #"{"1":[{"type":"pages","call_count":100,"estimated_time_to_regain_access":10}]}"#
        ), ("x-ad-account-usage", #"{"acc_id_util_pct":9.67,"reset_time_duration":300}"#), ("retry-after", "5"),
        ("www-authenticate", #"OAuth "Facebook Platform" "invalid_token" "t""#),
        ("location", "https://app/cb?error=access_denied&error_description=a+b#_=_"),
    ])
    func fields(name: String, value: String) {
        for text in mutator.joined(value, limit: 256) {
            for status in [302, 400, 401] {
                let outcome = Recorded(status: status, lines: [(name, text)]).outcome
                if let delay = outcome.retryAfter { #expect(delay >= .zero) }
            }
        }
    }

    @Test(arguments: ["/v25.0/act_1/insights?fields=id#x", "/v25.0/oauth/access_token", "/v25.0/device/login_status"])
    func paths(_ path: String) {
        for text in mutator.joined(path, limit: 256) {
            #expect(Recorded(status: 401, path: text).outcome.isFailure)
            #expect(!FacebookClassifier().endpointClass(method: .get, path: text).isEmpty)
        }
    }

    @Test func referencesInABatch() async throws {
        for text in mutator.joined("?ids={result=a:$.data.*.id}&x=%7Bresult=b%7D", limit: 200) {
            let bench = try FacebookBench([.answer(#"[{"code":200,"body":"{}"},{"code":200,"body":"{}"}]"#)])
            let answers = try? await bench.skippingWaits {
                try await bench.facebook.batch([
                    FacebookBatchRequest(.get, path: "me", name: "a"), FacebookBatchRequest(.get, path: text),
                ])
            }
            #expect(answers.map { $0.count == 2 } ?? true)
        }
    }
}
