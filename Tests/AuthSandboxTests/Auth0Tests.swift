import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("The sandbox's Auth0")
struct Auth0Tests {
    @Test func aPasswordBringsTokens() {
        var client = Auth0Harness()
        let answer = client.signIn()
        #expect(client.status == 200 && answer["refresh_token"] != nil && answer["expires_in"]?.int == 86_400)
        let token = answer["access_token"]?.string ?? ""
        let profile = client.send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")])
        #expect(profile["email"]?.string == Auth0Harness.name)
        client.advance(seconds: 86_401)
        client.send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")])
        #expect(
            client.status == 401 && client.base.answer.header("WWW-Authenticate")?.contains("invalid_token") == true
        )
    }

    /// A name and an address together are blocked, and stay so until somebody lifts it.
    @Test func failuresBlockThePair() {
        var client = Auth0Harness(settings: { $0.threshold = 2 })
        for _ in 0..<2 { client.signIn("wrong") }
        #expect(client.status == 403 && client.text == "Wrong email or password.")
        client.signIn()
        #expect(client.status == 429 && client.error == "too_many_attempts")
        client.advance(seconds: 86_400 * 20)
        client.signIn()
        #expect(client.error == "too_many_attempts")
        #expect(client.base.control("POST", "auth0/unblock", #"{"user": "\#(Auth0Harness.name)"}"#)["unblocked"] == 1)
        client.signIn()
        #expect(client.status == 200)
    }

    /// Locked from the start, for a while or until somebody lifts it, whatever the address; the answer tells no time.
    @Test(arguments: [SandboxUser.InitialLock.indefinite, .milliseconds(60_000)])
    func somebodyIsLockedFromTheStart(lock: SandboxUser.InitialLock) {
        var client = Auth0Harness({ $0.initialLock = lock })
        client.signIn()
        #expect(client.status == 429 && client.error == "too_many_attempts")
        #expect(client.base.answer.header("Retry-After") == nil)
        client.advance(seconds: 61)
        client.signIn()
        guard lock == .indefinite else { return #expect(client.status == 200) }
        #expect(client.error == "too_many_attempts")
        #expect(client.base.control("POST", "auth0/unblock", #"{"user": "\#(Auth0Harness.name)"}"#)["unblocked"] == 1)
        client.signIn()
        #expect(client.status == 200)
    }

    /// Only a confidential client is believed for whom it acts.
    @Test(arguments: [(String?.none, 429), ("s", 403)])
    func theAddressOfThePersonCountsWithASecretAlone(secret: String?, status: Int) {
        var client = Auth0Harness(settings: { settings in
            settings.threshold = 1
            settings.clientSecret = secret
        })
        client.signIn("wrong", headers: [("auth0-forwarded-for", "192.0.2.1")])
        client.signIn("wrong", headers: [("auth0-forwarded-for", "192.0.2.2")])
        #expect(client.status == status)
    }

    @Test func whatThePersonIsDecides() {
        var leaked = Auth0Harness({ $0.passwordState = "compromised" })
        leaked.signIn()
        #expect(leaked.status == 401 && leaked.error == "password_leaked")
        var blocked = Auth0Harness({ $0.state = "banned" })
        blocked.signIn()
        #expect(blocked.error == "unauthorized" && blocked.text == "user is blocked")
        var refused = Auth0Harness({ $0.auth0.refusal = "Not on weekends." })
        refused.signIn()
        #expect(refused.status == 403 && refused.text == "Not on weekends.")
    }

    @Test(
        arguments: [
            (["grant_type": "password", "client_id": "other"], 401, "invalid_client"),
            (["grant_type": "password", "client_id": "cli"], 400, "invalid_request"),
            (["grant_type": "x", "client_id": "cli"], 501, "unsupported_grant_type"),
            (["client_id": "cli"], 400, "invalid_request"),
            (
                ["grant_type": "http://auth0.com/oauth/grant-type/mfa-otp", "client_id": "cli", "mfa_token": "x"], 403,
                "invalid_grant"
            ),
        ] as [([String: String], Int, String)]
    )
    func whatIsNotARequest(body: [String: String], status: Int, error: String) {
        var client = Auth0Harness()
        client.post("/oauth/token", .object(body.map { JSONValue.Member($0.key, .string($0.value)) }))
        #expect(client.status == status && client.error == error)
    }

    // MARK: Second factors

    @Test func anAppsCodeCountsOnce() {
        var client = Auth0Harness({ $0.totpSecret = "JBSWY3DPEHPK3PXP" })
        let token = client.signIn()["mfa_token"]
        #expect(client.status == 403 && client.error == "mfa_required")
        client.factor("mfa-otp", token, ["otp": "000000"])
        #expect(client.status == 403 && client.text == "Invalid otp_code.")
        let code = client.totp()
        #expect(client.factor("mfa-otp", token, ["otp": code])["access_token"] != nil)
        client.factor("mfa-otp", token, ["otp": code])
        #expect(client.text == "Malformed mfa_token")
        let again = client.signIn()["mfa_token"]
        client.factor("mfa-otp", again, ["otp": code])
        #expect(client.text == "Invalid otp_code.", "it was used")
        client.advance(seconds: 601)
        client.factor("mfa-otp", again, ["otp": code])
        #expect(client.status == 401 && client.error == "expired_token")
    }

    @Test func tenWrongCodesAreTooMany() {
        var client = Auth0Harness({ $0.totpSecret = "JBSWY3DPEHPK3PXP" })
        let token = client.signIn()["mfa_token"]
        for _ in 0..<10 { client.factor("mfa-otp", token, ["otp": "000000"]) }
        client.factor("mfa-otp", token, ["otp": client.totp()])
        #expect(client.status == 429 && client.error == "too_many_attempts")
        client.advance(seconds: 361)
        #expect(client.factor("mfa-otp", token, ["otp": client.totp()])["access_token"] != nil)
    }

    @Test(arguments: [("sms", "+12015550100"), ("email", Auth0Harness.name)])
    func aCodeThatWasSentIsTyped(factor: String, address: String) {
        var client = Auth0Harness({ $0.auth0.factors = [factor] })
        let token = client.signIn()["mfa_token"]
        let first = client.challenge(factor, token)
        #expect(first["binding_method"] == "prompt")
        let old = client.code(to: address)
        let second = client.challenge(factor, token)
        client.factor("mfa-oob", token, ["oob_code": first["oob_code"]?.string ?? "", "binding_code": old])
        #expect(client.text == "The oob_code doesn't match the mfa_token.", "only the newest counts")
        let name = second["oob_code"]?.string ?? ""
        client.factor("mfa-oob", token, ["oob_code": name])
        #expect(client.text == "Missing required parameter: binding_code")
        client.factor("mfa-oob", token, ["oob_code": name, "binding_code": "x"])
        #expect(client.text == "Invalid binding_code.")
        let code = client.code(to: address)
        #expect(client.factor("mfa-oob", token, ["oob_code": name, "binding_code": code])["access_token"] != nil)
    }

    @Test func aPushIsAnsweredElsewhere() {
        var client = Auth0Harness({ $0.auth0.factors = ["push"] })
        let token = client.signIn()["mfa_token"]
        let name = client.challenge("push", token)["oob_code"]?.string ?? ""
        client.factor("mfa-oob", token, ["oob_code": name])
        #expect(client.status == 400 && client.error == "authorization_pending")
        client.factor("mfa-oob", token, ["oob_code": name])
        #expect(client.status == 429 && client.error == "slow_down")
        client.base.control("POST", "auth0/push")
        client.advance(seconds: 5)
        #expect(client.factor("mfa-oob", token, ["oob_code": name])["access_token"] != nil)
        let other = client.signIn()["mfa_token"]
        let refused = client.challenge("push", other)["oob_code"]?.string ?? ""
        client.base.control("POST", "auth0/push", #"{"decision": "deny"}"#)
        client.factor("mfa-oob", other, ["oob_code": refused])
        #expect(client.error == "access_denied" && client.text == "MFA Authorization rejected.")
    }

    @Test func aRecoveryCodeIsReplacedByItsUse() {
        var client = Auth0Harness({ $0.backupCodes = ["FIRST"] })
        let next = client.factor("mfa-recovery-code", client.signIn()["mfa_token"], ["recovery_code": "FIRST"])
        #expect(next["access_token"] != nil && next["recovery_code"]?.string != nil)
        client.factor("mfa-recovery-code", client.signIn()["mfa_token"], ["recovery_code": "FIRST"])
        #expect(client.status == 403 && client.text == "MFA Authorization rejected.")
        let code = next["recovery_code"]?.string ?? ""
        let last = client.factor("mfa-recovery-code", client.signIn()["mfa_token"], ["recovery_code": code])
        #expect(last["access_token"] != nil)
    }

    @Test func whatIsWantedIsToldWhereTheTenantDoes() {
        var client = Auth0Harness({ $0.auth0.factors = ["sms", "push"] }, settings: { $0.tellsRequirements = true })
        let types = client.signIn()["mfa_requirements"]?["challenge"]?.array?.map { $0["type"]?.string }
        #expect(types == ["phone", "push-notification"])
    }

    // MARK: Refresh tokens

    /// Within the leeway the one before is taken; after it, its use is the end of the whole family.
    @Test func reuseEndsTheFamily() {
        var client = Auth0Harness(settings: { $0.leeway = 10_000 })
        let first = client.signIn()["refresh_token"]
        let second = client.refresh(first)["refresh_token"]
        client.advance(seconds: 9)
        let third = client.refresh(first)["refresh_token"]
        #expect(third != nil && third != second)
        client.advance(seconds: 2)
        client.refresh(first)
        #expect(client.status == 403 && client.text == "Unknown or invalid refresh token.")
        client.refresh(third)
        #expect(client.text == "Unknown or invalid refresh token.", "the good one has died with it")
        #expect(client.base.world[Auth0World.self].spent.values.max() == 3)
    }

    /// Whichever token was replaced long ago: its use is the end of the newest, too.
    @Test func theUseOfAnOlderTokenIsReuse() {
        var client = Auth0Harness(settings: { $0.leeway = 10_000 })
        let first = client.signIn()["refresh_token"]
        let second = client.refresh(first)["refresh_token"]
        let third = client.refresh(second)["refresh_token"]
        #expect(client.status == 200)
        client.refresh(first)
        #expect(client.status == 403)
        client.refresh(third)
        #expect(client.text == "Unknown or invalid refresh token.")
    }

    @Test func withoutRotationTheTokenStays() {
        var client = Auth0Harness(settings: { $0.rotates = false })
        let token = client.signIn()["refresh_token"]
        for _ in 0..<3 { #expect(client.refresh(token)["refresh_token"] == nil && client.status == 200) }
        client.post("/oauth/revoke", ["client_id": "cli", "token": token ?? .null])
        #expect(client.status == 200 && client.base.answer.body.isEmpty)
        client.refresh(token)
        #expect(client.status == 403)
    }

    /// What it is answered with leads on, as after a password; the refresh token stays.
    @Test func aRenewalMayWantAFactor() {
        var client = Auth0Harness({ $0.auth0.factors = ["sms"] })
        let first = client.signIn()["mfa_token"]
        let name = client.challenge("sms", first)["oob_code"]?.string ?? ""
        let members = ["oob_code": name, "binding_code": client.code(to: "+12015550100")]
        let held = client.factor("mfa-oob", first, members)["refresh_token"]
        client.base.world.context.settings.auth0.wantsFactorOnRefresh = true
        let token = client.refresh(held)["mfa_token"]
        #expect(client.status == 403 && client.error == "mfa_required" && token != nil)
        let next = client.challenge("sms", token)["oob_code"]?.string ?? ""
        let answer = client.factor(
            "mfa-oob",
            token,
            ["oob_code": next, "binding_code": client.code(to: "+12015550100")]
        )
        #expect(client.profile(answer)["email"]?.string == Auth0Harness.name)
        client.base.world.context.settings.auth0.wantsFactorOnRefresh = false
        #expect(client.refresh(held)["access_token"] != nil)
        client.base.world.context.settings.auth0.wantsFactorOnRefresh = true
        client.refresh("unknown")
        #expect(client.text == "Unknown or invalid refresh token.")
    }

    // MARK: Faults

    @Test func faultsHaveTheFormsOfTheTenant() throws {
        var client = Auth0Harness()
        client.base.world.context.faults.add(try SandboxFault(json: #"{"kind": "envelope", "status": 503}"#))
        client.signIn()
        #expect(client.status == 503 && client.error == "server_error")
        client.base.world.context.faults.add(
            try SandboxFault(json: #"{"kind": "envelope", "code": "user_exists", "envelope": "auth0_database"}"#)
        )
        let body = client.signIn()
        #expect(body["code"] == "user_exists" && body["statusCode"]?.int == 400)
    }

    @Test func anyBytesAreAnswered() {
        var client = Auth0Harness()
        for body in ["", "{", "[1]", "\u{0}", #"{"grant_type": 7}"#, "grant_type=password&client_id=cli&%%"] {
            for path in [
                "/oauth/token", "/mfa/challenge", "/oauth/revoke", "/nothing", "/mfa/authenticators", "/reset",
            ] {
                client.base.send(
                    SandboxRequest(
                        method: "POST",
                        target: "/auth0" + path,
                        headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                        body: Array(body.utf8)
                    )
                )
                #expect((400..<600).contains(client.status))
            }
        }
    }
}
