import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("The sandbox's Auth0: ways in")
struct Auth0WaysTests {
    // MARK: Codes and links

    @Test(arguments: [("email", Auth0Harness.name), ("sms", "+12015550100")])
    func aCodeStandsInForAPassword(connection: String, address: String) {
        var client = Auth0Harness()
        client.start(connection, to: address)
        let old = client.code(to: address)
        client.start(connection, to: address)
        client.code(old, of: address, connection)
        #expect(client.error == "invalid_grant" && client.text?.hasPrefix("Wrong ") == true, "only the newest counts")
        #expect(client.code(client.code(to: address), of: address, connection)["access_token"] != nil)
        client.code(client.code(to: address), of: address, connection)
        #expect(client.status == 403, "it counts once")
    }

    @Test func threeWrongCodesAreTheEndOfTheRightOne() {
        var client = Auth0Harness()
        client.start("email", to: Auth0Harness.name)
        let right = client.code(to: Auth0Harness.name)
        for _ in 0..<3 { client.code("1", of: Auth0Harness.name, "email") }
        client.code(right, of: Auth0Harness.name, "email")
        #expect(client.text?.contains("maximum number of attempts") == true)
        client.start("email", to: Auth0Harness.name)
        client.advance(seconds: 181)
        client.code(client.code(to: Auth0Harness.name), of: Auth0Harness.name, "email")
        #expect(client.text?.contains("has expired") == true)
    }

    /// Without the word a link is sent; it leads back to the app with a code.
    @Test func aLinkLeadsBackToTheApp() {
        var client = Auth0Harness()
        client.start("email", to: Auth0Harness.name, send: nil)
        let link = client.path(of: client.code(to: Auth0Harness.name))
        client.send("GET", link)
        #expect(client.status == 302 && client.redirected("state") == "S")
        let code = client.redirected("code") ?? ""
        let answer = client.exchange(code, redirectURI: "http://127.0.0.1/callback")
        #expect(answer["access_token"] != nil)
        client.send("GET", link)
        #expect(client.status == 400, "it leads there once")
    }

    @Test func aCodeForSomebodyOfTheDatabase() {
        var client = Auth0Harness()
        func ask(_ email: String) -> JSONValue {
            client.post(
                "/otp/challenge",
                ["client_id": "cli", "connection": "Username-Password-Authentication", "email": .string(email)]
            )
        }
        #expect(ask("nobody@example.com")["auth_session"] != nil, "nobody learns who is there")
        let session = ask(Auth0Harness.name)["auth_session"] ?? .null
        let answer = client.post(
            "/oauth/token",
            [
                "grant_type": "http://auth0.com/oauth/grant-type/passwordless/otp", "client_id": "cli",
                "auth_session": session, "otp": .string(client.code(to: Auth0Harness.name)),
            ]
        )
        #expect(answer["access_token"] != nil)
    }

    /// Where it is wished for, the right code makes an account.
    @Test(arguments: [("email", "new@example.com"), ("phone_number", "+12015550188")])
    func aCodeMayMakeAnAccount(name: String, address: String) {
        var client = Auth0Harness()
        func ask(_ wish: JSONValue?) -> String {
            let answer = client.post(
                "/otp/challenge",
                .object(
                    [
                        .init("client_id", "cli"), .init("connection", "Username-Password-Authentication"),
                        .init(name, .string(address)),
                    ] + (wish.map { [.init("allow_signup", $0)] } ?? [])
                )
            )
            return answer["auth_session"]?.string ?? ""
        }
        for wish in [nil, false] as [JSONValue?] {
            #expect(!ask(wish).isEmpty && client.code(to: address).isEmpty)
        }
        let session = ask(true)
        for _ in 0..<2 {
            client.post(
                "/oauth/token",
                [
                    "grant_type": "http://auth0.com/oauth/grant-type/passwordless/otp", "client_id": "cli",
                    "auth_session": .string(session), "otp": .string(client.code(to: address)), "scope": "openid",
                ]
            )
            #expect(client.status == (client.error == nil ? 200 : 403))
        }
        #expect(client.status == 403, "it counts once")
        #expect(client.base.world[Auth0World.self].person(named: address) != nil)
    }

