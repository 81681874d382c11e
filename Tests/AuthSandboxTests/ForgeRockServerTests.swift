import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("PingAM sessions, tokens and gateway")
struct ForgeRockServerTests {
    @Test func aSessionIsLookedAtWithoutAUse() {
        var client = ForgeRockHarness { $0.sessionIdle = 60_000 }
        client.keepSession()
        client.advance(seconds: 50)
        let info = client.session("getSessionInfo")
        #expect(info["username"]?.string == "ada" && info["realm"]?.string == "/alpha")
        #expect(info["universalId"]?.string == "id=ada,ou=user,o=alpha,ou=services,ou=am-config")
        client.advance(seconds: 15)
        #expect(client.session("validate")["valid"]?.bool == false)
        client.keepSession()
        client.advance(seconds: 50)
        #expect(client.session("validate")["uid"]?.string == "ada")
        client.advance(seconds: 50)
        #expect(client.session("getTimeLeft")["maxtime"]?.int == 7100)
        #expect(client.session("isActive")["active"]?.bool == true)
    }

    @Test func aLogoutEndsTheSession() {
        var client = ForgeRockHarness()
        client.keepSession()
        #expect(client.session("logout")["result"]?.string == "Successfully logged out")
        #expect(client.base.answer.header("Set-Cookie")?.contains("1970") == true)
        client.session("getSessionInfo")
        #expect(client.status == 401 && client.message == "Access Denied")
    }

