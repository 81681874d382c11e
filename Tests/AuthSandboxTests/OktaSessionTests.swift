import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Okta: sessions, limits and tokens")
struct OktaSessionTests {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    private func signedIn() -> OktaHarness {
        var client = OktaHarness()
        client.begin("ada@example.com")
        let token = client.body["sessionToken"] ?? .null
        client.call("POST", "/api/v1/sessions", ["sessionToken": token])
        client.session = client.body["id"]?.string
        return client
    }

    @Test func aSessionTokenMakesOneSession() {
        var client = OktaHarness()
        client.begin("ada@example.com")
        let token = client.body["sessionToken"] ?? .null
        client.call("POST", "/api/v1/sessions", ["sessionToken": token])
        #expect(client.status == 200 && client.body["status"] == "ACTIVE" && client.body["id"]?.string != nil)
        client.call("POST", "/api/v1/sessions", ["sessionToken": token])
        #expect(client.status == 401 && client.code == "E0000004")
        client.begin("ada@example.com")
        let late = client.body["sessionToken"] ?? .null
        client.advance(seconds: 300)
        client.call("POST", "/api/v1/sessions", ["sessionToken": late])
        #expect(client.code == "E0000004")
    }

    @Test func aSessionLivesUntilItEnds() {
        var client = signedIn()
        #expect(client.call("GET", "/api/v1/sessions/me")["login"] == "ada@example.com")
        #expect(client.call("GET", "/api/v1/users/me")["profile"]?["login"] == "ada@example.com")
        client.advance(seconds: 7000)
        #expect(client.call("POST", "/api/v1/sessions/me/lifecycle/refresh")["status"] == "ACTIVE")
        client.advance(seconds: 7000)
        client.call("GET", "/api/v1/sessions/me")
        #expect(client.status == 200)
        client.call("DELETE", "/api/v1/sessions/me")
        #expect(client.status == 204 && client.base.answer.body.isEmpty)
        client.call("GET", "/api/v1/sessions/me")
        #expect(client.status == 404 && client.code == "E0000007")
        client.call("GET", "/api/v1/users/me")
        #expect(client.status == 403 && client.code == "E0000005")
    }

    @Test func aSessionRunsOutAndEndsFromAfar() {
        var client = signedIn()
        client.advance(seconds: 7200)
        client.call("GET", "/api/v1/sessions/me")
        #expect(client.code == "E0000007")
        client = signedIn()
        #expect(client.base.control("POST", "okta/end", #"{"user": "ada@example.com"}"#)["ended"] == 1)
        client.call("GET", "/api/v1/sessions/me")
        #expect(client.code == "E0000007")
    }

    // MARK: Headers

    @Test func everyAnswerTellsOfTheLimits() {
        var client = OktaHarness()
        for path in ["/api/v1/authn", "/api/v1/sessions/me", "/oauth2/v1/userinfo"] {
            client.call("GET", path)
            for name in ["date", "x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"] {
                #expect(client.lines(name).count == 1, "\(path) \(name)")
            }
        }
        client.call("GET", "/api/things")
        #expect(client.lines("x-rate-limit-limit").isEmpty)
    }

    @Test func theLimitHoldsForAMinute() {
        var client = OktaHarness { $0.rateLimit = .init(count: 2, per: 60_000) }
        for left in ["1", "0"] {
            client.begin("ada@example.com")
            #expect(client.lines("x-rate-limit-remaining") == [left])
        }
        client.begin("ada@example.com")
        #expect(client.status == 429 && client.code == "E0000047")
        let reset = Int64(client.lines("x-rate-limit-reset").first ?? "") ?? 0
        #expect(reset == client.base.now / 1000 + 60)
        // Nothing was tried, and another API is open.
        #expect(client.world.counters.passwordAttempts == 2)
        client.call("GET", "/api/v1/sessions/me")
        #expect(client.status == 404)
        client.advance(seconds: 60)
        #expect(client.begin("ada@example.com") == "SUCCESS")
    }

