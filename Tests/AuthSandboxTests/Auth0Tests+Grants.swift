import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// What is granted.
extension Auth0Tests {
    /// The answer tells what was granted if that is not what was asked for.
    @Test(
        arguments: [
            ("openid profile email offline_access", nil, true, true),
            ("openid", nil, false, true),
            ("offline_access", nil, true, false),
            ("openid color", "openid", false, true),
            (nil, "openid profile email address phone", false, true),
        ] as [(String?, String?, Bool, Bool)]
    )
    func whatIsAskedForIsGranted(asked: String?, told: String?, refresh: Bool, id: Bool) {
        var client = Auth0Harness()
        let answer = client.signIn(scope: asked)
        #expect(answer["scope"]?.string == told)
        #expect((answer["refresh_token"] != nil) == refresh && (answer["id_token"] != nil) == id)
        client.profile(answer)
        #expect(client.status == (id ? 200 : 403) && (id || client.error == "insufficient_scope"))
    }

    @Test func theProfileTellsWhatWasGranted() {
        var client = Auth0Harness({ $0.firstName = "Ada" })
        let bare = client.profile(client.signIn(scope: "openid"))
        #expect(bare["sub"] != nil && bare["email"] == nil && bare["name"] == nil)
        let whole = client.profile(client.signIn(scope: "openid profile email"))
        #expect(whole["email"]?.string == Auth0Harness.name && whole["name"] == "Ada")
    }

    /// An API has permissions of its own, a token that can be read, and may want no refresh tokens.
    @Test func anAPIIsNamed() throws {
        var client = Auth0Harness()
        let api = "https://api.example.com"
        let answer = client.signIn(scope: "openid offline_access read:things", audience: api)
        #expect(answer["scope"] == nil && answer["refresh_token"] != nil)
        let token = try #require(OAuthJWT(answer["access_token"]?.string ?? ""))
        #expect(token.claims["aud"]?.array?.first?.string == api)
        #expect(token.claims["scope"] == "openid offline_access read:things")
        client.profile(answer)
        #expect(client.status == 200)
        #expect(client.signIn(scope: "openid read:things")["scope"] == "openid", "nobody's permission without an API")
        client.signIn("wrong", audience: "https://other.example.com")
        #expect(client.status == 403 && client.error == "access_denied")
        #expect(client.text == "Service not found: https://other.example.com")
        client.refresh(answer["refresh_token"], audience: "https://other.example.com")
        #expect(client.text == "Service not found: https://other.example.com")
        #expect(client.refresh(answer["refresh_token"])["access_token"] != nil)
        client.base.world.context.settings.auth0.allowsOfflineAccess = false
        let online = client.signIn(scope: "openid offline_access", audience: api)
        #expect(online["refresh_token"] == nil && online["scope"] == "openid")
    }

    @Test func aRealmIsAConnection() {
        var client = Auth0Harness(settings: { $0.threshold = 1 })
        #expect(client.signIn(realm: "Username-Password-Authentication")["access_token"] != nil)
        client.signIn("wrong", realm: "other")
        #expect(
            client.status == 400 && client.error == "invalid_request" && client.text == "the connection was not found"
        )
        client.signIn(realm: "")
        #expect(client.text == "Missing required parameter: realm")
        #expect(client.signIn()["access_token"] != nil, "no failure of the person's was counted")
    }

    @Test func aRenewalMayAskForLess() {
        var client = Auth0Harness()
        let first = client.signIn()["refresh_token"]
        let less = client.refresh(first, scope: "openid offline_access")
        #expect(less["scope"] == nil && client.profile(less)["email"] == nil)
        let same = client.refresh(less["refresh_token"])
        #expect(same["scope"] == nil && client.profile(same)["email"] != nil)
        let more = client.refresh(same["refresh_token"], scope: "openid phone")
        #expect(more["scope"] == "openid", "what was not granted is not to be had later")
    }

    @Test func theProfileHasALimitOfItsOwn() {
        var client = Auth0Harness(settings: { $0.profileLimit = 1 })
        let token = client.signIn()["access_token"]?.string ?? ""
        for _ in 0..<2 { client.send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")]) }
        #expect(client.status == 429 && client.base.answer.header("x-ratelimit-remaining") == "0")
        client.advance(seconds: 60)
        client.send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")])
        #expect(client.status == 200)
    }

    @Test func aResetIsMailedAndSaysSoToEverybody() {
        var client = Auth0Harness()
        for address in [Auth0Harness.name, "nobody@example.com"] {
            client.post(
                "/dbconnections/change_password",
                ["email": .string(address), "connection": "Username-Password-Authentication"]
            )
            #expect(client.status == 200 && client.base.answer.jsonBody == nil)
        }
        #expect(client.base.world.outbox.messages.count == 1)
        client.post("/dbconnections/change_password", ["email": .string(Auth0Harness.name)])
        #expect(client.status == 400 && client.text == "Missing required parameter: connection")
        client.post("/dbconnections/change_password", ["email": .string(Auth0Harness.name), "connection": "x"])
        #expect(client.status == 400 && client.base.answer.jsonBody?["code"] == "bad.connection")
        #expect(client.base.world.outbox.messages.count == 1)
    }

    /// The link shows a form; a password that is set with it is no leaked one any more, and ends the blocks.
    @Test func aLinkSetsANewPasswordOnce() {
        var client = Auth0Harness({ $0.passwordState = "compromised" }, settings: { $0.threshold = 1 })
        client.signIn("wrong")
        client.signIn()
        #expect(client.error == "too_many_attempts")
        let link = client.resetLink()
        let ticket = String(link.split(separator: "=").last ?? "")
        for _ in 0..<2 {
            client.send("GET", link)
            #expect(client.status == 200 && client.base.answer.header("Content-Type")?.hasPrefix("text/html") == true)
            #expect(String(decoding: client.base.answer.body, as: UTF8.self).contains(ticket))
        }
        client.setPassword("", ticket: ticket)
        #expect(client.status == 400)
        client.setPassword("AUTH0-TEST-x", ticket: ticket)
        #expect(client.status == 400, "a leaked one is none")
        client.setPassword("another1", ticket: ticket)
        #expect(client.status == 200)
        #expect(client.signIn("another1")["access_token"] != nil)
        client.signIn()
        #expect(client.text == "Wrong email or password.")
        client.setPassword("thirdone", ticket: ticket)
        #expect(client.status == 400)
        client.send("GET", link)
        #expect(client.status == 400, "it was used")
    }

    @Test func aLinkLastsForFiveDays() {
        var client = Auth0Harness()
        let link = client.resetLink()
        client.advance(seconds: 432_000)
        client.send("GET", link)
        #expect(client.status == 400)
        client.setPassword("another", ticket: String(link.split(separator: "=").last ?? ""))
        #expect(client.status == 400)
        #expect(client.signIn()["access_token"] != nil)
    }
}
