import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Clerk: the tasks of a session")
struct ClerkTaskTests {
    private func signedIn(_ tasks: [String], _ change: (inout SandboxUser) -> Void = { _ in }) -> (Harness, String) {
        var user = SandboxUser(email: "eva@example.com", password: "open")
        user.tasks = tasks
        change(&user)
        var client = Harness(user: user)
        client.signIn("eva@example.com", "open")
        return (client, client.answer.jsonBody?["response"]?["created_session_id"]?.string ?? "")
    }

    private func session(_ client: inout Harness) -> JSONValue? {
        client.call("GET", "client")["response"]?["sessions"]?[0]
    }

    @Test func aTokenSaysThatTheSessionIsPending() {
        var (client, id) = signedIn(["setup-mfa"])
        let jwt = client.call("POST", "client/sessions/\(id)/tokens")["jwt"]?.string ?? ""
        #expect(OAuthJWT(jwt)?.claims["sts"] == "pending")
    }

    @Test func anOrganizationIsChosen() {
        var (client, id) = signedIn(["choose-organization"]) { $0.organizations = ["Acme", "Globex"] }
        let list = client.call("GET", "me/organization_memberships")["response"]?["data"]?.array ?? []
        #expect(Set(list.compactMap { $0["organization"]?["name"]?.string }) == ["Acme", "Globex"])
        client.call("POST", "client/sessions/\(id)/touch", ["active_organization_id": "org_other"])
        #expect(client.status == 404)
        let chosen = list.first?["organization"]?["id"]?.string ?? ""
        let answer = client.call("POST", "client/sessions/\(id)/touch", ["active_organization_id": chosen])["response"]
        #expect(answer?["status"] == "active" && answer?["last_active_organization_id"]?.string == chosen)
    }

    @Test func anInvitationIsAcceptedAndAnOrganizationMade() {
        var (client, id) = signedIn(["choose-organization"]) { $0.organizationInvitations = ["Acme"] }
        let invitation = client.call("GET", "me/organization_invitations")["response"]?["data"]?[0]
        let path = "me/organization_invitations/\(invitation?["id"]?.string ?? "")/accept"
        let organization = client.call("POST", path)["response"]?["public_organization_data"]
        #expect(organization?["name"] == "Acme")
        client.call("POST", path)
        #expect(client.status == 404)
        let own = organization?["id"]?.string ?? ""
        client.call("POST", "client/sessions/\(id)/touch", ["active_organization_id": own])
        #expect(session(&client)?["status"] == "active")
        let made = client.call("POST", "organizations", ["name": "New"])["response"]
        #expect(made?["slug"] == "new" && made?["id"]?.string?.hasPrefix("org_") == true)
        client.call("POST", "organizations", ["name": "New"])
        #expect(client.code == "form_identifier_exists")
    }

    @Test func anAuthenticatorIsSetUp() {
        var (client, _) = signedIn(["setup-mfa"])
        client.call("POST", "me/totp/attempt_verification", ["code": "000000"])
        #expect(client.code == "verification_missing")
        let totp = client.call("POST", "me/totp")["response"]
        #expect(totp?["uri"]?.string?.hasPrefix("otpauth://totp/") == true)
        client.call("POST", "me/totp/attempt_verification", ["code": "000000"])
        #expect(client.code == "form_code_incorrect" && session(&client)?["status"] == "pending")
        let secret = Base32.decode(totp?["secret"]?.string ?? "") ?? []
        let code = TOTP.code(secret: secret, step: TOTP.step(atMilliseconds: client.now))
        let answer = client.call("POST", "me/totp/attempt_verification", ["code": code])["response"]
        #expect(answer?["verified"] == true && answer?["backup_codes"]?.array?.count == 10)
        #expect(session(&client)?["status"] == "active")
        client.call("POST", "me/totp")
        #expect(client.code == "totp_already_enabled")
    }

    @Test func aNumberBecomesASecondFactor() {
        var (client, _) = signedIn(["setup-mfa"])
        client.call("POST", "me/phone_numbers", ["phone_number": "12"])
        #expect(client.code == "form_param_format_invalid" && client.parameter == "phone_number")
        let id =
            client.call("POST", "me/phone_numbers", ["phone_number": "+4930123999"])["response"]?["id"]?.string ?? ""
        client.call("PATCH", "me/phone_numbers/\(id)", ["reserved_for_second_factor": "true"])
        #expect(client.status == 404)
        client.call("POST", "me/phone_numbers/\(id)/prepare_verification", ["strategy": "phone_code"])
        #expect(client.world.outbox.messages.last?.to == "+4930123999")
        client.call("POST", "me/phone_numbers/\(id)/attempt_verification", ["code": "000000"])
        #expect(client.code == "form_code_incorrect")
        client.call("POST", "me/phone_numbers/\(id)/attempt_verification", ["code": client.lastCode])
        client.call("PATCH", "me/phone_numbers/\(id)", ["reserved_for_second_factor": "true"])
        #expect(session(&client)?["status"] == "active")
        client.call("DELETE", "client")
        #expect(client.signIn("eva@example.com", "open")["status"] == "needs_second_factor")
    }
}
