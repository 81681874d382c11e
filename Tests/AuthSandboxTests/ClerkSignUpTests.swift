import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: signing up")
struct ClerkSignUpTests {
    private static let password = "correct horse battery"

    private func begin(_ client: inout Harness, _ form: KeyValuePairs<String, String>) -> JSONValue {
        client.call("POST", "client/sign_ups", form)["response"] ?? .null
    }

    @Test func anAddressIsProvedAndThereIsAnAccount() {
        var client = Harness()
        let begun = begin(&client, ["email_address": "new@example.com", "password": Self.password])
        #expect(begun["status"] == "missing_requirements" && begun["missing_fields"] == [])
        #expect(begun["unverified_fields"] == ["email_address"])
        let base = "client/sign_ups/\(begun["id"]?.string ?? "")"
        client.call("POST", base + "/prepare_verification", ["strategy": "email_code"])
        let code = client.lastCode
        client.call("POST", base + "/prepare_verification", ["strategy": "email_code"])
        #expect(client.status == 429 && client.code == "verification_code_too_many_requests")
        client.call("POST", base + "/attempt_verification", ["strategy": "email_code", "code": "000000"])
        #expect(client.status == 422 && client.code == "form_code_incorrect")
        let before = client.token
        let done = client.call("POST", base + "/attempt_verification", ["strategy": "email_code", "code": code])
        #expect(done["response"]?["status"] == "complete" && client.token != before)
        #expect(done["client"]?["sessions"]?[0]?["id"] == done["response"]?["created_session_id"])
        client.call("DELETE", "client/sessions")
        #expect(client.signIn("new@example.com", Self.password)["status"] == "complete")
    }

    @Test func whatIsMissingIsFilledIn() {
        var client = Harness { $0.requiredFields = ["password", "username"] }
        let begun = begin(&client, ["email_address": "new+clerk_test@example.com"])
        #expect(begun["missing_fields"] == ["password", "username"])
        let base = "client/sign_ups/\(begun["id"]?.string ?? "")"
        client.call("PATCH", base, ["password": "short"])
        #expect(client.code == "form_password_length_too_short")
        client.call("PATCH", base, ["password": Self.password, "username": "newby"])
        client.call("POST", base + "/prepare_verification", ["strategy": "email_code"])
        let done = client.call("POST", base + "/attempt_verification", ["strategy": "email_code", "code": "424242"])
        #expect(done["response"]?["status"] == "complete")
        #expect(client.call("GET", base)["response"]?["status"] == "complete")
    }

    /// A sign-in that signs up whoever has no account says so once they have proved the address.
    @Test func whoHasNoAccountProvesTheAddressBeforeTheyAreToldSo() {
        var client = Harness { $0.requiredFields = ["password"] }
        func begin(_ name: String) -> JSONValue {
            let form: KeyValuePairs = ["identifier": name, "sign_up_if_missing": "true"]
            return client.call("POST", "client/sign_ins", form)["response"] ?? .null
        }
        let begun = begin("new@example.com")
        #expect(begun["status"] == "needs_first_factor")
        #expect(begun["supported_first_factors"]?[0]?["safe_identifier"] == "n***@example.com")
        let base = "client/sign_ins/\(begun["id"]?.string ?? "")"
        client.call("POST", base + "/prepare_first_factor", ["strategy": "email_code"])
        let code = client.lastCode
        client.call("POST", base + "/attempt_first_factor", ["strategy": "email_code", "code": "000000"])
        #expect(client.code == "form_code_incorrect")
        client.call("POST", base + "/attempt_first_factor", ["strategy": "email_code", "code": code])
        #expect(client.status == 404 && client.code == "sign_up_if_missing_transfer")
        let proof = client.call("GET", base)["response"]?["first_factor_verification"]
        #expect(proof?["status"] == "transferable")
        let signUp = client.call("POST", "client/sign_ups", ["transfer": "true"])["response"] ?? .null
        #expect(signUp["missing_fields"] == ["password"] && signUp["unverified_fields"] == [])
        let path = "client/sign_ups/\(signUp["id"]?.string ?? "")"
        #expect(client.call("PATCH", path, ["password": Self.password])["response"]?["status"] == "complete")
        client.call("DELETE", "client/sessions")
        let known = begin("new@example.com")
        #expect(known["status"] == "needs_first_factor" && client.status == 200)
        _ = begin("nobody")
        #expect(client.code == "form_identifier_not_found", "a user name cannot be proved")
    }

