import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// Scalars that join their neighbours to one character of a `String`, at every place of what an org may send.
@Suite("Joined characters in what Okta sends")
struct OktaGraphemeTests {
    private let mutator = ByteMutator(seed: 3)

    private static let rows =
        OktaAnswerTests.states + OktaAnswerTests.successes + OktaAnswerTests.refusals + OktaCodeTests.requests
        + OktaCodeTests.sessions + OktaCodeTests.passwords + OktaCodeTests.factors + OktaCodeTests.limits

    @Test func bodies() {
        for row in Self.rows {
            for text in mutator.joined(row.recorded.body, limit: 32) {
                var recorded = row.recorded
                recorded.body = text
                #expect(recorded.outcome.status == recorded.status)
            }
        }
    }

    @Test(arguments: OktaCodeTests.parameters.map(\.0) + OktaCodeTests.texts.map(\.0))
    func summaries(_ summary: String) {
        for text in mutator.joined(summary, limit: 256) {
            let body =
                #"{"errorCode":"E0000001","errorSummary":\#(JSONValue.string(text)),"errorCauses":[{"errorSummary":\#(JSONValue.string(text))}]}"#
            #expect(Recorded(status: 400, body: body).outcome.isFailure)
        }
    }

    @Test(arguments: [
        ("x-rate-limit-reset", "1893456048"), ("x-rate-limit-limit", "0, 0"), ("x-rate-limit-remaining", "0"),
        ("retry-after", "5"), ("location", "https://app/cb?error=login_required&state=s#x"),
        ("www-authenticate", #"Bearer error="invalid_token", error_description="It is over""#),
    ])
    func fields(name: String, value: String) {
        for text in mutator.joined(value, limit: 256) {
            for status in [302, 401, 429] {
                let outcome = Recorded(status: status, lines: [(name, text)], path: "/oauth2/v1/authorize").outcome
                if let delay = outcome.retryAfter { #expect(delay >= .zero) }
            }
        }
    }

    @Test(arguments: [
        "/api/v1/authn/factors/f/verify?rememberDevice=true&x=1#y", "/oauth2/default/v1/token", "/idp/idx/identify",
    ])
    func paths(_ path: String) {
        for text in mutator.joined(path, limit: 256) {
            #expect(Recorded(status: 401, path: text).outcome.isFailure)
            #expect(!OktaClassifier().endpointClass(method: .get, path: text).isEmpty)
        }
    }

    @Test(.timeLimit(.minutes(30)))
    func transactions() async throws {
        let states = [
            OktaJSON.state(
                "MFA_REQUIRED",
                embedded: #","factors":[\#(OktaJSON.factor("push")),\#(OktaJSON.factor("sms"))]"#
            ),
            OktaJSON.state("SUCCESS", more: #","sessionToken":"t""#),
        ]
        for state in states {
            for text in mutator.joined(state, limit: 150) {
                let bench = try OktaBench([.answer(text)])
                do {
                    _ = try await bench.signIn("hunter2", Person())
                } catch {
                    #expect(error is RecoveryError || error is Challenge.NoAnswer, "\(error)")
                }
            }
        }
    }
}
