import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Okta's Direct Authentication")
struct OktaDirectTests {
    private static let second = "http://auth0.com/oauth/grant-type/mfa-"

    private func harness(_ change: (inout SandboxUser) -> Void = { _ in }) -> OktaHarness {
        OktaHarness(user: OktaHarness.person(change)) { $0.okta.isIdentityEngine = true }
    }

    private func post(_ client: inout OktaHarness, _ endpoint: String, _ form: KeyValuePairs<String, String>) {
        client.base.send(
            SandboxRequest(
                method: "POST",
                target: "/oauth2/v1/\(endpoint)",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array(Harness.encode(form).utf8)
            )
        )
        client.body = client.base.answer.jsonBody ?? .null
    }

    private func password(_ client: inout OktaHarness, _ password: String = OktaHarness.password) -> String {
        post(
            &client,
            "token",
            [
                "grant_type": "password", "username": "eva@example.com", "password": password, "client_id": "cli",
                "scope": "openid offline_access",
            ]
        )
        return client.body["mfa_token"]?.string ?? ""
    }

    @Test func aPasswordIsGoodForTokens() {
        var client = harness()
        _ = password(&client, "wrong")
        #expect(client.status == 400 && client.body["error"] == "invalid_grant")
        _ = password(&client)
        #expect(client.status == 200 && client.body["refresh_token"] != nil)
        #expect(client.world.counters.passwordAttempts == 2)
        // A classic org has no such grant.
        var classic = OktaHarness()
        _ = password(&classic)
        #expect(classic.body["error"] == "unsupported_grant_type")
    }

    @Test func anExpiredPasswordIsToldOf() {
        var client = harness { $0.okta.passwordStatus = "expired" }
        _ = password(&client)
        #expect(client.body["error_description"]?.string?.contains("expired") == true)
    }

    @Test func aPushIsPolledNotTooOften() {
        var client = harness { $0.okta.factors = [.push("WAITING", "SUCCESS", number: "41")] }
        let token = password(&client)
        #expect(client.status == 403 && client.body["error"] == "mfa_required" && !token.isEmpty)
        post(
            &client,
            "challenge",
            [
                "mfa_token": token, "client_id": "cli", "channel_hint": "push",
                "challenge_types_supported": Self.second + "oob",
            ]
        )
        #expect(client.body["binding_method"] == "transfer" && client.body["binding_code"] == "41")
        let code = client.body["oob_code"]?.string ?? ""
        let poll: KeyValuePairs = [
            "grant_type": Self.second + "oob", "mfa_token": token, "oob_code": code, "client_id": "cli",
            "scope": "openid offline_access",
        ]
        post(&client, "token", poll)
        #expect(client.body["error"] == "authorization_pending")
        post(&client, "token", poll)
        #expect(client.body["error"] == "slow_down")
        client.base.advance(seconds: 11)
        post(&client, "token", poll)
        #expect(client.status == 200 && client.body["access_token"] != nil)
        // Both handles are used up.
        post(&client, "token", poll)
        #expect(client.status == 403 && client.body["error"] == "access_denied")
    }