    @Test func whoIsBlockedIsSentNothing() {
        var client = Auth0Harness({ $0.state = "banned" }, settings: { $0.passwordless = ["email"] })
        client.start("email", to: Auth0Harness.name)
        #expect(client.text == "user is blocked" && client.code(to: Auth0Harness.name).isEmpty)
        client.start("sms", to: "+12015550100")
        #expect(client.error == "bad.connection")
    }

    // MARK: Accounts

    private func signUp(_ client: inout Auth0Harness, _ email: String, _ password: String) -> JSONValue {
        client.post(
            "/dbconnections/signup",
            [
                "client_id": "cli", "connection": "Username-Password-Authentication", "email": .string(email),
                "password": .string(password),
            ]
        )
    }

    @Test func anAccountIsMade() {
        var client = Auth0Harness()
        let weak = signUp(&client, "new@example.com", "short")
        #expect(client.status == 400 && weak["description"]?["rules"]?[0]?["verified"] == false)
        #expect(signUp(&client, "new@example.com", "AUTH0-TEST-1")["code"] == "password_leaked")
        #expect(signUp(&client, Auth0Harness.name, "long enough")["code"] == "invalid_signup")
        #expect(signUp(&client, "new@example.com", "long enough")["_id"] != nil)
        client.start("email", to: "new@example.com")
        #expect(!client.code(to: "new@example.com").isEmpty)
        client.base.world.context.settings.auth0.allowsSignUp = false
        #expect(signUp(&client, "other@example.com", "long enough")["error"] == "Public signup is disabled")
    }

    // MARK: Setting a factor up

