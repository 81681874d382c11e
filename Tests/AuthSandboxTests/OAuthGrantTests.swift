import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("OAuth: grants and clients")
struct OAuthGrantTests {
    private static let serviceHeader = ("authorization", "Basic c2VydmljZTpzZXJ2aWNlLXNlY3JldA==")
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    // MARK: Clients

    @Test(
        arguments: [
            (["client_id": "service", "client_secret": "service-secret"], nil, 200, nil),
            (["client_id": "service", "client_secret": "wrong"], nil, 401, "invalid_client"),
            (["client_id": "service"], nil, 401, "invalid_client"),
            (["client_id": "nobody"], nil, 401, "invalid_client"),
            ([:], nil, 401, "invalid_client"),
            ([:], "Basic c2VydmljZTpzZXJ2aWNlLXNlY3JldA==", 200, nil),
            // service:service%2Dsecret, percent-encoded as RFC 6749 wants it.
            ([:], "basic c2VydmljZTpzZXJ2aWNlJTJEc2VjcmV0", 200, nil),
            (["client_id": "service"], "Basic c2VydmljZTpzZXJ2aWNlLXNlY3JldA==", 200, nil),
            (["client_id": "cli"], "Basic c2VydmljZTpzZXJ2aWNlLXNlY3JldA==", 401, "invalid_client"),
            // service:x
            ([:], "Basic c2VydmljZTp4", 401, "invalid_client"),
            // service:%zz
            ([:], "Basic c2VydmljZTolenE=", 401, "invalid_client"),
            ([:], "Basic ???", 401, "invalid_client"), ([:], "Basic", 401, "invalid_client"),
            ([:], "Bearer x", 401, "invalid_client"),
            (["client_secret": "service-secret"], "Basic c2VydmljZTpzZXJ2aWNlLXNlY3JldA==", 400, "invalid_request"),
            (["client_id": "cli", "client_secret": "x"], nil, 401, "invalid_client"),
            (["client_id": "cli"], nil, 400, "unauthorized_client"),
        ] as [(KeyValuePairs<String, String>, String?, Int, String?)]
    )
    func clientsProveThemselves(
        form: KeyValuePairs<String, String>,
        header: String?,
        status: Int,
        error: String?
    ) {
        var client = OAuthHarness()
        let body = client.send(
            "POST",
            "/oauth/token",
            body: "grant_type=client_credentials&scope=a+b&" + Harness.encode(form),
            headers: header.map { [("authorization", $0)] } ?? []
        )
        #expect(client.status == status && client.error == error)
        if status == 200 {
            #expect(body["scope"] == "a b" && body["refresh_token"] == nil)
            #expect(client.get(token: body["access_token"]?.string)["sub"] == "service")
        }
        if status == 401 { #expect(client.challenge == #"Basic realm="auth-sandbox""#) }
    }

    @Test func assertionsAreUsedOnce() {
        var client = OAuthHarness()
        let now = client.base.now / 1000
        var claims: JSONValue = [
            "iss": "robot", "sub": "robot", "aud": "http://127.0.0.1:9999/oauth/token", "exp": .int(now + 60),
            "jti": "one",
        ]
        func call(_ header: JSONValue = ["alg": "RS256"], key: String? = nil) -> Int {
            client.post(
                "/oauth/token",
                [
                    "grant_type": "client_credentials", "client_assertion_type": OAuthWorld.assertionType,
                    "client_assertion": OAuthHarness.jwt(header, claims, key: key),
                ]
            )
            return client.status
        }
        #expect(call() == 200)
        #expect(call() == 401 && client.error == "invalid_client")
        func fresh(_ key: String, _ value: JSONValue) -> Int {
            let whole = claims
            defer { claims = whole }
            claims = claims.replacing("jti", "other").replacing(key, value)
            return call()
        }
        #expect(fresh("exp", .int(now)) == 401)
        #expect(fresh("exp", .int(now + 7200)) == 401)
        #expect(fresh("aud", "http://elsewhere") == 401)
        #expect(fresh("sub", "service") == 401)
        #expect(fresh("jti", "") == 401)
        #expect(fresh("aud", ["x", "http://127.0.0.1:9999"]) == 200)
        claims = claims.replacing("jti", "two")
        #expect(call(["alg": "none"]) == 401)
        // A secret signs for a client that has one, and that signature is checked.
        claims = claims.replacing("iss", "service").replacing("sub", "service")
        #expect(call(["alg": "HS256"], key: "wrong") == 401)
        #expect(call(["alg": "HS256"], key: "service-secret") == 200)
        #expect(call(["alg": "RS256"]) == 401)
    }

    // MARK: Requests

    @Test(arguments: [
        ("", "invalid_request", 400), ("client_id=cli", "invalid_request", 400),
        ("grant_type=&client_id=cli", "invalid_request", 400),
        ("grant_type=password&client_id=cli", "unsupported_grant_type", 400),
        ("grant_type=refresh_token&client_id=cli", "invalid_request", 400),
        ("grant_type=refresh_token&client_id=cli&client_id=cli", "invalid_request", 400),
        ("grant_type=refresh_token&client_id=cli&refresh_token=%zz", "invalid_request", 400),
        ("grant_type=refresh_token&client_id=cli&refresh_token=%f", "invalid_request", 400),
        ("grant_type=refresh_token&client_id=cli&refresh_token=%ff", "invalid_request", 400),
        ("grant_type=refresh_token&client_id=%00&refresh_token=a", "invalid_client", 401),
        ("grant_type=refresh_token&client_id=cli&refresh_token=a&scope=%22", "invalid_grant", 400),
    ])
    func whatIsNotARequest(body: String, error: String, status: Int) {
        var client = OAuthHarness()
        client.send("POST", "/oauth/token", body: body)
        #expect(client.status == status && client.error == error)
        #expect(client.base.answer.jsonBody?["error_description"]?.string?.isEmpty == false)
    }

    @Test func hostileBodiesAreBounded() {
        var client = OAuthHarness()
        client.send("POST", "/oauth/token", body: String(repeating: "a", count: 300_000))
        #expect(client.status == 413 && client.error == "invalid_request")
        client.send("POST", "/oauth/token", body: (0..<200).map { "p\($0)=1" }.joined(separator: "&"))
        #expect(client.status == 400 && client.error == "invalid_request")
        client.send("POST", "/oauth/token", body: "{}", type: "application/json")
        #expect(client.status == 400 && client.error == "invalid_request")
        client.send("GET", "/oauth/token")
        #expect(client.status == 405 && client.answer.header("Allow") == "POST")
        client.refresh(String(repeating: "x", count: 200_000))
        #expect(client.error == "invalid_grant")
        let scope = (0..<60).map { "s\($0)" }.joined(separator: " ")
        client.post("/oauth/device", ["client_id": "cli", "scope": scope])
        #expect(client.error == "invalid_scope")
        // The log stays small and readable.
        #expect(client.control("GET", "requests").text.utf8.count < 20_000)
    }

    @Test func withoutAScopeNoneIsTold() {
        var client = OAuthHarness()
        let body = client.post(
            "/oauth/token",
            ["grant_type": "client_credentials"],
            headers: [Self.serviceHeader]
        )
        #expect(client.status == 200 && body["scope"] == nil && body["id_token"] == nil)
    }

    @Test func clientsMayBeNarrow() throws {
        let scenario = try SandboxScenario(
            json: """
                {"oauth": {"default_clients": false, "clients": [
                  {"client_id": "narrow", "client_secret": "s", "auth_methods": ["client_secret_post"],
                   "redirect_uris": ["app:/back"], "grant_types": ["client_credentials"], "scopes": ["a"]}]},
                 "settings": {"rate_limits": false, "oauth": {"access_lifetime_s": 0.5, "step_up": {"max_age_s": 9}}}}
                """
        )
        #expect(scenario.settings.oauth.accessLifetime == 500 && scenario.oauthClients.count == 1)
        var client = OAuthHarness()
        client.base = Harness(scenario)
        let narrow: KeyValuePairs = ["client_id": "narrow", "client_secret": "s", "grant_type": "client_credentials"]
        #expect(client.post("/oauth/token", narrow)["expires_in"] == 1)
        client.send("POST", "/oauth/token", body: Harness.encode(narrow) + "&scope=b")
        #expect(client.error == "invalid_scope")
        client.post("/oauth/token", ["client_id": "narrow", "client_secret": "s", "grant_type": "refresh_token"])
        #expect(client.error == "unauthorized_client")
        // narrow:s, but it has to be in the body.
        client.post(
            "/oauth/token",
            ["grant_type": "client_credentials"],
            headers: [("authorization", "Basic bmFycm93OnM=")]
        )
        #expect(client.error == "invalid_client")
        client.post("/oauth/token", ["grant_type": "refresh_token", "client_id": "cli"])
        #expect(client.error == "invalid_client")
    }

    @Test(arguments: [
        (#"{"oauth": {"clients": [{}]}}"#, "clients[0] needs client_id"),
        (#"{"oauth": {"clients": [{"client_id": "a", "auth_methods": ["magic"]}]}}"#, "is none of none"),
        (#"{"oauth": {"clients": [{"client_id": "a", "auth_methods": ["client_secret_basic"]}]}}"#, "client_secret"),
        (#"{"oauth": {"clients": [{"client_id": "a", "grant_types": ["password"]}]}}"#, "is none of refresh_token"),
        (#"{"oauth": {"client": []}}"#, "unknown key"), (#"{"settings": {"oauth": {"grace": 1}}}"#, "unknown key"),
        (#"{"settings": {"oauth": {"step_up": {}}}}"#, "needs acr_values or max_age_s"),
        (#"{"settings": {"oauth": {"rotation": "sometimes"}}}"#, "must be one of rotating"),
    ])
    func scenariosAreRefusedWithTheReason(json: String, reason: String) {
        #expect {
            try SandboxScenario(json: json)
        } throws: { error in
            (error as? SandboxError)?.message.contains(reason) ?? false
        }
    }

    // MARK: Authorization codes

    private func request() -> KeyValuePairs<String, String> {
        [
            "client_id": "cli", "response_type": "code", "state": "s&1",
            "redirect_uri": "http://127.0.0.1:5123/callback", "login_hint": "ada@example.com",
            "code_challenge": Self.challenge, "code_challenge_method": "S256", "scope": "openid email", "nonce": "n1",
        ]
    }

    private func exchange(_ code: String, verifier: String?, _ client: inout OAuthHarness) -> JSONValue {
        client.post(
            "/oauth2/v1/token",
            [
                "grant_type": "authorization_code", "client_id": "cli", "code": code,
                "redirect_uri": "http://127.0.0.1:5123/callback", "code_verifier": verifier ?? "",
            ]
        )
    }

    @Test func aCodeIsGoodOnceForItsVerifier() {
        var client = OAuthHarness()
        let back = client.authorize(request())
        #expect(client.status == 302)
        #expect(client.answer.header("Location")?.hasPrefix("http://127.0.0.1:5123/callback?code=ac_") == true)
        #expect(back["state"] == "s&1" && back["iss"] == "http://127.0.0.1:9999")
        let code = back["code"] ?? ""
        for wrong in [nil, Self.verifier + "x"] as [String?] {
            _ = exchange(code, verifier: wrong, &client)
            #expect(client.error == "invalid_grant")
        }
        _ = exchange(code, verifier: "short", &client)
        #expect(client.error == "invalid_request")
        let tokens = exchange(code, verifier: Self.verifier, &client)
        #expect(OAuthJWT(tokens["id_token"]?.string ?? "")?.claims["nonce"] == "n1")
        client.get(token: tokens["access_token"]?.string)
        #expect(client.status == 200)
        // The second use ends what the first has made.
        _ = exchange(code, verifier: Self.verifier, &client)
        #expect(client.error == "invalid_grant" && client.counters.familiesRevoked == 1)
        client.get(token: tokens["access_token"]?.string)
        #expect(client.status == 401)
        client.refresh(tokens["refresh_token"]?.string ?? "")
        #expect(client.error == "invalid_grant")
    }

    @Test(arguments: [(299.0, 200), (300.0, 400)])
    func aCodeLivesFiveMinutes(seconds: Double, status: Int) {
        var client = OAuthHarness()
        let code = client.authorize(request())["code"] ?? ""
        client.advance(seconds: seconds)
        _ = exchange(code, verifier: Self.verifier, &client)
        #expect(client.status == status)
    }

    @Test func aPlainChallengeAndNone() {
        var client = OAuthHarness()
        let common: KeyValuePairs = [
            "client_id": "service", "response_type": "code", "login_hint": "ada@example.com",
        ]
        let plain = client.authorize([
            "client_id": "cli", "response_type": "code", "login_hint": "ada@example.com",
            "redirect_uri": "http://127.0.0.1:5123/callback", "code_challenge": Self.verifier,
        ])
        _ = exchange(plain["code"] ?? "", verifier: Self.verifier, &client)
        #expect(client.status == 200)
        // A client that proves itself may go without; then a verifier is wrong, and so is a redirect URI.
        func call(_ more: String) {
            let code = client.authorize(common)["code"] ?? ""
            client.send(
                "POST",
                "/oauth/token",
                body: "grant_type=authorization_code&code=\(code)\(more)",
                headers: [Self.serviceHeader]
            )
        }
        call("&code_verifier=" + Self.verifier)
        #expect(client.error == "invalid_grant")
        call("&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback")
        #expect(client.error == "invalid_grant")
        call("")
        #expect(client.status == 200)
    }

    @Test func redirectionsThatTellOfErrors() {
        var client = OAuthHarness()
        let location = "http://127.0.0.1/callback"
        func error(_ parameters: KeyValuePairs<String, String>) -> String? { client.authorize(parameters)["error"] }
        let challenge = Self.challenge
        #expect(error(["client_id": "cli", "redirect_uri": location]) == "invalid_request")
        #expect(
            error(["client_id": "cli", "response_type": "token", "state": "x"]) == "unsupported_response_type"
        )
        #expect(error(["client_id": "cli", "response_type": "code"]) == "invalid_request")
        #expect(error(["client_id": "service", "response_type": "code"]) == "login_required")
        #expect(
            error(["client_id": "service", "response_type": "code", "login_hint": "nobody@x"]) == "login_required"
        )
        #expect(
            error(["client_id": "service", "response_type": "code", "login_hint": "radia@example.com"])
                == "access_denied"
        )
        #expect(
            error([
                "client_id": "cli", "response_type": "code", "code_challenge": challenge,
                "code_challenge_method": "S512",
            ]) == "invalid_request"
        )
        client.control("POST", "settings", #"{"oauth": {"signed_in_user": "ada@example.com", "authorize": "deny"}}"#)
        #expect(error(["client_id": "service", "response_type": "code"]) == "access_denied")
        client.control("POST", "settings", #"{"oauth": {"authorize": "approve"}}"#)
        #expect(client.authorize(["client_id": "service", "response_type": "code"])["code"] != nil)
        // Nothing is sent to an address that is not the client's.
        for uri in [
            "https://evil.example/callback", "http://127.0.0.1:80.evil.example/callback",
            "http://127.0.0.1:1@evil.example/callback", "http://127.0.0.1:123456/callback", "http://127.0.0.1:5/other",
        ] {
            _ = client.authorize(["client_id": "cli", "response_type": "code", "redirect_uri": uri])
            #expect(client.status == 400 && client.answer.header("Location") == nil, "\(uri)")
        }
        _ = client.authorize(["client_id": "nobody", "response_type": "code"])
        #expect(client.status == 400 && client.error == "invalid_request")
    }

    // MARK: Token exchange

    @Test func tokensAreExchanged() {
        var client = OAuthHarness()
        let first = client.issue(#", "scope": "openid a b""#)
        let prefix = "urn:ietf:params:oauth:token-type:"
        let grant = OAuthGrantType.tokenExchange.wireName
        func call(_ token: String, _ type: String, _ more: String = "") -> JSONValue {
            client.send(
                "POST",
                "/oauth/token",
                body: Harness.encode([
                    "grant_type": grant, "subject_token": token, "subject_token_type": prefix + type,
                ]) + more,
                headers: [Self.serviceHeader]
            )
        }
        let body = call(first.access, "access_token", "&scope=a&audience=x&audience=y")
        #expect(body["issued_token_type"]?.string == prefix + "access_token" && body["scope"] == "a")
        #expect(client.get(token: body["access_token"]?.string)["username"] == "ada@example.com")
        let jwt = call(first.access, "access_token", "&requested_token_type=\(prefix)jwt&audience=x")
        #expect(OAuthJWT(jwt["access_token"]?.string ?? "")?.claims["aud"] == "x")
        _ = call(first.access, "access_token", "&scope=c")
        #expect(client.error == "invalid_scope")
        _ = call(first.access, "access_token", "&resource=nowhere")
        #expect(client.error == "invalid_target")
        for (token, type) in [("x", "access_token"), (first.access, "refresh_token"), (first.access, "saml2")] {
            _ = call(token, type)
            #expect(client.status == 400 && client.error == "invalid_request")
        }
        _ = call(first.access, "access_token", "&actor_token_type=\(prefix)access_token")
        #expect(client.error == "invalid_request")
        #expect(call(first.refresh, "refresh_token")["access_token"] != nil)
        let idToken = client.refresh(first.refresh)["id_token"]?.string ?? ""
        #expect(call(idToken, "id_token")["scope"] == "openid")
        _ = call(idToken + "x", "id_token")
        #expect(client.error == "invalid_request")
        // What was made of a sign-in's token ends with it.
        client.control("POST", "oauth/revoke", #"{"family": "\#(first.family)"}"#)
        client.get(token: body["access_token"]?.string)
        #expect(client.status == 401)
    }
}