    /// Nobody has answered: that is no refusal, until the handle has expired.
    @Test(arguments: ["WAITING", "TIMEOUT"])
    func aPushThatNobodyAnswersIsPendingUntilItExpires(word: String) {
        var client = harness { $0.okta.factors = [.push(word)] }
        let token = password(&client)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "push"])
        let life = client.body["expires_in"]?.number?.double ?? 0
        let poll: KeyValuePairs = [
            "grant_type": Self.second + "oob", "mfa_token": token, "oob_code": client.body["oob_code"]?.string ?? "",
            "client_id": "cli", "scope": "openid offline_access",
        ]
        for _ in 0..<3 {
            post(&client, "token", poll)
            #expect(client.status == 400 && client.body["error"] == "authorization_pending")
            client.base.advance(seconds: 11)
        }
        client.base.advance(seconds: Int64(life))
        post(&client, "token", poll)
        #expect(client.status == 403 && client.body["error_description"]?.string?.contains("expired") == true)
    }

    /// The person decides on their phone.
    @Test(arguments: [("SUCCESS", 200), ("REJECTED", 400)])
    func aPushIsDecidedFromOutside(result: String, status: Int) {
        var client = harness { $0.okta.factors = [.push()] }
        let token = password(&client)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "push"])
        let handle = client.body["oob_code"]?.string ?? ""
        let order = #"{"user":"eva@example.com","result":"\#(result)"}"#
        #expect(client.base.control("POST", "okta/push", order)["answered"] == 1)
        post(
            &client,
            "token",
            [
                "grant_type": Self.second + "oob", "mfa_token": token, "oob_code": handle, "client_id": "cli",
                "scope": "openid offline_access",
            ]
        )
        #expect(client.status == status, "\(client.body)")
    }

    @Test func aTestNumberHasTheCodeOfAllTestNumbers() {
        var client = harness {
            $0.phones = ["+15555550100"]
            $0.okta.factors = [.init("sms")]
        }
        let token = password(&client)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "sms"])
        #expect(client.lastCode == "424242")
    }

    @Test func aCodeByTextMessageHasNoInterval() {
        var client = harness { $0.okta.factors = [.init("sms")] }
        let token = password(&client)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "sms"])
        #expect(client.body["binding_method"] == "prompt" && client.body["interval"] == nil)
        let handle = client.body["oob_code"]?.string ?? ""
        func answer(_ code: String, _ scope: String, _ mfa: String) -> KeyValuePairs<String, String> {
            [
                "grant_type": Self.second + "oob", "mfa_token": mfa, "oob_code": handle, "binding_code": code,
                "client_id": "cli", "scope": scope,
            ]
        }
        let code = client.lastCode
        post(&client, "token", answer(code, "openid", token))
        #expect(client.body["error"] == "invalid_request")
        post(&client, "token", answer("0", "openid offline_access", token))
        #expect(client.body["error"] == "invalid_grant")
        let other = password(&client)
        post(&client, "token", answer(code, "openid offline_access", other))
        #expect(client.body["error"] == "invalid_request")
        post(&client, "token", answer(code, "openid offline_access", token))
        #expect(client.status == 200)
    }

    /// Gives one proof of the second factor, in a sign-in of its own.
    private func signIn(_ client: inout OktaHarness, _ type: String, isRight: Bool) {
        let token = password(&client)
        var fields: [String: String] = [
            "mfa_token": token, "client_id": "cli", "scope": "openid offline_access",
            "grant_type": Self.second + (type == "sms" ? "oob" : "otp"),
        ]
        switch type {
        case "sms":
            post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "sms"])
            fields["oob_code"] = client.body["oob_code"]?.string
            fields["binding_code"] = isRight ? client.lastCode : "0"
        case "webauthn":
            let type = "urn:okta:params:oauth:grant-type:mfa-webauthn"
            let form: KeyValuePairs = ["mfa_token": token, "client_id": "cli", "challenge_types_supported": type]
            post(&client, "challenge", form)
            fields["grant_type"] = type
            fields["clientDataJSON"] = "wrong"
        default:
            client.advance(seconds: 60)
            let (world, now) = (client.world, client.base.now)
            let code = world.account(named: "eva@example.com").flatMap {
                world.currentTOTP($0, settings: client.base.world.settings, now: now)
            }
            fields["otp"] = isRight ? code : "0"
        }
        let form = fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(FormEncoding.encode($0.value))" }
        client.base.send(
            SandboxRequest(
                method: "POST",
                target: "/oauth2/v1/token",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array(form.joined(separator: "&").utf8)
            )
        )
        client.body = client.base.answer.jsonBody ?? .null
    }

    private func lock(_ client: OktaHarness) -> SandboxLock? { client.world.account(named: "eva@example.com")?.lock }

    @Test(arguments: ["token:software:totp", "sms", "webauthn"])
    func wrongProofsLockAcrossSignIns(type: String) {
        var client = harness {
            $0.okta.factors = [.init(type)]
            $0.totpSecret = "JBSWY3DPEHPK3PXP"
        }
        for _ in 0..<4 { signIn(&client, type, isRight: false) }
        #expect(client.body["error"] == "invalid_grant" && lock(client) == .open)
        if type != "webauthn" {
            // What was right ends the count.
            signIn(&client, type, isRight: true)
            #expect(client.status == 200)
            for _ in 0..<4 { signIn(&client, type, isRight: false) }
            #expect(lock(client) == .open)
        }
        let token = password(&client)
        #expect(!token.isEmpty)
        signIn(&client, type, isRight: false)
        #expect(lock(client) != .open)
        // Locked people look like wrong credentials.
        #expect(password(&client).isEmpty && client.body["error"] == "invalid_grant")
        #expect(client.body["error_description"]?.string?.contains("credentials provided") == true)
    }

    @Test func nobodyWhoIsLockedSignsInWithACodeAlone() {
        var client = harness {
            $0.okta.factors = [.init("sms")]
            $0.initialLock = .indefinite
        }
        post(&client, "primary-authenticate", ["login_hint": "eva@example.com", "channel_hint": "sms"])
        let form: KeyValuePairs = [
            "grant_type": "urn:okta:params:oauth:grant-type:oob", "client_id": "cli", "scope": "openid",
            "oob_code": client.body["oob_code"]?.string ?? "", "binding_code": client.lastCode,
        ]
        post(&client, "token", form)
        #expect(client.status == 400 && client.body["error"] == "invalid_grant")
    }

    @Test func whatThePersonHasNotCannotBeUsed() {
        var client = harness { $0.okta.factors = [.init("sms")] }
        let token = password(&client)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "push"])
        #expect(client.status == 403 && client.body["error"] == "access_denied")
        post(&client, "primary-authenticate", ["login_hint": "eva@example.com", "channel_hint": "sms"])
        #expect(client.status == 200 && client.world.counters.codes == 1)
        client.base.advance(seconds: 400)
        post(&client, "challenge", ["mfa_token": token, "client_id": "cli", "channel_hint": "sms"])
        #expect(client.status == 403)
    }
}