    @Test func headersAreWrittenAsTheSettingsSay() {
        var client = OktaHarness {
            $0.rateLimit = .init(count: 1, per: 60_000)
            $0.headerCase = "title"
            $0.resets = [60, 3]
            $0.clockSkew = -7_200_000
            $0.isConcurrencyLimit = true
        }
        client.begin("ada@example.com")
        client.begin("ada@example.com")
        #expect(client.status == 429)
        #expect(client.lines("X-Rate-Limit-Limit") == ["0"] && client.lines("X-Rate-Limit-Remaining") == ["0"])
        let second = client.base.now / 1000 - 7200
        #expect(client.lines("X-Rate-Limit-Reset") == ["\(second + 60)", "\(second + 3)"])
        #expect(client.lines("Date") == [Timestamp(milliseconds: second * 1000).httpDate])
        client.base.world.settings.okta.sendsRateHeaders = false
        client.base.world.settings.okta.headerCase = "upper"
        client.begin("ada@example.com")
        #expect(client.lines("DATE").count == 1 && client.base.answer.header("x-rate-limit-limit") == nil)
    }

    @Test func faultsLookLikeOktas() throws {
        var client = OktaHarness { $0.resets = [9] }
        for (json, status, code) in [
            (#"{"kind": "status", "status": 429}"#, 429, "E0000047"),
            (#"{"kind": "status", "status": 500}"#, 500, "E0000009"),
            (#"{"kind": "status", "status": 401, "code": "E0000011"}"#, 401, "E0000011"),
            (#"{"kind": "status", "status": 403, "code": "E0009999"}"#, 403, "E0009999"),
            (#"{"kind": "status", "status": 500, "body": "Internal Server Error"}"#, 500, nil),
            (#"{"kind": "html"}"#, 502, nil), (#"{"kind": "empty"}"#, 500, nil),
        ] as [(String, Int, String?)] {
            client.base.control("POST", "faults", json)
            client.begin("ada@example.com")
            #expect(client.status == status && client.code == code, "\(json)")
            if status == 429 {
                #expect(client.lines("x-rate-limit-remaining") == ["0"])
                #expect(client.lines("x-rate-limit-reset") == ["\(client.base.now / 1000 + 9)"])
            }
        }
        #expect(
            client.base.world.log.records.compactMap(\.errorCode) == ["E0000047", "E0000009", "E0000011", "E0009999"]
        )
    }

    // MARK: Tokens

    private func authorize(_ client: inout OktaHarness, _ more: KeyValuePairs<String, String>) -> [String: String] {
        var fields = [
            "client_id=cli", "response_type=code", "scope=openid+offline_access", "prompt=none", "state=s", "nonce=n",
            "redirect_uri=com.example.cli%3A%2Fcallback", "code_challenge_method=S256",
            "code_challenge=\(Self.challenge)",
        ]
        fields += more.map { "\($0.key)=\($0.value)" }
        client.call("GET", "/oauth2/v1/authorize?" + fields.joined(separator: "&"))
        let query = (client.base.answer.header("Location") ?? "").split(separator: "?", maxSplits: 1).last ?? ""
        return Dictionary(FormEncoding.fields(Array(query.utf8)).map { ($0.name, $0.value) }) { $1 }
    }

    private func token(_ client: inout OktaHarness, _ form: KeyValuePairs<String, String>) {
        client.base.send(
            SandboxRequest(
                method: "POST",
                target: "/oauth2/v1/token",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array(Harness.encode(form).utf8)
            )
        )
        client.body = client.base.answer.jsonBody ?? .null
    }

    @Test func aSessionTokenIsExchangedForTokensOnce() {
        var client = OktaHarness()
        client.begin("ada@example.com")
        let sessionToken = client.body["sessionToken"]?.string ?? ""
        let person = client.body["_embedded"]?["user"]?["id"]
        let answer = authorize(&client, ["sessionToken": sessionToken])
        #expect(client.status == 302 && answer["state"] == "s")
        #expect(authorize(&client, ["sessionToken": sessionToken])["error"] == "login_required")
        let form: KeyValuePairs = [
            "grant_type": "authorization_code", "client_id": "cli", "code": answer["code"] ?? "",
            "redirect_uri": "com.example.cli:/callback", "code_verifier": Self.verifier,
        ]
        token(&client, form)
        #expect(client.status == 200)
        let access = client.body["access_token"]?.string ?? ""
        let refresh = client.body["refresh_token"]?.string ?? ""
        client.call("GET", "/api/v1/users/me", headers: [("authorization", "Bearer \(access)")])
        #expect(client.status == 200 && client.body["sub"] == person)
        // A code that is used twice ends what was made with it.
        token(&client, form)
        #expect(client.body["error"] == "invalid_grant")
        client.call("GET", "/api/v1/users/me", headers: [("authorization", "Bearer \(access)")])
        #expect(
            client.status == 401 && client.base.answer.header("WWW-Authenticate")?.contains("invalid_token") == true
        )
        token(&client, ["grant_type": "refresh_token", "client_id": "cli", "refresh_token": refresh])
        #expect(client.status == 400)
        // Neither the token nor the code stands in the log.
        let log = client.base.control("GET", "requests").text
        #expect(!log.contains(sessionToken) && !log.contains(answer["code"] ?? "?"))
    }

    @Test func aSessionOrAPageStandsAtTheAuthorizationEndpoint() {
        var client = signedIn()
        #expect(authorize(&client, [:])["code"] != nil)
        client.session = nil
        #expect(authorize(&client, [:])["error"] == "login_required")
        client.base.world.settings.okta.authorizeFailure = "page"
        _ = authorize(&client, ["sessionToken": "x"])
        #expect(client.status == 200 && client.base.answer.header("content-type")?.hasPrefix("text/html") == true)
    }

    /// So do orgs whose app wants a second factor of people whom the session's own policy asks for none.
    @Test func anAppMayWantMoreThanAPassword() {
        var client = OktaHarness { $0.appRequiresMFA = true }
        client.begin("ada@example.com")
        let answer = authorize(&client, ["sessionToken": client.body["sessionToken"]?.string ?? ""])
        #expect(answer["error"] == "login_required" && answer["state"] == "s")
        #expect(answer["error_description"]?.contains("re-authentication or MFA") == true)
        client = OktaHarness(.init("question")) { $0.okta.appRequiresMFA = true }
        client.begin()
        let id = client.body["_embedded"]?["factors"]?[0]?["id"]?.string ?? ""
        client.step("factors/\(id)/verify", ["answer": "Rex"])
        #expect(authorize(&client, ["sessionToken": client.body["sessionToken"]?.string ?? ""])["code"] != nil)
    }

    @Test func aLimitAtTheTokenEndpointSpeaksOfADeadToken() {
        var client = OktaHarness { $0.rateLimit = .init(count: 1, per: 60_000) }
        token(&client, ["grant_type": "refresh_token", "client_id": "cli", "refresh_token": "x"])
        token(&client, ["grant_type": "refresh_token", "client_id": "cli", "refresh_token": "x"])
        #expect(client.status == 429 && client.body["error"] == "invalid_grant")
        #expect(client.lines("x-rate-limit-remaining") == ["0"])
    }

    // MARK: Scenarios and the log

    @Test func peopleAndSettingsAreReadFromAScenario() throws {
        let scenario = try SandboxScenario(
            json: """
                {"default_users": false, "users": [{"emails": "eva@example.com", "password": "x", "okta": {
                   "password": "expired", "factors": ["sms", {"type": "push", "script": ["SUCCESS"], "number": "7"},
                     {"type": "question", "question": "Q", "answer": "A"}, {"type": "email", "destination": "e@x.org"}],
                   "enroll": ["webauthn", {"type": "call", "enrollment": "OPTIONAL"}],
                   "recovery_question": "Q", "recovery_answer": "A", "lockout_shown": true, "unlock": false,
                   "forgot": false}}],
                 "settings": {"okta": {"rate_limit": {"count": 5, "per_s": 1}, "remaining": 3, "resets_s": [1, 2],
                   "concurrency": true, "rate_headers": false, "header_case": "upper", "clock_skew_s": -1.5,
                   "transaction_life_s": 1, "session_token_life_s": 2, "session_life_s": 3, "code_life_s": 4,
                   "factor_attempts": 2, "sms_window_s": 1, "email_window_s": 1, "push_life_s": 9,
                   "lockout_shown": true, "quiet_resend": true, "policy_as_text": true,
                   "authorize_failure": "page"}}}
                """
        )
        let user = scenario.users[0].okta
        #expect(user.factors?.map(\.type) == ["sms", "push", "question", "email"])
        #expect(user.factors?[1].script == ["SUCCESS"] && user.factors?[1].number == "7")
        #expect(user.enrollments == [.init("webauthn"), .init("call", isRequired: false)])
        #expect(user.showsLockout == true && !user.mayUnlock && !user.mayRecover)
        var again = SandboxSettings()
        try again.update(from: JSONValue(of: scenario.settings), path: "settings")
        #expect(again == scenario.settings)
    }

    @Test(arguments: [
        (#"{"users": [{"emails": "a", "okta": {"factors": ["carrier_pigeon"]}}]}"#, "factors[0] must be one of push"),
        (#"{"users": [{"emails": "a", "okta": {"factors": [{}]}}]}"#, "factors[0] needs type"),
        (#"{"users": [{"emails": "a", "okta": {"recovery_question": "q"}}]}"#, "needs both"),
        (#"{"users": [{"emails": "a", "okta": {"password": "old"}}]}"#, "must be one of ok"),
        (#"{"settings": {"okta": {"resets_s": ["x"]}}}"#, "resets_s[0] must be a whole number"),
        (#"{"settings": {"okta": {"clock_skew_s": "x"}}}"#, "a number of seconds"),
    ])
    func whatContradictsItselfIsRefused(json: String, reason: String) {
        #expect {
            try SandboxScenario(json: json)
        } throws: { error in
            (error as? SandboxError)?.message.contains(reason) ?? false
        }
    }

    @Test func theLogHasRoutesAndNoSecrets() {
        var client = OktaHarness()
        client.begin("grace@example.com")
        let token = client.token ?? "?"
        client.step(client.factor("token:software:totp") + "/verify", ["passCode": "987654"])
        let log = client.base.control("GET", "requests").text
        for secret in [OktaHarness.password, token, "987654"] { #expect(!log.contains(secret)) }
        #expect(log.contains("POST /api/v1/authn/factors/{id}/verify") && log.contains("username=grace@example.com"))
        #expect(log.contains("passCode=***"))
    }

    @Test func eachProviderAnswersForItself() {
        func status(_ providers: [SandboxProvider], _ path: String, _ headers: [(String, String)] = []) -> Int {
            var client = OktaHarness()
            client.base.world = SandboxWorld(
                scenario: .unlimited,
                seed: 1,
                wallNow: client.base.now,
                providers: Set(providers)
            )
            client.call("GET", path, headers: headers)
            return client.status
        }
        #expect(status([.clerk], "/api/v1/sessions/me") == 404)
        #expect(status([.oauth], "/api/v1/sessions/me") == 401)
        #expect(status([.okta], "/api/v1/users/me") == 403)
        #expect(status([.okta], "/api/v1/users/me", [("authorization", "Bearer x")]) == 401)
        #expect(status([.okta], "/oauth2/default/.well-known/openid-configuration") == 200)
        #expect(status([.okta], "/v1/environment") == 404)
        #expect(status(SandboxProvider.all, "/api/v1/environment?_is_native=1", [("authorization", "")]) == 200)
    }
}
