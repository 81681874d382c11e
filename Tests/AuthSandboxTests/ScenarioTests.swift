import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Scenarios and control")
struct ScenarioTests {
    @Test func aWholeScenario() throws {
        let scenario = try SandboxScenario(
            json: """
                {"default_users": false,
                 "users": [{"emails": ["eva@example.com", "e@example.com"], "phones": "+15035550100", "username": "eva",
                   "first_name": "Eva", "last_name": "E", "password": null, "password_state": "ok",
                   "first_factors": ["email_code"], "second_factors": ["totp"], "totp_secret": "MZXW6YTB",
                   "backup_codes": ["a"], "device_trust": true, "lockout": {"threshold": 2, "duration_s": null},
                   "locked_s": 1.5, "state": "active", "tasks": ["setup-mfa"], "status_after_first_factor": "x"}],
                 "settings": {"single_session": false, "enumeration_protection": true, "native_api": true,
                   "lockout": {"threshold": 3, "duration_s": 2.5, "format": "string", "warnings": true},
                   "rate_limits": {"create_sign_in": {"count": 9, "per_s": 1}, "attempt_sign_in": null},
                   "session_token_life_s": 5, "session_life_s": 60, "sign_in_life_s": 60, "code_life_s": 60,
                   "code_attempts": 5, "resend_window_s": 1, "totp_single_use": true, "ended_session": "signed_out",
                   "require_token_seed": true, "client_in_errors": true, "client_token_grace_s": 1,
                   "password_policy": {"min_length": 9, "require_number": true, "require_uppercase": true,
                     "require_special": true, "breached": ["x"]}},
                 "faults": [{"kind": "status", "status": 503, "times": 0}]}
                """
        )
        #expect(scenario.users.count == 1 && scenario.users[0].initialLock == .milliseconds(1500))
        #expect(scenario.users[0].lockout?.duration == nil && scenario.users[0].lockout?.threshold == 2)
        #expect(scenario.settings.lockout.duration == 2500 && scenario.settings.rateLimits.attemptSignIn == nil)
        #expect(scenario.settings.rateLimits.createSignIn == SandboxSettings.Limit(count: 9, per: 1000))
        #expect(scenario.faults.first?.times == 0)
        // What the settings show can be read again.
        var again = SandboxSettings()
        try again.update(from: JSONValue(of: scenario.settings), path: "settings")
        #expect(again == scenario.settings)
    }

