import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Scalars that join their neighbours to one character of a `String`, at every place of what comes from outside.
@Suite("Joined characters in what comes from outside")
struct GraphemeTests {
    private let mutator = ByteMutator(seed: 3)

    @Test(arguments: [
        #"{"error":"invalid_grant","error_description":"d","error_codes":[1],"interval":5,"max_age":1}"#,
        #"{"error":{"code":"invalid_token","message":"m"},"errors":[{"code":"slow_down"}],"scope":"a"}"#,
        "error=access_denied&error_description=a+b%20c&state=s", #"[["invalid_client"]]"#,
        #"{"access_token":"A","token_type":"b","expires_in":"3600","refresh_token":"R","scope":"s"}"#,
        "<html><title>error: invalid_grant</title></html>",
    ])
    func bodies(_ body: String) {
        for text in mutator.joined(body, limit: 512) {
            for status in [200, 400, 401] {
                #expect(OAuthClassifierTests.classify(status, body: text).status == status)
            }
            guard let json = try? JSONValue(parsing: text) else { continue }
            if let answer = OAuthClient.TokenAnswer(json, date: OAuthBench.start) {
                #expect(!answer.accessToken.isEmpty)
            }
            _ = try? Credentials(json: json)
        }
    }

    @Test(arguments: [
        ("www-authenticate", #"Bearer error='invalid_token', error_description=It is over, Basic realm="a b""#),
        ("www-authenticate", #"DPoP algs="ES256 PS256", error="use_dpop_nonce""#), ("dpop-nonce", "n"),
        ("location", "https://app/cb?error=access_denied&state=%#x"), ("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT"),
    ])
    func fields(name: String, value: String) {
        for text in mutator.joined(value, limit: 512) {
            for status in [302, 401, 503] {
                let outcome = OAuthClassifierTests.classify(status, [(name, text)])
                #expect(outcome.retryAfter.map { $0 >= .zero && $0 <= .longest } ?? true)
            }
        }
    }

    @Test func formsAndRedirects() {
        for text in mutator.joined("code=c%2B&state=s+1&iss=https%3A%2F%2Fid.example.com&error=&x") {
            #expect(FormFields(parsing: text.utf8).names.count <= 8)
            var form: FormFields = ["x": text]
            form.add("y", secret: Secret(text))
            #expect(FormFields(parsing: form.encoded.utf8)["x"] == [Secret(text)])
            _ = OAuthClient.AuthorizationRedirect(query: text)
            _ = OAuthClient.AuthorizationRedirect(url: "app:/cb?\(text)#\(text)")
            _ = OAuthClient.AuthorizationRedirect(url: text)
        }
    }

    @Test func tokens() {
        let header = Base64.encodeForURL(#"{"alg":"none"}"#.utf8)
        for claims in mutator.joined(#"{"iss":"i","sub":"s","iat":1,"exp":"1893459600"}"#, limit: 512) {
            let token = "\(header).\(Base64.encodeForURL(claims.utf8)).x"
            let time = UnverifiedJWT(Secret(token))?.expiresAt?.sinceEpoch ?? .zero
            #expect(time >= .zero - .longest && time <= .longest)
        }
        for text in mutator.joined("\(header).e30.x", limit: 512) { _ = UnverifiedJWT(Secret(text)) }
    }

    @Test(arguments: ["https://id.example.com:8443/tenant/?x=1#y", "//[::1]:80/a/"])
    func addresses(_ url: String) {
        for text in mutator.joined(url, limit: 1024) {
            _ = try? HTTPRequest(url: text)
            _ = try? OAuthServer(issuer: text, endpoints: [.token: text])
        }
    }

    @Test func accounts() {
        for text in mutator.joined("  Ada@Example.com \r\n", limit: 1024) {
            #expect(LockoutLedger.account(for: text).utf8.count <= 4096)
        }
    }
}
