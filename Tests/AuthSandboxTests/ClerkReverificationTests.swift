import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: proving oneself again")
struct ClerkReverificationTests {
    private func signedIn(_ identifier: String = "ada@example.com") -> (Harness, session: String) {
        var client = Harness()
        let session = client.signIn(identifier)["created_session_id"]?.string ?? ""
        return (client, session)
    }

    private func change(_ client: inout Harness, _ session: String) {
        client.call(
            "POST",
            "me/change_password?_clerk_session_id=\(session)",
            ["new_password": "correct horse battery"]
        )
    }

    @Test func somethingSensitiveWantsAFreshProof() {
        var (client, session) = signedIn()
        change(&client, session)
        #expect(client.status == 200)
        client.advance(seconds: 600)
        change(&client, session)
        #expect(client.status == 403 && client.code == "session_reverification_required")
        #expect(client.errors.first?["meta"]?["reverification"]?["level"] == "first_factor")
        let begun = client.call("POST", "client/sessions/\(session)/verify", ["level": "second_factor"])["response"]
        #expect(begun?["object"] == "session_verification" && begun?["status"] == "needs_first_factor")
        let done = client.call(
            "POST",
            "client/sessions/\(session)/verify/attempt_first_factor",
            ["strategy": "password", "password": "correct horse battery"]
        )["response"]
        #expect(done?["status"] == "complete" && done?["session"]?["factor_verification_age"]?[0]?.int == 0)
        change(&client, session)
        #expect(client.status == 200)
        #expect(client.call("GET", "client")["response"]?["sessions"]?.array?.count == 1, "no other session is made")
    }

    @Test func bothFactorsAndACode() {
        var user = SandboxUser(email: "mel@example.com", password: Harness.password)
        user.backupCodes = ["b1"]
        var client = Harness(user: user)
        let id = client.signIn("mel@example.com")["id"]?.string ?? ""
        let session =
            client.call(
                "POST",
                "client/sign_ins/\(id)/attempt_second_factor",
                ["strategy": "backup_code", "code": "b1"]
            )["response"]?["created_session_id"]?.string ?? ""
        for id in client.world.clerk.accountOrder { client.world.clerk.accounts[id]?.backupCodes = ["b2"] }
        let base = "client/sessions/\(session)/verify"
        client.call("POST", base, ["level": "multi_factor"])
        client.call("POST", base + "/attempt_second_factor", ["strategy": "backup_code", "code": "b2"])
        #expect(client.status == 400 && client.code == "client_state_invalid")
        client.call("POST", base + "/prepare_first_factor", ["strategy": "email_code"])
        let code = client.lastCode
        client.call("POST", base + "/attempt_first_factor", ["strategy": "email_code", "code": "000000"])
        #expect(client.code == "form_code_incorrect")
        let second = client.call("POST", base + "/attempt_first_factor", ["strategy": "email_code", "code": code])
        #expect(second["response"]?["status"] == "needs_second_factor")
        let done = client.call("POST", base + "/attempt_second_factor", ["strategy": "backup_code", "code": "b2"])
        #expect(done["response"]?["status"] == "complete")
        client.call("POST", base + "/attempt_second_factor", ["strategy": "backup_code", "code": "b2"])
        #expect(client.code == "verification_already_verified")
    }

    @Test func wrongPasswordsCountAndLock() {
        var (client, session) = signedIn()
        client.call("POST", "client/sessions/\(session)/verify", ["level": "first_factor"])
        for _ in 0..<10 {
            client.call(
                "POST",
                "client/sessions/\(session)/verify/attempt_first_factor",
                ["strategy": "password", "password": "wrong"]
            )
        }
        #expect(client.status == 403 && client.code == "user_locked")
    }

    @Test func itNeedsALevelASessionAndABeginning() {
        var (client, session) = signedIn()
        client.call("POST", "client/sessions/\(session)/verify", ["level": "all"])
        #expect(client.code == "form_param_value_invalid")
        client.call("POST", "client/sessions/\(session)/verify/attempt_first_factor", ["strategy": "password"])
        #expect(client.code == "verification_missing")
        client.control("POST", "revoke", "{}")
        client.call("POST", "client/sessions/\(session)/verify", ["level": "first_factor"])
        #expect(client.status == 401)
    }

    @Test(
        arguments: [
            ("DELETE", "me"), ("POST", "me/totp"), ("DELETE", "me/totp"), ("POST", "me/backup_codes"),
            ("POST", "me/passkeys"), ("DELETE", "me/passkeys/psk_1"), ("POST", "me/phone_numbers"),
            ("PATCH", "me/phone_numbers/idn_1"), ("DELETE", "me/phone_numbers/idn_1"), ("POST", "me/email_addresses"),
            ("DELETE", "me/email_addresses/idn_1"), ("POST", "me/sessions/sess_1/revoke"),
        ]
    )
    func everySensitiveChangeWantsAFreshProof(method: String, path: String) {
        var (client, session) = signedIn()
        client.advance(seconds: 600)
        client.call(method, "\(path)?_clerk_session_id=\(session)")
        #expect(client.status == 403 && client.code == "session_reverification_required")
        client.call("GET", "me?_clerk_session_id=\(session)")
        #expect(client.status == 200)
    }

    @Test func anAddressIsAddedProvedAndTakenAway() {
        var (client, session) = signedIn()
        let own = "?_clerk_session_id=\(session)"
        client.call("POST", "me/email_addresses" + own, ["email_address": "ada@example.com"])
        #expect(client.code == "form_identifier_exists")
        client.call("POST", "me/email_addresses" + own, ["email_address": "ada"])
        #expect(client.code == "form_param_format_invalid")
        let made = client.call("POST", "me/email_addresses" + own, ["email_address": "other@example.com"])["response"]
        let path = "me/email_addresses/\(made?["id"]?.string ?? "")"
        client.call("POST", path + "/attempt_verification" + own, ["code": "1"])
        #expect(client.code == "verification_missing")
        client.call("POST", path + "/prepare_verification" + own, ["strategy": "email_code"])
        let code = client.lastCode
        client.call("POST", path + "/attempt_verification" + own, ["code": "000000"])
        #expect(client.code == "form_code_incorrect")
        let proved = client.call("POST", path + "/attempt_verification" + own, ["code": code])["response"]
        #expect(proved?["verification"]?["status"] == "verified")
        client.call("DELETE", path + own)
        #expect(client.status == 200)
        let first = client.call("GET", "me" + own)["response"]?["email_addresses"]?[0]?["id"]?.string ?? ""
        client.call("DELETE", "me/email_addresses/\(first)" + own)
        #expect(client.code == "last_required_identification_deletion_failed")
    }

    @Test func anAccountThatIsDeletedIsGone() {
        var (client, session) = signedIn()
        let deleted = client.call("DELETE", "me?_clerk_session_id=\(session)")["response"]
        #expect(deleted?["deleted"] == true)
        #expect(client.call("GET", "client")["response"]?["sessions"]?.array?.isEmpty == true)
        client.call("POST", "client/sign_ins", ["identifier": "ada@example.com"])
        #expect(client.code == "form_identifier_not_found")
    }
}
