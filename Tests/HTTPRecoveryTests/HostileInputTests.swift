import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Hostile input")
struct HostileInputTests {
    static let headers: [(String, String)] = [
        ("Retry-After", "120"), ("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT"),
        ("Date", "Sunday, 06-Nov-94 08:49:37 GMT"),
        ("Retry-After", "Sun Nov  6 08:49:37 1994"), ("retry-after-ms", "1500.25"), ("x-amz-retry-after", "250"),
        ("grpc-retry-pushback-ms", "100"), ("RateLimit", #""a";r=0;t=30;pk=:YQ==:, "b";r=5"#),
        ("RateLimit-Policy", #""a";q=100;w=60;qu="requests";pk=:YQ==:"#), ("X-RateLimit-Reset", "1767225660.25"),
        ("x-rate-limit-reset", "1767225660, 30"), ("x-ratelimit-reset-tokens", "1h6m0.5s20ms"),
        ("anthropic-ratelimit-requests-reset", "2026-01-01T00:00:30.5+02:00"), ("X-RateLimit-Remaining", "0"),
        ("WWW-Authenticate", #"Bearer realm="a\"b", error="invalid_token", Basic x==, DPoP algs="ES256""#),
        ("WWW-Authenticate", #"OAuth "Facebook Platform" "invalid_token" "text""#), ("DPoP-Nonce", "n"),
        ("Content-Type", "application/problem+json"), ("x-should-retry", "true"), ("Age", "0"), ("cf-ray", "r"),
    ]

    static let bodies: [String] = [
        #"{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","violated-policies":["a"],"status":429}"#,
        ##"{"type":"about:blank","errors":[{"pointer":"#/age"}],"invalid-params":[{"name":"a"}],"detail":"d"}"##,
        #"{"error":{"code":17,"message":"\ud83d\ude00 rate limit exceeded","param":"x"},"request_id":"r"}"#,
        "<html><body>Sorry</body></html>", "plain text", "", "[[[[1]]]]", "-12.5e+3", "\u{FEFF}{}",
    ]

    @Test func mutatedAnswersAlwaysComeToAnOutcome() {
        let mutator = ByteMutator(seed: 42)
        let statuses = [200, 202, 302, 400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529, 999]
        let presented: [Outcome.CredentialKind?] = Outcome.CredentialKind.allCases + [nil]
        do {
            for _ in 0..<ByteMutator.rounds(6000) {
                var fields = HTTPFields()
                for _ in 0...mutator.below(6) {
                    let (name, value) = mutator.pick(Self.headers)
                    guard let name = HTTPField.Name(name) else { continue }
                    fields.append(HTTPField(name: name, value: mutator.mutate(value.utf8)))
                }
                let body = mutator.mutate(mutator.pick(Self.bodies).utf8)
                let status = HTTPResponse.Status(code: mutator.pick(statuses))
                let exchange = Exchange(
                    method: .get,
                    path: "/",
                    presented: mutator.pick(presented),
                    result: .response(HTTPResponse(status: status, headerFields: fields), body: body),
                    now: Timestamp(secondsSinceEpoch: Int64(mutator.below(4_000_000_000)))
                )
                let outcome = HTTPClassifier().classify(exchange)
                #expect(outcome.retryAfter.map { $0 >= .zero && $0 <= .longest } ?? true)
                // What is written is JSON again.
                let written = outcome.json(name: "x").description
                #expect((try? JSONValue(parsing: written)) != nil)
            }
        }
    }

    @Test func mutatedLinesAlwaysGetAnAnswer() {
        let mutator = ByteMutator(seed: 7)
        let line = Array(
            #"""
            {"name":"n","request":{"method":"POST","path":"/v1/x","presented":"access"},"status":401,"headers":{"retry-after":"5","www-authenticate":["Bearer error=\"invalid_token\""]},"body":"{\"error\":\"x\"}","client_now":1767225600,"error":"unknown"}
            """#.utf8
        )
        for _ in 0..<ByteMutator.rounds(6000) {
            let answer = RecordedExchange.answer(
                to: mutator.mutate(line),
                by: HTTPClassifier(),
                systemTime: present
            )
            #expect(answer.members?.count == 17)
        }
    }

    @Test func everyHeaderSurvivesTheUsualPoisons() {
        let poisons =
            [
                "nan", "-nan", "inf", "1e400", "-1", "+1", "0x7fffffff", "", " ", ",", ";", "\"", "\\", "=", "\u{0}",
                "\r", "é",
                "9223372036854775807", "9223372036854775808", "-9223372036854775808", "1.7976931348623157e309",
                "0000-00-00T00:00:00Z", "9999-12-31T23:59:60+23:59", "Fri, 31 Dec 9999 23:59:60 GMT", "h", "1h1",
                "999999999999h",
            ] + [String(repeating: "9", count: 100_000), String(repeating: "\"a\";r=0,", count: 2000)]
        let names = Set(Self.headers.map(\.0)).union([
            "x-ms-retry-after-ms", "ratelimit-reset", "ratelimit-remaining", "x-ratelimit-reset-after",
            "x-ratelimit-retry-after",
            "x-rate-limit-remaining", "x-ratelimit-reset-requests", "stripe-should-retry", "proxy-authenticate",
        ])
        for name in names {
            for poison in poisons {
                for status in [200, 401, 403, 429, 503] {
                    let outcome = HTTPClassifier().classify(exchange(status, [(name, poison)], presented: .access))
                    #expect(outcome.retryAfter.map { $0 >= .zero && $0 <= .longest } ?? true)
                }
            }
        }
    }

    @Test func sizeIsPaidForLinearly() {
        // What is not linear here does not end in a lifetime; that it ends is the proof.
        do {
            let parameters = (0..<20_000).map { "p\($0)=1" }
            let bodies = [
                String(repeating: "[", count: 1_000_000), "{" + String(repeating: "\"a\":1,", count: 150_000),
                "\"" + String(repeating: "\\u0041", count: 160_000) + "\"", String(repeating: "9", count: 1_000_000),
                String(repeating: " ", count: 1_000_000), String(repeating: "x", count: 4_000_000),
            ]
            for body in bodies { _ = HTTPClassifier().classify(exchange(500, body: body)) }
            let values = [
                "Bearer " + parameters.joined(separator: ","), "\"a\";r=0;" + parameters.joined(separator: ";"),
                String(repeating: "0,", count: 500_000), String(repeating: "1h", count: 200_000),
            ]
            for value in values {
                for name in ["WWW-Authenticate", "RateLimit", "X-RateLimit-Reset", "x-ratelimit-reset-tokens"] {
                    _ = HTTPClassifier().classify(exchange(429, [(name, value)]))
                    _ = HTTPClassifier().classify(exchange(401, [(name, value)]))
                }
            }
            let many = (0..<20_000).map { ("x-ratelimit-reset-\($0)", "1s") }
            _ = HTTPClassifier().classify(exchange(429, many))
        }
    }
}
