import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: codes and second factors")
struct ClerkFactorTests {
    private func first(_ client: inout Harness, _ id: String, _ code: String) {
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "email_code", "code": code]
        )
    }

    private func second(_ client: inout Harness, _ id: String, _ strategy: String, _ code: String) {
        client.call("POST", "client/sign_ins/\(id)/attempt_second_factor", ["strategy": strategy, "code": code])
    }

    private func prepare(_ client: inout Harness, _ id: String, _ strategy: String = "email_code") {
        client.call("POST", "client/sign_ins/\(id)/prepare_first_factor", ["strategy": strategy])
    }

    @Test func codesComeByEmailAndAreCheckedByTheSeed() {
        var client = Harness()
        let id = client.begin("barbara@example.com")
        first(&client, id, "123456")
        #expect(client.status == 400 && client.code == "verification_missing")
        prepare(&client, id)
        let message = client.world.outbox.messages.last
        #expect(message?.to == "barbara@example.com" && message?.channel == "email" && message?.code.count == 6)
        client.call("POST", "client/sign_ins/\(id)/attempt_first_factor", ["strategy": "email_code"])
        #expect(client.status == 422 && client.code == "form_param_missing" && client.parameter == "code")
        first(&client, id, "000000")
        #expect(client.status == 422 && client.code == "form_code_incorrect" && client.parameter == "code")
        first(&client, id, client.lastCode)
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")

        var twin = Harness()
        let other = twin.begin("barbara@example.com")
        prepare(&twin, other)
        #expect(twin.lastCode == message?.code)
        var stranger = Harness(seed: 8)
        let third = stranger.begin("barbara@example.com")
        prepare(&stranger, third)
        #expect(stranger.lastCode != message?.code)
    }

    @Test func tooManyWrongCodesFailTheVerification() {
        var client = Harness()
        let id = client.begin("barbara@example.com")
        prepare(&client, id)
        let code = client.lastCode
        for expected in ["form_code_incorrect", "form_code_incorrect", "verification_failed", "verification_failed"] {
            first(&client, id, "000000")
            #expect(client.code == expected)
        }
        first(&client, id, code)
        #expect(client.status == 400 && client.code == "verification_failed")
        prepare(&client, id)
        #expect(client.status == 429 && client.code == "verification_code_too_many_requests")
        #expect(client.answer.header("Retry-After") == "30")
        client.advance(seconds: 29)
        prepare(&client, id)
        #expect(client.answer.header("Retry-After") == "1")
        client.advance(seconds: 1)
        prepare(&client, id)
        #expect(client.status == 200)
        first(&client, id, client.lastCode)
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
    }

    @Test func codesExpire() {
        var client = Harness()
        let id = client.begin("barbara@example.com")
        prepare(&client, id)
        client.advance(seconds: 600)
        first(&client, id, client.lastCode)
        #expect(client.status == 400 && client.code == "verification_expired")
        let proof = client.call("GET", "client/sign_ins/\(id)")["response"]?["first_factor_verification"]
        #expect(proof?["status"] == "expired")
    }

    @Test func strategiesHaveToFit() {
        var client = Harness()
        let id = client.begin("ada@example.com")
        prepare(&client, id, "password")
        #expect(client.status == 400 && client.code == "strategy_for_user_invalid")
        prepare(&client, id, "phone_code")
        #expect(client.code == "strategy_for_user_invalid")
        prepare(&client, id, "reset_password_email_code")
        first(&client, id, client.lastCode)
        #expect(client.status == 400 && client.code == "verification_strategy_invalid")
        client.call(
            "POST",
            "client/sign_ins/\(id)/prepare_first_factor",
            ["strategy": "email_code", "email_address_id": "idn_other"]
        )
        #expect(client.status == 422 && client.parameter == "email_address_id")
    }

    @Test(arguments: [
        ("eva+clerk_test@example.com", true), ("eva@example.com", false), ("+15035550123", true),
        ("+15035551123", false), ("+4930123456", false),
    ])
    func testIdentitiesHaveTheFixedCode(address: String, isTest: Bool) {
        #expect(ClerkWorld.isTestAddress(address) == isTest)
    }

    @Test func totpByTheSandboxsClock() throws {
        var client = Harness()
        let signIn = client.signIn("grace@example.com")
        #expect(signIn["status"] == "needs_second_factor")
        let strategies = signIn["supported_second_factors"]?.array?.compactMap { $0["strategy"]?.string }
        #expect(strategies == ["totp", "backup_code"])
        let id = signIn["id"]?.string ?? ""
        second(&client, id, "totp", "000000")
        #expect(client.status == 422 && client.code == "form_code_incorrect")
        let early = client.control("GET", "totp?user=grace@example.com")["code"]?.string ?? ""
        client.advance(seconds: 61)
        second(&client, id, "totp", early)
        #expect(client.status == 422)
        let code = client.control("GET", "totp?user=grace@example.com")["code"]?.string ?? ""
        client.advance(seconds: 30)
        second(&client, id, "totp", code)
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
        #expect(client.answer.jsonBody?["client"]?["sessions"]?[0]?["factor_verification_age"] == [0, 0])
    }

    @Test func totpIsSpentWhereTheSettingsSaySo() {
        var client = Harness { $0.isTOTPSingleUse = true }
        var code = client.control("GET", "totp?user=grace@example.com")["code"]?.string ?? ""
        var id = client.signIn("grace@example.com")["id"]?.string ?? ""
        second(&client, id, "totp", code)
        #expect(client.status == 200)
        client.call("DELETE", "client")
        id = client.signIn("grace@example.com")["id"]?.string ?? ""
        second(&client, id, "totp", code)
        #expect(client.status == 422 && client.code == "form_code_incorrect")
        code = client.control("GET", "totp?user=grace@example.com")["code"]?.string ?? ""
        second(&client, id, "totp", code)
        #expect(client.status == 200)
    }

    @Test func backupCodesAreUsedUp() {
        var client = Harness()
        for (code, status) in [("backup-0001", 200), ("backup-0001", 422), ("backup-0002", 200)] {
            client.call("DELETE", "client")
            let id = client.signIn("grace@example.com")["id"]?.string ?? ""
            second(&client, id, "backup_code", code)
            #expect(client.status == status)
        }
    }

    @Test func phoneCodesAsASecondFactor() {
        var client = Harness()
        let id = client.signIn("edsger@example.com")["id"]?.string ?? ""
        second(&client, id, "phone_code", "000000")
        #expect(client.code == "verification_missing")
        second(&client, id, "totp", "000000")
        #expect(client.code == "strategy_for_user_invalid")
        client.call("POST", "client/sign_ins/\(id)/prepare_second_factor", ["strategy": "phone_code"])
        #expect(client.world.outbox.messages.last?.to == "+4930123456")
        #expect(client.world.outbox.messages.last?.channel == "phone")
        second(&client, id, "phone_code", client.lastCode)
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
    }

    @Test func newPasswordsAreHeldAgainstThePolicy() {
        let table: [(String, [String])] = [
            ("short", ["form_password_length_too_short", "form_password_no_number"]),
            ("password1", ["form_password_pwned"]),
            ("aaaaaaaaa1", ["form_password_not_strong_enough"]),
            ("nonumbers-here", ["form_password_no_number"]),
            (String(repeating: "abcd1", count: 20), ["form_password_length_too_long"]),
            ("DENNIS1@example.com", ["form_password_matches_identifier"]),
            ("", ["form_param_nil"]),
        ]
        var user = SandboxUser(email: "dennis1@example.com", password: "old")
        user.passwordState = "reset_required"
        var client = Harness(user: user)
        client.world.settings.passwordPolicy.requiresNumber = true
        let id = client.begin("dennis1@example.com")
        client.call("POST", "client/sign_ins/\(id)/reset_password", ["password": "whatever-1"])
        #expect(client.status == 400 && client.code == "client_state_invalid")
        prepare(&client, id, "reset_password_email_code")
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "reset_password_email_code", "code": client.lastCode]
        )
        for (password, codes) in table {
            client.call("POST", "client/sign_ins/\(id)/reset_password", ["password": password])
            #expect(client.status == 422 && client.errors.compactMap { $0["code"]?.string } == codes, "\(password)")
        }
        client.call("POST", "client/sign_ins/\(id)/reset_password", ["password": "good-enough-1"])
        #expect(client.answer.jsonBody?["response"]?["status"] == "complete")
    }
}
