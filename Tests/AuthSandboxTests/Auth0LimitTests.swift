import HTTPRecovery
import Testing

@testable import AuthSandbox

extension Auth0Harness {
    /// Changes who they are, behind the back of the client.
    mutating func change(_ change: (inout SandboxUser) -> Void) {
        guard var user = base.world[Auth0World.self].person(named: Self.name)?.user else { return }
        change(&user)
        base.world.add(user)
    }
}

/// What ends tokens, and what is had only so often.
@Suite("Auth0: ends and limits") struct Auth0LimitTests {
    // MARK: Who gets no tokens any more

    /// A block holds for tokens that are there, too; they are kept, and good once it is lifted.
    @Test func whoIsBlockedRenewsNothing() {
        var client = Auth0Harness()
        let token = client.signIn()["refresh_token"]
        client.change { $0.state = "banned" }
        client.refresh(token)
        #expect(client.status == 401 && client.error == "unauthorized" && client.text == "user is blocked")
        client.change { $0.state = "active" }
        client.change { $0.auth0.refusal = "Not on weekends." }
        client.refresh(token)
        #expect(client.status == 403 && client.error == "access_denied" && client.text == "Not on weekends.")
        client.change { $0.auth0.refusal = nil }
        #expect(client.refresh(token)["access_token"] != nil)
    }

