import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Hostile input to Clerk's classifier")
struct ClerkHostileInputTests {
    static let bodies = [
        Clerked.error("user_locked", meta: #"{"lockout_expires_in_seconds":"1800.5"}"#),
        Clerked.error("form_password_incorrect", meta: #"{"param_name":"password"}"#),
        #"{"error":{"code":"x","meta":{"name":"p"}}}"#, #"{"error":"invalid_grant","error_description":"d"}"#,
        #"{"clerk_error":{"type":"forbidden","reason":"reverification-error","metadata":{"reverification":{}}}}"#,
        #"{"response":{"object":"sign_in_attempt","status":"needs_second_factor","supported_second_factors":[{"strategy":"totp"}],"second_factor_verification":{"status":"failed","error":{"code":"y"}}},"client":null}"#,
        #"{"response":{"object":"sign_up_attempt","status":"missing_requirements","missing_fields":["a"],"verifications":{"e":{}}}}"#,
        #"{"response":{"object":"session","status":"pending","tasks":[{"key":"setup-mfa"}]}}"#,
        #"{"object":"token","jwt":"a.b.c"}"#, "<html>", "",
    ]

    static let paths = [
        "/v1/client", "/v1/client/sign_ins", "/v1/client/sign_ins/sia_1/attempt_second_factor", "/oauth/token",
        "/v1/client/sessions/sess_1/tokens", "//v1//v1/", "/v1", "", "?", "/%00/v1/🙂",
    ]

    @Test func damagedAnswersAlwaysComeToAnOutcome() {
        let mutator = ByteMutator(seed: 1)
        for _ in 0..<ByteMutator.rounds(6000) {
            var fields = HTTPFields()
            fields[.authorization] = mutator.below(2) == 0 ? nil : "Bearer"
            fields[.retryAfter] = String(decoding: mutator.mutate("120".utf8), as: UTF8.self)
            let status = mutator.pick([200, 200, 204, 302, 400, 401, 403, 404, 422, 429, 500, 503])
            let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
            let path = String(decoding: mutator.mutate(mutator.pick(Self.paths).utf8), as: UTF8.self)
            let exchange = Exchange(
                method: mutator.pick([.get, .post, .delete]),
                path: path,
                presented: mutator.pick(Outcome.CredentialKind.allCases),
                result: .response(response, body: mutator.mutate(mutator.pick(Self.bodies).utf8)),
                now: Timestamp(secondsSinceEpoch: 0)
            )
            let outcome = ClerkClassifier().classify(exchange)
            if case .remaining(let time) = outcome.lockout { #expect(time >= .zero && time <= .longest) }
            #expect((try? JSONValue(parsing: outcome.json(name: nil).description)) != nil)
            #expect(!ClerkClassifier().endpointClass(method: exchange.method, path: path).isEmpty)
        }
    }

    /// What is paid for by the square of its size ends in no time that anybody waits for.
    @Test(.timeLimit(.minutes(30))) func sizeIsPaidForLinearly() {
        let errors = String(repeating: #"{"code":"x","meta":{"a":1}},"#, count: 20_000)
        let bodies = [
            #"{"errors":["# + errors + "{}]}",
            #"{"errors":[{"code":""# + String(repeating: "x", count: 900_000) + #""}]}"#,
            #"{"response":{"status":"needs_"# + String(repeating: "x", count: 900_000) + #""}}"#,
            String(repeating: "{\"errors\":", count: 90_000), String(repeating: "x", count: 4_000_000),
        ]
        for status in [200, 401, 422] {
            for body in bodies {
                let outcome = Clerked(status: status, body: body).outcome
                #expect(outcome.json(name: nil).description.utf8.count < 20_000)
            }
        }
    }

    @Test func aBodyThatIsTooLargeToReadIsNotTakenForAnError() {
        // Of one that streams on the beginning alone is at hand.
        let body = #"{"response":{"object":"client","x":""# + String(repeating: "x", count: 2_000_000)
        #expect(Clerked(status: 200, body: body, method: .get, path: "/v1/client").outcome.kind == .ok)
    }
}