    @Test func anAppIsSetUp() {
        var client = Auth0Harness({ $0.auth0.enrollments = ["otp", "sms"] }, settings: { $0.tellsRequirements = true })
        let wanted = client.signIn()
        let types = wanted["mfa_requirements"]?["enroll"]?.array?.compactMap { $0["type"]?.string }
        #expect(client.error == "mfa_required" && types == ["otp", "phone"])
        let token = wanted["mfa_token"]
        let list = client.send(
            "GET",
            "/mfa/authenticators",
            headers: [("authorization", "Bearer \(token?.string ?? "")")]
        )
        #expect(list.array?.isEmpty == true)
        client.factor("mfa-otp", token, ["otp": "1"])
        #expect(client.error == "invalid_grant")
        let answer = client.associate(token, [.init("authenticator_types", ["otp"])])
        let secret = Base32.decode(answer["secret"]?.string ?? "") ?? []
        #expect(answer["recovery_codes"]?.array?.count == 1 && answer["barcode_uri"]?.string?.isEmpty == false)
        #expect(client.associate(token, [.init("authenticator_types", ["otp"])])["recovery_codes"] == nil)
        client.factor("mfa-otp", token, ["otp": TOTP.code(secret: secret, step: 0)])
        #expect(client.status == 403, "the key is the newest")
        let again = client.associate(token, [.init("authenticator_types", ["otp"])])
        let key = Base32.decode(again["secret"]?.string ?? "") ?? []
        let code = TOTP.code(secret: key, step: TOTP.step(atMilliseconds: client.base.now))
        #expect(client.factor("mfa-otp", token, ["otp": code])["access_token"] != nil)
        // From now on it is asked for, and nothing is set up any more.
        let next = client.signIn()
        #expect(next["mfa_requirements"]?["challenge"]?.array?.count == 2)
        _ = client.associate(next["mfa_token"], [.init("authenticator_types", ["otp"])])
        #expect(client.status == 403)
        let recovery = answer["recovery_codes"]?[0]?.string ?? ""
        #expect(
            client.factor("mfa-recovery-code", next["mfa_token"], ["recovery_code": recovery])["access_token"] != nil
        )
    }

    @Test func aPhoneAndAPushAreSetUp() {
        var client = Auth0Harness({ $0.auth0.enrollments = ["sms"] })
        let token = client.signIn()["mfa_token"]
        let phone = client.associate(
            token,
            [
                .init("authenticator_types", ["oob"]), .init("oob_channels", ["sms"]),
                .init("phone_number", "+12015550199"),
            ]
        )
        #expect(phone["binding_method"] == "prompt")
        let name = phone["oob_code"]?.string ?? ""
        let code = client.code(to: "+12015550199")
        #expect(client.factor("mfa-oob", token, ["oob_code": name, "binding_code": code])["access_token"] != nil)
        var other = Auth0Harness({ $0.auth0.enrollments = ["push"] })
        let second = other.signIn()["mfa_token"]
        let push = other.associate(
            second,
            [.init("authenticator_types", ["oob"]), .init("oob_channels", ["auth0"])]
        )
        #expect(push["barcode_uri"]?.string?.isEmpty == false && push["binding_method"] == nil)
        other.base.control("POST", "auth0/push")
        let pushed = push["oob_code"]?.string ?? ""
        #expect(other.factor("mfa-oob", second, ["oob_code": pushed])["access_token"] != nil)
        #expect(other.associate(other.signIn()["mfa_token"], [.init("authenticator_types", ["otp"])]) != .null)
        #expect(other.status == 403)
    }

    // MARK: Devices

    /// That it is over is said once; from then on the code is one that nobody knows.
    @Test func aDeviceThatIsLate() {
        var client = Auth0Harness(settings: { $0.deviceLifetime = 60_000 })
        let begun = client.post("/oauth/device/code", ["client_id": "cli", "scope": "openid offline_access"])
        let code = begun["device_code"]
        #expect(begun["interval"]?.int == 5 && begun["expires_in"]?.int == 60)
        _ = client.poll(code)
        #expect(client.status == 403 && client.error == "authorization_pending")
        _ = client.poll(code)
        #expect(client.status == 429 && client.error == "slow_down")
        client.advance(seconds: 61)
        _ = client.poll(code)
        #expect(client.error == "expired_token")
        _ = client.poll(code)
        #expect(client.error == "invalid_grant")
    }

    @Test func aDeviceIsAnsweredOnThePage() {
        var client = Auth0Harness()
        let begun = client.post("/oauth/device/code", ["client_id": "cli", "scope": "openid"])
        let userCode = begun["user_code"]?.string ?? ""
        client.send("GET", client.path(of: begun["verification_uri_complete"]?.string ?? ""))
        #expect(String(decoding: client.base.answer.body, as: UTF8.self).contains(userCode))
        client.form("/activate", ["user_code": userCode, "username": Auth0Harness.name, "password": "wrong"])
        #expect(client.status == 400)
        client.form("/activate", ["user_code": userCode, "username": Auth0Harness.name, "password": "right"])
        #expect(client.poll(begun["device_code"])["access_token"] != nil)
        let refused = client.post("/oauth/device/code", ["client_id": "cli"])
        client.base.control("POST", "auth0/device", #"{"user": "\#(Auth0Harness.name)", "decision": "deny"}"#)
        _ = client.poll(refused["device_code"])
        #expect(client.status == 403 && client.error == "access_denied")
    }

    // MARK: The login page

    private static let back = "http://127.0.0.1:8123/callback"
    private static let verifier = String(repeating: "v", count: 43)

    private func query(_ client: Auth0Harness) -> [(String, String)] {
        let challenge = Base64.encodeForURL(SHA256.hash(Array(Self.verifier.utf8)))
        return [
            ("response_type", "code"), ("client_id", "cli"), ("redirect_uri", Self.back), ("scope", "openid"),
            ("state", "S"), ("nonce", "N"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
    }

    private func logIn(_ client: inout Auth0Harness, _ fields: [(String, String)]) {
        let body = fields.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        client.base.send(
            SandboxRequest(
                method: "POST",
                target: "/auth0/u/login",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array(body.utf8)
            )
        )
    }

    @Test func aBrowserComesBackWithACode() {
        var client = Auth0Harness()
        let query = query(client)
        let text = query.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        client.send("GET", "/authorize?\(text)&login_hint=ada%40example.com")
        let page = String(decoding: client.base.answer.body, as: UTF8.self)
        #expect(page.contains("ada@example.com") && page.contains(#"name="state" value="S""#))
        logIn(&client, query + [("username", Auth0Harness.name), ("password", "wrong")])
        #expect(client.status == 400)
        logIn(&client, query + [("username", Auth0Harness.name), ("password", "right")])
        #expect(client.status == 302 && client.redirected("state") == "S")
        let code = client.redirected("code") ?? ""
        let answer = client.exchange(code, verifier: Self.verifier, redirectURI: Self.back)
        let claims = answer["id_token"]?.string.flatMap { OAuthJWT($0) }?.claims
        #expect(claims?["nonce"] == "N" && claims?["iss"]?.string?.hasSuffix("/auth0/") == true)
        _ = client.exchange(code, verifier: Self.verifier, redirectURI: Self.back)
        #expect(client.status == 403 && client.text == "Invalid authorization code")
        logIn(&client, query + [("username", Auth0Harness.name), ("password", "right")])
        _ = client.exchange(client.redirected("code") ?? "", verifier: "x", redirectURI: Self.back)
        #expect(client.text == "Failed to verify code verifier")
        logIn(&client, query + [("decision", "deny")])
        #expect(client.redirected("error") == "access_denied")
    }

    /// A browser stays signed in until it is sent to the end of its session.
    @Test func aBrowserStaysSignedInUntilItLogsOut() {
        var client = Auth0Harness()
        let query = query(client)
        let path = "/authorize?" + query.map { "\($0.0)=\(FormEncoding.encode($0.1))" }.joined(separator: "&")
        logIn(&client, query + [("username", Auth0Harness.name), ("password", "right")])
        let cookie = String(client.base.answer.header("set-cookie")?.prefix { $0 != ";" } ?? "")
        client.send("GET", path, headers: [("cookie", cookie)])
        #expect(client.status == 302 && client.redirected("code") != nil && client.redirected("state") == "S")
        client.send("GET", path + "&prompt=login", headers: [("cookie", cookie)])
        #expect(client.status == 200, "the page")
        client.send("GET", "/v2/logout?client_id=cli&returnTo=https%3A%2F%2Felsewhere.example", headers: [])
        #expect(client.status == 400)
        client.send(
            "GET",
            "/v2/logout?client_id=cli&returnTo=http%3A%2F%2F127.0.0.1%3A8123%2F",
            headers: [("cookie", cookie)]
        )
        #expect(client.status == 302 && client.base.answer.header("location") == "http://127.0.0.1:8123/")
        #expect(client.base.answer.header("set-cookie")?.contains("Max-Age=0") == true)
        client.send("GET", path, headers: [("cookie", cookie)])
        #expect(client.status == 200, "the page")
    }

    @Test func nobodyIsSentElsewhere() {
        var client = Auth0Harness()
        client.send("GET", "/authorize?response_type=code&client_id=cli&redirect_uri=https%3A%2F%2Fevil.example.com")
        #expect(client.status == 403 && client.base.answer.header("Location") == nil)
        client.send(
            "GET",
            "/authorize?response_type=code&client_id=other&redirect_uri=http%3A%2F%2F127.0.0.1%2Fcallback"
        )
        #expect(client.status == 403)
    }

    // MARK: What holds back

    /// The mail's link lifts the block; one mail an hour goes out because of one address.
    @Test func aBlockIsLiftedByItsMail() {
        var client = Auth0Harness(settings: { $0.threshold = 2 })
        for _ in 0..<3 { client.signIn("wrong") }
        #expect(client.error == "too_many_attempts")
        let link = client.path(of: client.code(to: Auth0Harness.name))
        client.send("GET", link)
        #expect(client.status == 200)
        client.signIn()
        #expect(client.status == 200)
        for _ in 0..<3 { client.signIn("wrong") }
        #expect(client.base.world.outbox.messages(to: Auth0Harness.name).count == 1)
    }

    /// Whoever's passwords they are: an address that guesses is held back, and let pass one more login in a while.
    @Test func anAddressThatGuessesIsHeldBack() {
        var client = Auth0Harness(settings: { settings in
            settings.threshold = 100
            settings.addressThreshold = 3
        })
        for _ in 0..<3 { client.signIn("wrong") }
        client.signIn()
        #expect(client.status == 429 && client.text?.contains("suspicious") == true)
        client.advance(seconds: 864)
        client.signIn()
        #expect(client.status == 200)
    }

    @Test func aRobotIsSentToTheBrowser() {
        var client = Auth0Harness(settings: { settings in
            settings.detectsBots = true
            settings.grants = ["password"]
        })
        client.signIn()
        #expect(client.status == 401 && client.error == "requires_verification")
        client.signIn(realm: "Username-Password-Authentication")
        #expect(client.status == 403 && client.error == "unauthorized_client")
    }

    @Test func theOldestOfTooManyTokensIsDropped() {
        var client = Auth0Harness(settings: { $0.tokenLimit = 2 })
        let tokens = (0..<3).map { _ in client.signIn()["refresh_token"] }
        client.refresh(tokens[0])
        #expect(client.text == "Unknown or invalid refresh token.")
        #expect(client.refresh(tokens[2])["access_token"] != nil)
    }
}