    @Test func whereNobodySignsUpNoSignInDoesIt() {
        var client = Harness { $0.signUpMode = "restricted" }
        client.call("POST", "client/sign_ins", ["identifier": "new@example.com", "sign_up_if_missing": "true"])
        #expect(client.status == 422 && client.code == "sign_up_if_missing_not_allowed")
        client = Harness()
        let form: KeyValuePairs = ["identifier": "new@example.com", "password": "x", "sign_up_if_missing": "true"]
        client.call("POST", "client/sign_ins", form)
        #expect(client.status == 422 && client.code == "sign_up_if_missing_strategy_not_supported")
    }

    @Test func whatIsTakenIsTaken() {
        var client = Harness()
        _ = begin(&client, ["email_address": "ada@example.com", "password": Self.password])
        #expect(client.status == 422 && client.code == "form_identifier_exists" && client.parameter == "email_address")
        _ = begin(&client, ["email_address": "no address"])
        #expect(client.code == "form_param_format_invalid")
        _ = begin(&client, ["favourite_colour": "blue"])
        #expect(client.code == "form_param_unknown")
        _ = begin(&client, ["transfer": "true"])
        #expect(client.code == "account_transfer_invalid")
    }

    @Test func anInvitationProvesTheAddress() {
        var client = Harness()
        let ticket = client.control("POST", "clerk/ticket", #"{"email": "guest@example.com"}"#)["ticket"]?.string ?? ""
        let done = begin(&client, ["strategy": "ticket", "ticket": ticket, "password": Self.password])
        #expect(done["status"] == "complete" && done["email_address"] == "guest@example.com")
    }

    @Test func whereNobodyMaySignUpThereMayBeAWaitlist() {
        var open = Harness()
        open.call("POST", "waitlist", ["email_address": "new@example.com"])
        #expect(open.status == 403 && open.code == "waitlist_not_accepting_entries")
        var client = Harness { $0.signUpMode = "waitlist" }
        _ = begin(&client, ["email_address": "new@example.com"])
        #expect(client.status == 403 && client.code == "sign_up_restricted_waitlist")
        let first = client.call("POST", "waitlist", ["email_address": "new@example.com"])
        let second = client.call("POST", "waitlist", ["email_address": "New@example.com"])
        #expect(first["object"] == "waitlist_entry" && first["id"] == second["id"])
        var restricted = Harness { $0.signUpMode = "restricted" }
        _ = begin(&restricted, ["email_address": "new@example.com"])
        #expect(restricted.code == "sign_up_mode_restricted")
    }

    @Test func aProofAgainstAbuseIsTaken() {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.statusAfterFirstFactor = "needs_protect_check"
        var client = Harness(user: user)
        let signIn = client.signIn("eva@example.com", "open")
        let path = "client/sign_ins/\(signIn["id"]?.string ?? "")/protect_check"
        #expect(signIn["status"] == "needs_protect_check" && signIn["protect_check"]?["status"] == "pending")
        client.call("PATCH", path)
        #expect(client.code == "form_param_missing")
        client.call("PATCH", path, ["proof_token": "p"])
        #expect(client.status == 403 && client.code == "requires_protect_check")
        let proof = "proof-of-" + (signIn["protect_check"]?["token"]?.string ?? "")
        #expect(client.call("PATCH", path, ["proof_token": proof])["response"]?["status"] == "complete")
        client.call("PATCH", path, ["proof_token": proof])
        #expect(client.status == 400)
        client.call("POST", "client/verify")
        #expect(client.code == "form_param_missing" && client.parameter == "captcha_token")
    }

    @Test func signUpsAreCounted() {
        var scenario = SandboxScenario.unlimited
        scenario.settings.rateLimits = .init()
        var client = Harness(scenario)
        for number in 1...5 {
            _ = begin(&client, ["email_address": "new\(number)@example.com"])
            #expect(client.status == 200)
        }
        _ = begin(&client, ["email_address": "new6@example.com"])
        #expect(client.status == 429 && client.answer.header("Retry-After") == "10")
    }
}