    @Test func whoIsBlockedSignsInNoDevice() {
        var client = Auth0Harness()
        let code = client.post("/oauth/device/code", ["client_id": "cli", "scope": "openid"])["device_code"]
        client.base.control("POST", "auth0/device", #"{"user": "ada@example.com"}"#)
        client.change { $0.state = "banned" }
        _ = client.poll(code)
        #expect(client.status == 401 && client.text == "user is blocked")
    }

    @Test func whoIsBlockedEndsNoSignIn() {
        var client = Auth0Harness({ $0.backupCodes = ["FIRST"] })
        let token = client.signIn()["mfa_token"]
        client.change { $0.state = "banned" }
        client.factor("mfa-recovery-code", token, ["recovery_code": "FIRST"])
        #expect(client.status == 401 && client.text == "user is blocked")
    }

    @Test func whoIsDeletedRenewsNothing() {
        var client = Auth0Harness()
        let answer = client.signIn()
        client.base.control("POST", "auth0/delete", #"{"user": "ada@example.com"}"#)
        client.refresh(answer["refresh_token"])
        #expect(client.status == 403 && client.error == "invalid_grant")
        #expect(client.text == "The refresh_token was generated for a user who doesn't exist anymore.")
        client.profile(answer)
        #expect(client.status == 401)
        client.signIn()
        #expect(client.text == "Wrong email or password.")
        client.base.control("POST", "auth0/delete", #"{"user": "ada@example.com"}"#)
        #expect(client.base.answer.status >= 400, "there is nobody")
    }

    /// What was begun by one app is not ended by another.
    @Test func anMFATokenIsThatOfItsApp() {
        var client = Auth0Harness({ $0.backupCodes = ["FIRST"] })
        let token = client.signIn()["mfa_token"]
        client.base.world.context.settings.auth0.clientID = "other"
        client.post(
            "/oauth/token",
            [
                "grant_type": "http://auth0.com/oauth/grant-type/mfa-recovery-code", "client_id": "other",
                "mfa_token": token ?? .null, "recovery_code": "FIRST",
            ]
        )
        #expect(client.status == 403 && client.text == "mfa_token not issued to this client")
    }

    @Test func aRefusedPushMayStandInASuccess() {
        var client = Auth0Harness({ $0.auth0.factors = ["push"] }, settings: { $0.pushRejectionStatus = 200 })
        let token = client.signIn()["mfa_token"]
        let name = client.challenge("push", token)["oob_code"]?.string ?? ""
        client.base.control("POST", "auth0/push", #"{"decision": "deny"}"#)
        client.factor("mfa-oob", token, ["oob_code": name])
        #expect(client.status == 200 && client.error == "access_denied" && client.text == "MFA Authorization rejected.")
    }

    // MARK: How long refresh tokens last

    @Test func aSignInsTokensEndHoweverOftenTheyAreReplaced() {
        var client = Auth0Harness(settings: { $0.refreshLifetime = 100_000 })
        var token = client.signIn()["refresh_token"]
        client.advance(seconds: 60)
        token = client.refresh(token)["refresh_token"]
        #expect(token != nil)
        client.advance(seconds: 40)
        client.refresh(token)
        #expect(client.status == 403 && client.text == "Unknown or invalid refresh token.")
    }

    @Test(arguments: [true, false]) func tokensThatAreNotUsedEnd(rotates: Bool) {
        var client = Auth0Harness(settings: {
            $0.refreshIdle = 60_000
            $0.rotates = rotates
        })
        var token = client.signIn()["refresh_token"]
        for _ in 0..<3 {
            client.advance(seconds: 59)
            let answer = client.refresh(token)
            #expect(answer["access_token"] != nil)
            token = answer["refresh_token"] ?? token
        }
        client.advance(seconds: 60)
        client.refresh(token)
        #expect(client.status == 403 && client.text == "Unknown or invalid refresh token.")
    }

    // MARK: Passwords

    private func signUp(_ client: inout Auth0Harness, _ password: String) -> JSONValue {
        client.post(
            "/dbconnections/signup",
            [
                "client_id": "cli", "connection": "Username-Password-Authentication", "email": "new@example.com",
                "password": .string(password),
            ]
        )
    }

    /// Every rule is told, with what of it is met.
    @Test func aPasswordNeedsSeveralTypes() {
        var client = Auth0Harness(settings: { $0.passwordTypes = 3 })
        let rules = signUp(&client, "lowercase1")["description"]?["rules"]?.array ?? []
        #expect(client.status == 400 && rules.map { $0["verified"] } == [true, false])
        #expect(rules.last?["format"] == [3, 4])
        #expect(rules.last?["items"]?.array?.map { $0["verified"] } == [true, false, true, false])
        #expect(signUp(&client, "Lowercase1")["_id"] != nil)
    }

    @Test func aPasswordIsNotSetAgain() {
        var client = Auth0Harness(settings: { $0.passwordHistory = 2 })
        for (password, status) in [("right", 400), ("brighter", 200), ("brighter", 400), ("brightest", 200)] {
            let ticket = String(client.resetLink().split(separator: "=").last ?? "")
            client.setPassword(password, ticket: ticket)
            #expect(client.status == status, "\(password)")
        }
        let ticket = String(client.resetLink().split(separator: "=").last ?? "")
        client.setPassword("brighter", ticket: ticket)
        #expect(client.status == 400, "it is the last but one")
    }

    // MARK: What is sent

    @Test func mailsOfResetsHaveALimit() {
        var client = Auth0Harness()
        let order: JSONValue = ["email": .string(Auth0Harness.name), "connection": "Username-Password-Authentication"]
        for _ in 0..<10 { client.post("/dbconnections/change_password", order) }
        #expect(client.status == 200)
        client.post("/dbconnections/change_password", order)
        #expect(client.status == 429 && client.error == "too_many_requests")
        #expect(client.base.answer.header("x-ratelimit-limit") == "10")
        #expect(client.base.answer.header("x-ratelimit-remaining") == "0")
        let reset = client.base.answer.header("x-ratelimit-reset").flatMap { Int64($0) }
        #expect(reset.map { (59...61).contains($0 - client.base.now / 1000) } == true)
        client.advance(seconds: 60)
        for status in [200, 429] {
            client.post("/dbconnections/change_password", order)
            #expect(client.status == status)
        }
        client.base.world.context.settings.auth0.limitsSending = false
        client.post("/dbconnections/change_password", order)
        #expect(client.status == 200)
    }

    @Test func codesInPlaceOfAPasswordHaveALimit() {
        var client = Auth0Harness()
        for _ in 0..<50 { client.start("email", to: Auth0Harness.name) }
        #expect(client.status == 200)
        client.start("email", to: Auth0Harness.name)
        #expect(client.status == 429 && client.base.answer.header("x-ratelimit-remaining") == "0")
        let order: JSONValue = [
            "client_id": "cli", "connection": "Username-Password-Authentication", "email": .string(Auth0Harness.name),
        ]
        for _ in 0..<51 { client.post("/otp/challenge", order) }
        #expect(client.status == 429 && client.base.answer.header("retry-after") == "72")
        client.advance(seconds: 72)
        client.post("/otp/challenge", order)
        #expect(client.status == 200)
    }

    @Test(arguments: [("sms", 10, 3600), ("email", 20, 60)] as [(String, Int, Int64)])
    func codesOfASecondFactorHaveALimit(factor: String, burst: Int, period: Int64) {
        var client = Auth0Harness({ $0.auth0.factors = [factor] })
        var token = client.signIn()["mfa_token"]
        for _ in 0..<burst { _ = client.challenge(factor, token) }
        #expect(client.status == 200)
        _ = client.challenge(factor, token)
        #expect(client.status == 429 && client.base.answer.header("x-ratelimit-reset") == nil)
        client.advance(seconds: period)
        token = client.signIn()["mfa_token"]
        _ = client.challenge(factor, token)
        #expect(client.status == 200)
    }

    // MARK: The tenant

    @Test func aTenantTellsOfItsLimit() {
        var client = Auth0Harness(settings: { $0.requestLimit = 2 })
        for (status, rest) in [(200, "1"), (200, "0"), (429, "0")] {
            client.signIn()
            #expect(client.status == status && client.base.answer.header("x-ratelimit-remaining") == rest)
            #expect(client.base.answer.header("x-ratelimit-limit") == "2")
        }
        client.advance(seconds: 60)
        client.signIn()
        #expect(client.status == 200)
    }

    /// 20 logins of one name from one address, right ones too, and then one each six seconds; others are not held back.
    @Test func loginsAreLimited() {
        var client = Auth0Harness()
        for _ in 0..<20 { client.signIn() }
        #expect(client.status == 200)
        client.signIn()
        #expect(client.status == 429 && client.error == "too_many_logins")
        client.advance(seconds: 6)
        client.signIn()
        #expect(client.status == 200)
        client.signIn()
        #expect(client.status == 429)
    }

    /// Ten wrong tokens of another issuer hold their address back, for right ones too; those do not count.
    @Test func wrongTokensAreLimited() {
        var client = Auth0Harness()
        func order(_ token: String) -> JSONValue {
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "cli",
                "subject_token": .string(token), "subject_token_type": "urn:example:legacy-token", "scope": "openid",
            ]
        }
        let right = order("legacy:\(Auth0Harness.name)")
        for _ in 0..<12 { #expect(client.post("/oauth/token", right)["id_token"] != nil) }
        for _ in 0..<10 {
            client.post("/oauth/token", order("legacy:nobody"))
            #expect(client.status == 400 && client.error == "invalid_request")
        }
        client.post("/oauth/token", right)
        #expect(client.status == 429 && client.error == "too_many_attempts")
        client.advance(seconds: 600)
        client.post("/oauth/token", right)
        #expect(client.status == 200)
    }

    @Test func newAccountsAreLimited() {
        var client = Auth0Harness()
        func order(_ number: Int) -> JSONValue {
            [
                "client_id": "cli", "connection": "Username-Password-Authentication", "password": "long enough",
                "email": .string("new\(number)@example.com"),
            ]
        }
        for number in 0..<50 { client.post("/dbconnections/signup", order(number)) }
        #expect(client.status == 200)
        client.post("/dbconnections/signup", order(50))
        #expect(client.status == 429 && client.error == "too_many_attempts")
        client.advance(seconds: 2)
        client.post("/dbconnections/signup", order(50))
        #expect(client.status == 200)
    }

    /// Who is blocked is sent no code of the database, and the answer does not tell.
    @Test func aBlockedPersonIsSentNothing() {
        var client = Auth0Harness({ $0.state = "banned" })
        let order: JSONValue = [
            "client_id": "cli", "connection": "Username-Password-Authentication", "email": .string(Auth0Harness.name),
        ]
        #expect(client.post("/otp/challenge", order)["auth_session"] != nil && client.status == 200)
        #expect(client.base.world.outbox.messages(to: Auth0Harness.name).isEmpty)
    }
}
