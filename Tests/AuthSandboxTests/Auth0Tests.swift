import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// A client of the tenant without a socket, with its own time.
struct Auth0Harness {
    var base: Harness

    static let name = "ada@example.com"

    init(_ person: (inout SandboxUser) -> Void = { _ in }, settings: (inout SandboxAuth0Settings) -> Void = { _ in }) {
        var user = SandboxUser(email: Self.name, password: "right")
        user.phones = ["+12015550100"]
        person(&user)
        var scenario = SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings)
        settings(&scenario.settings.auth0)
        base = Harness(scenario)
    }

    var status: Int { base.answer.status }
    var error: String? { base.answer.jsonBody?["error"]?.string }
    var text: String? { base.answer.jsonBody?["error_description"]?.string }

    mutating func advance(seconds: Int64) { base.now += seconds * 1000 }

    @discardableResult
    mutating func post(_ path: String, _ body: JSONValue, headers: [(String, String)] = []) -> JSONValue {
        send("POST", path, body, headers: headers)
    }

    @discardableResult
    mutating func send(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        headers: [(String, String)] = []
    ) -> JSONValue {
        let all = headers.map { SandboxRequest.Header(name: $0.0, value: $0.1) }
        base.send(
            SandboxRequest(
                method: method,
                target: "/auth0" + path,
                headers: all,
                body: Array((body?.description ?? "").utf8)
            )
        )
        return base.answer.jsonBody ?? .null
    }

    /// - Parameters:
    ///   - scope: What is asked for; nil asks for nothing.
    ///   - realm: The connection; nil leaves it to the tenant.
    @discardableResult
    mutating func signIn(
        _ password: String = "right",
        scope: String? = "openid profile email offline_access",
        realm: String? = nil,
        audience: String? = nil,
        headers: [(String, String)] = []
    ) -> JSONValue {
        let grant = realm == nil ? "password" : "http://auth0.com/oauth/grant-type/password-realm"
        return post(
            "/oauth/token",
            .present([
                "grant_type": .string(grant), "client_id": "cli", "client_secret": "s", "username": .string(Self.name),
                "password": .string(password), "scope": scope.map(JSONValue.string),
                "realm": realm.map(JSONValue.string), "audience": audience.map(JSONValue.string),
            ]),
            headers: headers
        )
    }

    /// Asks for the profile.
    @discardableResult
    mutating func profile(_ answer: JSONValue) -> JSONValue {
        let token = answer["access_token"]?.string ?? ""
        return send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")])
    }

    /// Has a link to set a new password mailed, and returns where it leads, below the tenant.
    mutating func resetLink() -> String {
        post(
            "/dbconnections/change_password",
            ["client_id": "cli", "email": .string(Self.name), "connection": "Username-Password-Authentication"]
        )
        let link = code(to: Self.name)
        return link.split(separator: "/auth0", maxSplits: 1).last.map(String.init) ?? ""
    }

    /// Sends the form of the page that a link leads to.
    mutating func setPassword(_ password: String, ticket: String) {
        base.send(
            SandboxRequest(
                method: "POST",
                target: "/auth0/reset",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array("ticket=\(ticket)&password=\(password)".utf8)
            )
        )
    }

    @discardableResult
    mutating func factor(_ grant: String, _ token: JSONValue?, _ members: [String: String]) -> JSONValue {
        var body: [JSONValue.Member] = [
            JSONValue.Member("grant_type", .string("http://auth0.com/oauth/grant-type/\(grant)")),
            JSONValue.Member("client_id", "cli"), JSONValue.Member("mfa_token", token ?? .null),
        ]
        body += members.map { JSONValue.Member($0.key, .string($0.value)) }
        return post("/oauth/token", .object(body))
    }

    @discardableResult
    mutating func refresh(_ token: JSONValue?, scope: String? = nil, audience: String? = nil) -> JSONValue {
        post(
            "/oauth/token",
            .present([
                "grant_type": "refresh_token", "client_id": "cli", "refresh_token": token ?? .null,
                "scope": scope.map(JSONValue.string), "audience": audience.map(JSONValue.string),
            ])
        )
    }

    /// Has a code or a push sent.
    mutating func challenge(_ factor: String, _ token: JSONValue?) -> JSONValue {
        let list = send("GET", "/mfa/authenticators", headers: [("authorization", "Bearer \(token?.string ?? "")")])
        let id = list.array?.first { $0["id"]?.string?.hasPrefix(factor) == true }?["id"]
        return post(
            "/mfa/challenge",
            [
                "client_id": "cli", "mfa_token": token ?? .null, "challenge_type": "oob",
                "authenticator_id": id ?? .null,
            ]
        )
    }

    func code(to address: String) -> String { base.world.outbox.messages(to: address).last?.code ?? "" }

    func totp() -> String {
        TOTP.code(
            secret: Base32.decode("JBSWY3DPEHPK3PXP") ?? [],
            step: TOTP.step(atMilliseconds: base.now)
        )
    }
}

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

    // MARK: What is granted

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