    @Test func aPersonReplacesADefaultOne() throws {
        let scenario = try SandboxScenario(json: #"{"users": [{"emails": "ADA@example.com", "password": "x"}]}"#)
        #expect(scenario.users.count == SandboxScenario.defaultUsers.count)
        var client = Harness(scenario)
        #expect(client.signIn("ada@example.com", "x")["status"] == "complete")
    }

    @Test(arguments: [
        ("", "not JSON: line 1, column 1"), ("[]", "scenario must be an object"),
        (#"{"usres": []}"#, #"unknown key "usres" in scenario"#), (#"{"users": {}}"#, "scenario.users must be a list"),
        (#"{"users": [{"emails": "a", "pasword": ""}]}"#, #"unknown key "pasword" in scenario.users[0]"#),
        (#"{"users": [{"emails": "a", "emails": "b"}]}"#, #"has the key "emails" twice"#),
        (#"{"users": [{}]}"#, "needs an e-mail address"), (#"{"users": [{"emails": 1}]}"#, "a list of strings"),
        (#"{"users": [{"emails": "a", "totp_secret": "1"}]}"#, "must be base32"),
        (#"{"users": [{"emails": "a", "state": "sad"}]}"#, "must be one of active"),
        (#"{"users": [{"emails": "a", "first_factors": ["x"]}]}"#, "is none of password"),
        (#"{"settings": {"lockout": {"treshold": 1}}}"#, #"unknown key "treshold" in scenario.settings.lockout"#),
        (#"{"settings": {"code_life_s": -1}}"#, "must be a number of seconds"),
        (#"{"settings": {"code_life_s": 1e300}}"#, "must be a number of seconds"),
        (#"{"settings": {"code_attempts": 1.5}}"#, "must be a whole number"),
        (#"{"settings": {"auth0": {"password_history": -1}}}"#, "password_history must be a whole number from 0 to 24"),
        (#"{"settings": {"auth0": {"request_limit": -5}}}"#, "request_limit must be a whole number from 0"),
        (#"{"settings": {"auth0": {"push_rejection_status": 99}}}"#, "must be a whole number from 200 to 599"),
        (#"{"settings": {"rate_limits": {"create_sign_in": {"count": 1}}}}"#, "create_sign_in needs per_s"),
        (#"{"faults": [{"status": 500}]}"#, "scenario.faults[0] needs kind"),
        (#"{"faults": [{"kind": "explode"}]}"#, "must be one of status"),
        (#"{"faults": [{"kind": "status", "status": 99}]}"#, "from 200 to 599"),
        (#"{"faults": [{"kind": "status", "headers": {"a": 1}}]}"#, "headers.a must be a string"),
    ])
    func refusesWithTheReason(json: String, reason: String) {
        #expect {
            try SandboxScenario(json: json)
        } throws: { error in
            (error as? SandboxError)?.message.contains(reason) ?? false
        }
    }

    @Test func secretsAreMaskedInTheLog() {
        var client = Harness()
        let id = client.begin("barbara@example.com")
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "email_code"])
        let code = client.lastCode
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "email_code", "code": code]
        )
        client.signIn("ada@example.com", "very-secret")
        let token = client.token ?? "?"
        client.send(
            SandboxRequest(
                method: "GET",
                target: "/v1/client?expired_token=hidden-jwt",
                headers: [.init(name: "cookie", value: "__client=hidden-cookie"), .init(name: "x-a", value: "shown")]
            )
        )
        let log = client.control("GET", "requests").text
        for secret in ["very-secret", "\"code=\(code)", token, "hidden-jwt", "hidden-cookie"] {
            #expect(!log.contains(secret))
        }
        #expect(log.contains("x-a: shown") && log.contains("strategy=email_code"))
    }

    @Test func requestsAreCountedByRoute() {
        var client = Harness()
        let id = client.begin("ada@example.com")
        for _ in 0..<2 { client.call("GET", "client/sign_ins/\(id)") }
        let view = client.control("GET", "requests?method=GET&path=*/sign_ins/*")
        #expect(view["counts"]?["GET /v1/client/sign_ins/{id}"]?["received"] == 2)
        #expect(view["total"] == 3 && view["matching"] == 2)
        client.control("DELETE", "requests")
        #expect(client.control("GET", "requests")["total"] == 0)
    }

    @Test func clockUsersLockAndReset() {
        var client = Harness()
        let before = client.control("GET", "clock")["now_ms"]?.int ?? 0
        #expect(client.control("POST", "clock", #"{"advance_s": 90.5}"#)["now_ms"]?.int == before + 90_500)
        #expect(client.reply.now == before + 90_500)
        client.control("POST", "users", #"{"emails": "eva@example.com", "password": "x"}"#)
        #expect(client.signIn("eva@example.com", "x")["status"] == "complete")
        client.call("DELETE", "client")
        client.control("POST", "lock", #"{"user": "eva@example.com", "seconds": 30}"#)
        client.signIn("eva@example.com", "x")
        #expect(client.errors.first?["meta"]?["lockout_expires_in_seconds"] == 30)
        let people = client.control("GET", "users")["users"]?.array ?? []
        #expect(people.last?["locked_s"] == 30)
        client.control("POST", "settings", #"{"session_token_life_s": 1}"#)
        #expect(client.world.settings.sessionTokenLife == 1000)
        #expect(client.control("POST", "reset")["reset"] == true)
        #expect(client.world.settings == client.world.scenario.settings && client.world.log.total == 0)
        client.signIn("eva@example.com", "x")
        #expect(client.code == "form_identifier_not_found")
    }

    @Test(arguments: [
        ("GET", "nothing", "", 404), ("POST", "faults", "{", 400), ("POST", "faults", #"{"kind": 1}"#, 400),
        ("POST", "clock", #"{"advance_s": "x"}"#, 400), ("POST", "clock", "{}", 400),
        ("POST", "lock", #"{"user": "nobody", "seconds": 1}"#, 404), ("GET", "totp?user=ada@example.com", "", 404),
        ("GET", "totp", "", 400), ("POST", "revoke", #"{"status": "gone"}"#, 400), ("DELETE", "faults?id=x", "", 400),
        ("POST", "settings", #"{"x": 1}"#, 400), ("POST", "clock", #"{"advance_s": 3e9}"#, 200),
        ("GET", "", "", 200),
    ])
    func controlAnswers(method: String, path: String, body: String, status: Int) {
        var client = Harness()
        client.control(method, path, body)
        #expect(client.status == status)
        if status >= 400 { #expect(client.answer.jsonBody?["error"]?.string != nil) }
    }

    @Test func theClockCanBeMovedVeryFar() {
        var client = Harness()
        for _ in 0..<20 { client.control("POST", "clock", #"{"advance_s": 3155760000}"#) }
        #expect(client.status == 200)
        #expect(client.signIn("ada@example.com")["status"] == "complete")
    }
}