    @Test(
        arguments: [
            ("am", "getSessionInfo", 401, nil), ("am", "logout", 401, nil),
            ("am", "validate", 200, #"{"valid":false}"#),
            ("openam", "getSessionInfo", 200, #"{"valid":false}"#), ("openam", "refresh", 200, #"{"valid":false}"#),
            ("openam", "logout", 200, #"{"result":"Token has expired"}"#),
            ("openam", "getTimeLeft", 200, #"{"maxtime":-1}"#),
        ] as [(String, String, Int, String?)]
    )
    func aDeadSessionIsToldInTwoDialects(dialect: String, action: String, status: Int, body: String?) {
        var client = ForgeRockHarness { $0.sessionDialect = dialect }
        client.cookies["iPlanetDirectoryPro"] = "dead"
        client.session(action)
        #expect(client.status == status)
        if let body { #expect(client.body.text == body) }
    }

    @Test func theTokenMayComeInAHeaderOrTheBody() {
        var client = ForgeRockHarness { $0.cookieName = "5a1b" }
        client.signIn()
        let token = client.token ?? ""
        client.send("POST", "/json/sessions?_action=validate", "{}", headers: [("5a1b", token)])
        #expect(client.body["valid"]?.bool == true)
        client.send("POST", "/json/sessions?_action=validate", #"{"tokenId":"\#(token)"}"#)
        #expect(client.body["valid"]?.bool == true)
        client.version = "resource=1.1"
        #expect(client.send("GET", "/json/serverinfo/*")["cookieName"]?.string == "5a1b")
        #expect(!client.base.world.log.records.contains { $0.headers.contains { $0.contains(token) } })
    }

    @Test func onesOwnProfileAndNobodyElses() {
        var client = ForgeRockHarness()
        client.send("GET", "\(client.realm)/users/ada")
        #expect(client.status == 401)
        client.keepSession()
        #expect(client.send("GET", "\(client.realm)/users/ada")["mail"]?[0]?.string == "ada@example.com")
        client.send("GET", "\(client.realm)/users/grace")
        #expect(client.status == 403)
        client.version = nil
        client.send("GET", "\(client.realm)/users/ada")
        #expect(client.status == 400)
    }

    // MARK: OAuth 2

    private static let oauth = "/am/oauth2/realms/root/realms/alpha"
    private static let authorization =
        "client_id=cli&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&scope=openid&state=s1"
        + "&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"

    private func form(_ client: inout ForgeRockHarness, _ path: String, _ body: String) -> JSONValue {
        client.send("POST", Self.oauth + path, body, type: "application/x-www-form-urlencoded")
    }

    private func tokens(_ client: inout ForgeRockHarness) throws -> JSONValue {
        let csrf = FormEncoding.encode(client.cookies["iPlanetDirectoryPro"] ?? "")
        _ = form(&client, "/authorize", "\(Self.authorization)&decision=allow&csrf=\(csrf)")
        #expect(client.status == 302 && client.query("state") == "s1")
        let code = try #require(client.query("code"))
        return form(
            &client,
            "/access_token",
            "grant_type=authorization_code&client_id=cli&code=\(code)"
                + "&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        )
    }

    @Test func aSessionIsExchangedForTokensThatRotate() throws {
        var client = ForgeRockHarness()
        client.keepSession()
        let tokens = try tokens(&client)
        let first = try #require(tokens["refresh_token"]?.string)
        let access = try #require(tokens["access_token"]?.string)
        client.send("GET", Self.oauth + "/userinfo", headers: [("authorization", "Bearer \(access)")])
        #expect(client.body["sub"]?.string == "ada")
        client.send("GET", Self.oauth + "/userinfo", headers: [("authorization", "Bearer nonsense")])
        #expect(client.status == 401)
        #expect(client.base.answer.header("WWW-Authenticate")?.contains("invalid_token") == true)
        client.send("GET", "/ig/api/items", headers: [("authorization", "Bearer \(access)")])
        #expect(client.status == 200)
        let second = form(&client, "/access_token", "grant_type=refresh_token&client_id=cli&refresh_token=\(first)")
        #expect(second["refresh_token"]?.string != first && second["access_token"] != nil)
        let reuse = form(&client, "/access_token", "grant_type=refresh_token&client_id=cli&refresh_token=\(first)")
        #expect(client.status == 400 && reuse["error"]?.string == "invalid_grant")
        let newest = second["refresh_token"]?.string ?? ""
        let dead = form(&client, "/access_token", "grant_type=refresh_token&client_id=cli&refresh_token=\(newest)")
        #expect(dead["error"]?.string == "invalid_grant", "the reuse has ended the family")
    }

    @Test func revokingIntrospectingAndEndingTheSession() throws {
        var client = ForgeRockHarness()
        client.keepSession()
        let tokens = try tokens(&client)
        let access = tokens["access_token"]?.string ?? ""
        let service = "client_id=service&client_secret=service-secret"
        #expect(form(&client, "/introspect", "token=\(access)&\(service)")["active"]?.bool == true)
        _ = form(&client, "/token/revoke", "token=\(tokens["refresh_token"]?.string ?? "")&client_id=cli")
        #expect(client.status == 200)
        #expect(form(&client, "/introspect", "token=\(access)&\(service)")["active"]?.bool == false)
        client.send("GET", Self.oauth + "/connect/endSession?id_token_hint=\(tokens["id_token"]?.string ?? "")")
        #expect(client.status == 204)
        client.session("getSessionInfo")
        #expect(client.status == 401)
        let end = Self.oauth + "/connect/endSession"
        for (query, status, word) in [
            ("", 400, "bad_request"), ("?id_token_hint=broken", 500, "server_error"),
            ("?id_token_hint=x&post_logout_redirect_uri=/bye", 400, "relative_redirect_uri"),
        ] {
            #expect(client.send("GET", end + query)["error"]?.string == word)
            #expect(client.status == status)
        }
    }

    @Test func withoutASessionThereIsNoCode() {
        var client = ForgeRockHarness()
        client.send("GET", "\(Self.oauth)/authorize?\(Self.authorization)")
        #expect(client.status == 302 && client.location.hasPrefix("http://127.0.0.1:9999/am/"))
        client.send("GET", "\(Self.oauth)/authorize?\(Self.authorization)&prompt=none")
        #expect(client.query("error") == "login_required")
        client.keepSession()
        _ = form(&client, "/authorize", "\(Self.authorization)&decision=allow&csrf=wrong")
        #expect(client.status == 400)
        let csrf = FormEncoding.encode(client.cookies["iPlanetDirectoryPro"] ?? "")
        _ = form(&client, "/authorize", "\(Self.authorization)&csrf=\(csrf)")
        #expect(client.query("error") == "access_denied")
        client.send("GET", "/am/oauth2/realms/root/realms/nowhere/userinfo")
        #expect(client.status == 404)
    }

    // MARK: The gateway

    /// The advice of an answer, as the authenticate endpoint takes it.
    private func advice(_ client: ForgeRockHarness) -> String? {
        if let value = client.query("authIndexValue") {
            return value.hasPrefix("<") ? value : Base64.decode(value.utf8).map { String(decoding: $0, as: UTF8.self) }
        }
        var object = client.body["advices"]
        if let challenge = client.base.answer.header("WWW-Authenticate"),
            let start = challenge.firstRange(of: "advices=\"")?.upperBound
        {
            let bytes = Base64.decode(challenge[start...].prefix { $0 != "\"" }.utf8)
            object = bytes.flatMap { try? JSONValue(parsing: $0) }
        }
        return object?["TransactionConditionAdvice"]?[0]?.string.map { ForgeRockAdvice.transaction($0).xml }
    }

    @Test(arguments: [
        ("redirect", "xml", 307), ("redirect", "base64", 307), ("header", "xml", 401), ("body", "xml", 200),
    ])
    func aTransactionIsConfirmedAndUsedOnce(carrier: String, encoding: String, status: Int) throws {
        var client = ForgeRockHarness {
            $0.adviceCarrier = carrier
            $0.adviceEncoding = encoding
        }
        client.send("GET", "/ig/txn")
        #expect(client.status == 307 && client.query("authIndexType") == nil, "first a sign-in")
        client.keepSession()
        client.send("GET", "/ig/txn")
        #expect(client.status == status)
        let xml = try #require(advice(client))
        guard case .transaction(let id)? = ForgeRockAdvice(parsing: xml) else {
            Issue.record("no transaction")
            return
        }
        client.send("GET", "/ig/txn?_txid=\(id)")
        #expect(client.status == status, "nobody has confirmed it")
        let query = "authIndexType=composite_advice&authIndexValue=\(FormEncoding.encode(xml))"
        client.step = client.send("POST", "\(client.realm)/authenticate?\(query)", "{}")
        #expect(client.types == ["TextOutputCallback", "PasswordCallback"])
        client.answer(.string(Harness.password))
        #expect(client.token == client.cookies["iPlanetDirectoryPro"], "the session stays the same")
        client.send("GET", "/ig/txn/other?_txid=\(id)")
        #expect(client.body["user"] == nil, "it is for its resource alone")
        client.send("GET", "/ig/txn?_txid=\(id)")
        #expect(client.body["user"]?.string == "ada")
        client.send("GET", "/ig/txn?_txid=\(id)")
        #expect(client.body["user"] == nil, "it is good once")
        #expect(client.counters.transactionsUsed == 1)
    }

    @Test func aStrongerJourneyReplacesTheSession() {
        var client = ForgeRockHarness()
        client.keepSession()
        client.send("GET", "/ig/app")
        #expect(client.body["user"]?.string == "ada")
        client.send("GET", "/ig/journey/body")
        #expect(client.body["advices"]?["AuthenticateToServiceConditionAdvice"]?[0]?.string == "/alpha:StepUp")
        let xml = FormEncoding.encode(ForgeRockAdvice.journey("/alpha:StepUp").xml)
        client.step = client.send(
            "POST",
            "\(client.realm)/authenticate?authIndexType=composite_advice&authIndexValue=\(xml)",
            "{}"
        )
        client.answer(.string(Harness.password))
        let old = client.cookies["iPlanetDirectoryPro"]
        #expect(client.token != nil && client.token != old)
        client.cookies["iPlanetDirectoryPro"] = client.token
        client.send("GET", "/ig/journey/body")
        #expect(client.body["user"]?.string == "ada")
        client.cookies["iPlanetDirectoryPro"] = old
        #expect(client.session("validate")["valid"]?.bool == false)
    }

    /// A journey that asks for a name may be answered by another person, who gets no more than a session of their own.
    @Test(arguments: [true, false])
    func somebodyElseConfirmsNothing(isTransaction: Bool) throws {
        var client = ForgeRockHarness { $0.stepUpJourney = "LoginLoop" }
        client.keepSession()
        let old = client.cookies["iPlanetDirectoryPro"]
        client.send("GET", "/ig/\(isTransaction ? "txn" : "journey")/body")
        let xml = try #require(isTransaction ? advice(client) : ForgeRockAdvice.journey("/alpha:LoginLoop").xml)
        func step(as name: String) {
            let query = "authIndexType=composite_advice&authIndexValue=\(FormEncoding.encode(xml))"
            client.step = client.send("POST", "\(client.realm)/authenticate?\(query)", "{}")
            client.answer(.string(name), .string(Harness.password))
        }
        step(as: "grace")
        #expect(client.token != nil && client.token != old && client.counters.transactions == 0)
        #expect(client.session("getSessionInfo")["username"]?.string == "ada", "the first one's lives")
        step(as: "ada")
        #expect(client.token != nil && (client.token == old) == isTransaction)
        #expect(client.counters.transactions == (isTransaction ? 1 : 0))
    }

    // MARK: Faults, scenarios and control

    @Test(arguments: [
        (#"{"kind": "status"}"#, 503, #"{"code":503,"reason":"Service Unavailable","message":"Service Unavailable"}"#),
        (
            #"{"kind": "envelope", "status": 200}"#, 200,
            #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"failureUrl":""}}"#
        ),
        (
            #"{"kind": "envelope", "envelope": "am+number", "code": "110"}"#, 401,
            #"{"code":401,"reason":"Unauthorized","message":"Login failure","detail":{"errorCode":110,"failureUrl":""}}"#
        ),
        (
            #"{"kind": "envelope", "envelope": "am-reason"}"#, 401,
            #"{"code":401,"message":"Login failure","detail":{"failureUrl":""}}"#
        ),
        (
            #"{"kind": "envelope", "envelope": "am+top"}"#, 401,
            #"{"code":401,"reason":"Unauthorized","message":"Login failure","failureUrl":""}"#
        ),
        (#"{"kind": "envelope", "envelope": "am1"}"#, 401, #"{"errorMessage":"Login failure","failureUrl":""}"#),
        (
            #"{"kind": "status", "status": 408}"#, 408,
            #"{"code":408,"reason":"Request Timeout","message":"Authentication Error: Authentication timeout."}"#
        ),
    ])
    func faultsLookLikeTheServers(json: String, status: Int, body: String) throws {
        var client = ForgeRockHarness()
        client.base.world.faults.add(try SandboxFault(json: json))
        client.begin("Login")
        #expect(client.status == status && client.body.text == body)
    }

    @Test func theTokenEndpointFailsInItsOwnWords() throws {
        var client = ForgeRockHarness()
        client.base.world.faults.add(
            try SandboxFault(json: #"{"match": {"grant": "refresh_token"}, "kind": "status"}"#)
        )
        let body = form(&client, "/access_token", "grant_type=refresh_token&client_id=cli&refresh_token=x")
        #expect(client.status == 503 && body["error"]?.string == "temporarily_unavailable")
    }

    @Test func aScenarioTellsRealmsPeopleAndSettings() throws {
        let scenario = try SandboxScenario(
            json: """
                {"users": [{"emails": "eva@example.com", "password": "p", "forgerock": {"name": "evi", "realms": "alpha"}}],
                 "settings": {"forgerock": {"realms": ["alpha"], "default_journey": "MFA", "fixed_code": "123456"}}}
                """
        )
        #expect(scenario.settings.forgerock.hasRealm("/alpha"))
        var client = ForgeRockHarness(scenario.users)
        client.base.world.settings = scenario.settings
        client.signIn("evi", "p")
        #expect(client.token != nil)
        client.realm = "/json"
        client.signIn("evi", "p")
        #expect(client.status == 401, "there is no such account in the root realm")
        for wrong in [
            #"{"settings": {"forgerock": {"default_journey": "None"}}}"#,
            #"{"settings": {"forgerock": {"stepup": 1}}}"#,
            #"{"settings": {"forgerock": {"cookie_name": "a=b"}}}"#,
            #"{"users": [{"emails": "a@b.c", "forgerock": {"x": 1}}]}"#,
        ] {
            #expect(throws: SandboxError.self) { _ = try SandboxScenario(json: wrong) }
        }
    }

    @Test func theControlEndpointsDoWhatTheySay() throws {
        var client = ForgeRockHarness()
        let token = client.base.control("POST", "forgerock/session", #"{"user": "ada"}"#)["tokenId"]?.string
        client.cookies["iPlanetDirectoryPro"] = token
        #expect(client.session("validate")["valid"]?.bool == true)
        let view = client.base.control("GET", "forgerock")
        #expect(view["sessions"]?.array?.count == 1 && view["journeys"]?.array?.count == ForgeRockTree.list.count)
        #expect(!view.text.contains(token ?? "-"))
        #expect(client.base.control("POST", "forgerock/end", #"{"user": "ada"}"#)["ended"]?.int == 1)
        #expect(client.session("validate")["valid"]?.bool == false)
        client.base.control("POST", "forgerock/lock", #"{"user": "ada", "seconds": 5}"#)
        client.signIn()
        #expect(client.message == "Your account has been locked.")
        client.base.control("POST", "forgerock/lock", #"{"user": "nobody", "seconds": 5}"#)
        #expect(client.base.answer.status == 404)
    }

    @Test func theSameSeedMakesTheSameTokens() {
        var (one, two) = (ForgeRockHarness(), ForgeRockHarness())
        one.base.signIn("ada@example.com")
        one.signIn()
        two.signIn()
        #expect(one.token == two.token && one.token != nil)
    }
}
