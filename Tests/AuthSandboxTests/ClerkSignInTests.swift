import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: signing in")
struct ClerkSignInTests {
    @Test func aPasswordIsEnough() {
        var client = Harness()
        let signIn = client.signIn("ada@example.com")
        #expect(client.status == 200)
        #expect(signIn["status"] == "complete")
        #expect(signIn["supported_first_factors"] == .null)
        #expect(signIn["first_factor_verification"]?["status"] == "verified")
        let shown = client.answer.jsonBody?["client"]
        #expect(shown?["sessions"]?[0]?["id"] == signIn["created_session_id"])
        #expect(shown?["sessions"]?[0]?["status"] == "active")
        #expect(shown?["sign_in"] == .null)
        #expect(client.token != nil)
    }

    @Test func theClientTokenRotatesOnEachCompletedSignIn() {
        var client = Harness { $0.isSingleSession = false }
        client.call("POST", "client")
        let first = client.token
        client.signIn("ada@example.com")
        let second = client.token
        #expect(first != nil && second != nil && first != second)
        client.signIn("margaret@example.com", "wrong")
        #expect(client.answer.header("Authorization") == nil)
        // The token that was rotated away stands for nobody: whoever presents it is made a client without sessions.
        client.token = first
        #expect(client.call("GET", "client")["response"]?["sessions"] == [])
        #expect(client.token != nil && client.token != first && client.token != second)
        client.token = "made-up"
        #expect(client.call("GET", "client")["response"] == .null)
    }

    @Test func aRotatedTokenIsTakenDuringItsGrace() {
        var client = Harness { $0.clientTokenGrace = 2000 }
        client.call("POST", "client")
        let first = client.token
        client.signIn("ada@example.com")
        client.token = first
        #expect(client.call("GET", "client")["response"]?["sessions"]?.array?.count == 1)
        client.advance(seconds: 3)
        client.token = first
        #expect(client.call("GET", "client")["response"]?["sessions"] == [])
    }

