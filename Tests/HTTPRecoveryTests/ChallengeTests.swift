import HTTPRecovery
import HTTPTypes
import Testing

@Suite("Authentication challenges")
struct ChallengeTests {
    private func parse(_ lines: String...) -> [Exchange.AuthenticationChallenge] {
        Exchange.AuthenticationChallenge.challenges(in: fields(lines.map { ("WWW-Authenticate", $0) }))
    }

    /// A compact spelling of what was understood: `Scheme token68 name=value "text"`.
    private func summary(_ lines: [String]) -> [String] {
        Exchange.AuthenticationChallenge.challenges(in: fields(lines.map { ("WWW-Authenticate", $0) })).map {
            challenge in
            var parts = [challenge.scheme]
            if let token = challenge.token68 { parts.append(token) }
            parts += challenge.parameters.map { "\($0.name)=\($0.value)" }
            parts += challenge.unnamedTexts.map { "\"\($0)\"" }
            return parts.joined(separator: "|")
        }
    }

    @Test(arguments: [
        (["Bearer"], ["Bearer"]),
        (["bearer realm=\"a\""], ["bearer|realm=a"]),
        (
            ["Bearer realm=\"a\", error=\"invalid_token\", error_description=\"The token, \\\"x\\\", expired\""],
            ["Bearer|realm=a|error=invalid_token|error_description=The token, \"x\", expired"]
        ),
        (["Bearer ERROR = invalid_token"], ["Bearer|error=invalid_token"]),
        (["Bearer error\t=\t\"a\" , scope=\"x y\""], ["Bearer|error=a|scope=x y"]),
        (["Negotiate YII="], ["Negotiate|YII="]),
        (["Negotiate YII==, Basic realm=\"x\""], ["Negotiate|YII==", "Basic|realm=x"]),
        (["Basic realm=\"x\", Bearer error=\"invalid_token\""], ["Basic|realm=x", "Bearer|error=invalid_token"]),
        (["Basic realm=\"x\"", "Bearer error=e"], ["Basic|realm=x", "Bearer|error=e"]),
        (["Negotiate, NTLM, Basic"], ["Negotiate", "NTLM", "Basic"]),
        ([",, ,Bearer realm=a,,,error=b,, "], ["Bearer|realm=a|error=b"]),
        (["DPoP algs=\"ES256 PS256\", error=\"use_dpop_nonce\""], ["DPoP|algs=ES256 PS256|error=use_dpop_nonce"]),
        // Against the grammar, and still understood.
        (["Bearer realm=\"a\" error=\"b\""], ["Bearer|realm=a|error=b"]),
        (["Bearer realm=a; error=b"], ["Bearer|realm=a|error=b"]),
        (
            ["Bearer authorization_uri=https://x.example/y?z=1, error=b"],
            ["Bearer|authorization_uri=https://x.example/y?z=1|error=b"]
        ),
        (["SSOADVICE realm=\"/\",advices=\"eyJ9\","], ["SSOADVICE|realm=/|advices=eyJ9"]),
        (
            ["OAuth \"Facebook Platform\" \"invalid_token\" \"Error validating, see log\""],
            ["OAuth|\"Facebook Platform\"|\"invalid_token\"|\"Error validating, see log\""]
        ),
        (
            ["Bearer error='invalid_token', error_description='It''s over, friend'"],
            ["Bearer|error=invalid_token|error_description=It''s over, friend"]
        ),
        (["Bearer error='invalid_token"], ["Bearer|error='invalid_token"]),
        ([#"Bearer realm=\"a b\", error=\"invalid_token\""#], ["Bearer|realm=a b|error=invalid_token"]),
        (
            ["Bearer error_description=The access token expired, error=invalid_token"],
            ["Bearer|error_description=The access token expired|error=invalid_token"]
        ),
        (
            ["Bearer error_description=It has expired error=invalid_token scope=a"],
            ["Bearer|error_description=It has expired|error=invalid_token|scope=a"]
        ),
        (["Basic realm=My Site Bearer error=x"], ["Basic|realm=My Site", "Bearer|error=x"]),
        (["Basic realm=\"a\" Bearer realm=\"b\" DPoP"], ["Basic|realm=a", "Bearer|realm=b", "DPoP"]),
        (["Bearer, error=\"invalid_token\""], ["Bearer|error=invalid_token"]),
        (["Bearer: error=\"invalid_token\""], ["Bearer|error=invalid_token"]),
        (["error=\"invalid_token\", realm=r"], ["|error=invalid_token|realm=r"]),
        (["error=\"invalid_token\", Bearer realm=r, Basic"], ["Bearer|realm=r|error=invalid_token", "Basic"]),
        (["realm=a, Bearer realm=b"], ["Bearer|realm=b"]),
        (["realm=\"a"], []),
        // A challenge that cannot be used is left out; those around it stay.
        (["Basic realm=a, Bearer error=x, error=y, Digest nonce=z"], ["Basic|realm=a", "Digest|nonce=z"]),
        (["Basic realm=a, Bearer error=\"x"], ["Basic|realm=a"]),
        (["Basic realm=a, Bearer error=\"x\\"], ["Basic|realm=a"]),
        (["Bearer error=\"x", "Basic realm=b"], ["Basic|realm=b"]),
        ([""], []), (["   "], []), ([",,,"], []), (["="], []), (["\"\""], []), (["{}()<>@[]?"], []),
    ])
    func challenges(lines: [String], expected: [String]) {
        #expect(summary(lines) == expected)
    }

    @Test func errorWordsAreFoundWithAndWithoutNames() {
        let facebook = parse(#"OAuth "Facebook Platform" "invalid_token" "text""#).first
        #expect(facebook?.error == "invalid_token")
        #expect(facebook?.errorDescription == "text")
        let bearer = parse(#"Bearer error="invalid_token", error_description="expired""#).first
        #expect(bearer?.error == "invalid_token")
        #expect(bearer?.errorDescription == "expired")
        #expect(parse("Bearer").first?.error == nil)
        #expect(bearer?.isScheme("BEARER") == true)
    }

    @Test func endlessInputIsBounded() {
        let many = "Bearer " + (0..<5000).map { "p\($0)=v" }.joined(separator: ",")
        #expect(parse(many, "Basic realm=x").map(\.scheme) == ["Basic"])
        #expect(parse("Bearer error=a", String(repeating: "x", count: 100_000)).map(\.scheme) == ["Bearer"])
        #expect(parse("Bearer " + String(repeating: "a='b,", count: 13_000), "Basic").map(\.scheme) == ["Basic"])
        #expect(parse("Bearer a=" + String(repeating: "b ", count: 30_000)).first?["a"]?.utf8.count == 59_999)
        #expect(parse(String(repeating: "a=b,", count: 16_000)).map(\.parameters.count) == [1])
        let quotes = "OAuth " + String(repeating: "\"a\" ", count: 10_000)
        #expect(parse(quotes).first?.unnamedTexts.count == 64)
        #expect(parse(String(repeating: "a,", count: 30_000)).count == 30_000)
    }
}

@Suite("Problem details")
struct ChallengeProblemDetailsTests {
    @Test func membersOfTheWrongTypeAreAbsent() throws {
        let text = #"{"type":7,"title":{},"status":"429","detail":[],"instance":null,"violated-policies":"x"}"#
        let problem = try #require(Exchange.ProblemDetails(try JSONValue(parsing: text)))
        #expect(problem.type == nil && problem.title == nil && problem.status == nil && problem.detail == nil)
        #expect(problem.violatedPolicies == [] && problem.parameter == nil)
        #expect(Exchange.ProblemDetails(.array([])) == nil)
    }

    @Test(arguments: [
        (##"{"errors":[{"detail":"x","pointer":"#/age"}]}"##, "age"),
        (#"{"errors":[{"pointer":"/profile/color"}]}"#, "profile/color"),
        (#"{"invalid-params":[{"name":"age","reason":"x"}]}"#, "age"),
        (#"{"errors":[{"parameter":"limit"}]}"#, "limit"),
        (#"{"errors":{}}"#, nil),
    ])
    func parameters(text: String, parameter: String?) throws {
        #expect(Exchange.ProblemDetails(try JSONValue(parsing: text))?.parameter == parameter)
    }

    @Test(arguments: [
        ("application/problem+json", true), ("Application/Problem+JSON; charset=utf-8", true),
        ("application/json", false), ("application/problem+xml", false),
    ])
    func theContentTypeDeclaresThem(type: String, isDeclared: Bool) {
        #expect(Exchange.ProblemDetails.isDeclared(by: fields([("Content-Type", type)])) == isDeclared)
    }
}