    @Test func byIdentifierThenPassword() {
        var client = Harness()
        let id = client.begin("ada@example.com")
        let factors = client.answer.jsonBody?["response"]?["supported_first_factors"]?.array ?? []
        #expect(
            factors.compactMap { $0["strategy"]?.string } == ["password", "email_code", "reset_password_email_code"]
        )
        #expect(factors[1]["safe_identifier"] == "a***@example.com")
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "password", "password": Harness.password]
        )
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
        #expect(client.call("GET", "client/sign_ins/\(id)")["response"]?["status"] == "complete")
        // The same attempt again: it has been done.
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "password", "password": Harness.password]
        )
        #expect(client.status == 400 && client.code == "verification_already_verified")
    }

    @Test func aCompromisedPasswordBecomesAnEmailCodeAndANewPassword() {
        var client = Harness()
        client.signIn("linus@example.com")
        #expect(client.status == 422 && client.code == "form_password_compromised" && client.parameter == "password")
        // The sign-in is still there to go on with.
        let id = client.call("GET", "client")["response"]?["sign_in"]?["id"]?.string ?? ""
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "email_code"])
        #expect(client.status == 200)
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "email_code", "code": client.lastCode]
        )
        // Signed in, and signed out for every app until there is a new password.
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
        let session = client.answer.jsonBody?["client"]?["sessions"]?[0]
        #expect(session?["status"] == "pending" && session?["tasks"] == [["key": "reset-password"]])
        client.call("POST", "me/change_password", ["new_password": Harness.password])
        #expect(client.code == "form_password_pwned")
        client.call("POST", "me/change_password", ["new_password": "a-better-one-77"])
        #expect(client.status == 200)
        let after = client.call("GET", "client")["response"]?["sessions"]?[0]
        #expect(after?["status"] == "active" && after?["tasks"] == [])
        client.call("DELETE", "client")
        #expect(client.signIn("linus@example.com", "a-better-one-77")["status"] == "complete")
    }

    @Test func aNewPasswordComesBehindTheSecondFactor() {
        var client = Harness()
        let id = client.begin("alan@example.com")
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "email_code"])
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "email_code", "code": client.lastCode]
        )
        #expect(client.answer.jsonBody?["response"]?["status"] == "needs_second_factor")
    }

    @Test(arguments: [
        ("pwned", "form_password_pwned"), ("reset_required", "password_reset_required"),
        ("too_long", "password_too_long_needs_reset"), ("compromised", "form_password_pwned"),
    ])
    func aPasswordThatHasToBeReplaced(state: String, code: String) {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.passwordState = state
        user.firstFactors = ["password", "reset_password_email_code"]
        var client = Harness(user: user)
        client.signIn("eva@example.com", "open")
        #expect(client.status == 422 && client.code == code)
        let id = client.begin("eva@example.com")
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "reset_password_email_code"])
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "reset_password_email_code", "code": client.lastCode]
        )
        #expect(client.answer.jsonBody?["response"]?["status"] == "needs_new_password")
    }

    @Test(arguments: [
        ("banned", 403, "user_banned"), ("deactivated", 403, "user_deactivated"),
        ("deprovisioned", 401, "deprovisioned"),
    ])
    func accountsThatAreClosed(state: String, status: Int, code: String) {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.state = state
        var client = Harness(user: user)
        client.signIn("eva@example.com", "open")
        #expect(client.status == status && client.code == code)
    }

    @Test func wrongIdentifiersAndPasswords() {
        var client = Harness()
        client.signIn("nobody@example.com")
        #expect(client.status == 422 && client.code == "form_identifier_not_found" && client.parameter == "identifier")
        client.signIn("ada@example.com", "wrong")
        #expect(client.status == 422 && client.code == "form_password_incorrect" && client.parameter == "password")
        #expect(client.call("GET", "client")["response"]?["sign_in"] == .null)
        // The token that came with the refusal is good.
        #expect(client.call("GET", "client")["response"]?["id"]?.string != nil)
    }

    @Test func enumerationProtectionHidesWhoExists() {
        for identifier in ["nobody@example.com", "ada@example.com"] {
            var client = Harness { $0.protectsAgainstEnumeration = true }
            client.signIn(identifier, "wrong")
            #expect(client.status == 422 && client.code == "form_password_or_identifier_incorrect")
            let id = client.begin(identifier)
            client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": "email_code"])
            #expect(client.status == 200)
            client.call(
                "POST",
                "client/sign_ins/\(id)/attempt_first_factor",
                ["strategy": "email_code", "code": "000000"]
            )
            #expect(client.status == 422 && client.code == "form_code_incorrect")
        }
    }

    @Test func formsThatAreNotRight() {
        var client = Harness()
        let table: [(KeyValuePairs<String, String>, Int, String, String?)] = [
            (["password": "x"], 422, "form_param_missing", "identifier"),
            (["identifier": ""], 422, "form_param_nil", "identifier"),
            (["identifier": "ada@example.com", "password": ""], 422, "form_param_nil", "password"),
            (["identifier": "a", "strategy": "password"], 422, "form_conditional_param_missing", "password"),
            (["identifier": "a", "strategy": "magic"], 422, "form_param_value_invalid", "strategy"),
            (["identifier": "a", "x[y]": "1"], 422, "form_param_unknown", "x[y]"),
            (["strategy": "ticket", "ticket": "1"], 400, "ticket_invalid_code", nil),
            (["identifier": "ada@example.com", "strategy": "phone_code"], 400, "strategy_for_user_invalid", nil),
        ]
        for (form, status, code, parameter) in table {
            client.call("POST", "client/sign_ins", form)
            #expect(client.status == status && client.code == code && client.parameter == parameter, "\(code)")
        }
    }

    @Test func withoutAnIdentifierItNeedsOne() {
        var client = Harness()
        client.call("POST", "client/sign_ins", ["locale": "de-DE"])
        #expect(client.answer.jsonBody?["response"]?["status"] == "needs_identifier")
    }

    @Test func aStrategyAtCreationSendsTheCodeAtOnce() {
        var client = Harness()
        client.call("POST", "client/sign_ins", ["identifier": "barbara@example.com", "strategy": "email_code"])
        #expect(client.status == 200 && client.world.outbox.messages.count == 1)
        #expect(client.answer.jsonBody?["response"]?["first_factor_verification"]?["status"] == "unverified")
    }

    @Test func secondSignInsOnOneClient() {
        var single = Harness()
        single.signIn("ada@example.com")
        single.signIn("grace@example.com")
        #expect(single.status == 400 && single.code == "session_exists")
        var multi = Harness { $0.isSingleSession = false }
        let session = multi.signIn("ada@example.com")["created_session_id"]
        multi.signIn("ada@example.com")
        #expect(multi.status == 400 && multi.code == "identifier_already_signed_in")
        #expect(multi.errors.first?["meta"]?["session_id"] == session)
        #expect(multi.signIn("barbara@example.com", "x")["status"] == nil)
        #expect(multi.signIn("margaret@example.com")["status"] == "complete")
        #expect(multi.call("GET", "client")["response"]?["sessions"]?.array?.count == 2)
    }

    @Test func deviceTrustIsAskedOncePerClient() {
        var client = Harness()
        let signIn = client.signIn("katherine+clerk_test@example.com")
        #expect(signIn["status"] == "needs_client_trust" && signIn["client_trust_state"] == "pending")
        #expect(signIn["supported_second_factors"]?[0]?["strategy"] == "email_code")
        let id = signIn["id"]?.string ?? ""
        client.call("POST", "client/sign_ins/\(id)/prepare_second_factor", ["strategy": "email_code"])
        #expect(client.answer.jsonBody?["response"]?["second_factor_verification"]?["attempts"] == 0)
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_second_factor",
            ["strategy": "email_code", "code": "424242"]
        )
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
        client.call("DELETE", "client/sessions")
        #expect(client.signIn("katherine+clerk_test@example.com")["status"] == "complete")
        // Without its token the client is a new one.
        client.call("DELETE", "client")
        #expect(client.token == nil)
        #expect(client.signIn("katherine+clerk_test@example.com")["status"] == "needs_client_trust")
    }

    @Test func statusesThatNobodyKnows() {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.statusAfterFirstFactor = "needs_telepathy"
        var client = Harness(user: user)
        #expect(client.signIn("eva@example.com", "open")["status"] == "needs_telepathy")
    }

    @Test func oldAndForeignSignIns() {
        var client = Harness()
        let old = client.begin("ada@example.com")
        let current = client.begin("grace@example.com")
        let form: KeyValuePairs = ["strategy": "password", "password": Harness.password]
        client.call("POST", "client/sign_ins/\(old)/attempt_first_factor", form)
        #expect(client.status == 403 && client.code == "resource_forbidden")
        client.call("POST", "client/sign_ins/sia_none/attempt_first_factor", form)
        #expect(client.status == 404 && client.code == "resource_not_found")
        client.call("POST", "client/sign_ins/\(current)/attempt_second_factor", ["strategy": "totp", "code": "1"])
        #expect(client.status == 400 && client.code == "client_state_invalid")
        client.advance(seconds: 86_400)
        client.call("POST", "client/sign_ins/\(current)/attempt_first_factor", form)
        #expect(client.status == 400 && client.code == "client_state_invalid")
        #expect(client.call("GET", "client/sign_ins/\(current)")["response"]?["status"] == "abandoned")
        client.token = nil
        client.call("POST", "client/sign_ins/\(current)/attempt_first_factor", form)
        #expect(client.status == 400 && client.code == "client_not_found")
    }
}
