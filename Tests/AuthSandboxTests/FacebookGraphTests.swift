import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Facebook: Graph")
struct FacebookGraphTests {
    @Test func somebodyIsShown() {
        var client = FacebookHarness()
        client.hold()
        for path in ["/v25.0/me", "/me", "/v3.1/me?fields=id,name"] {
            #expect(client.call("GET", path)["name"] == "Ada Example", "\(path)")
            #expect(client.status == 200)
            #expect(client.base.answer.header("Content-Type")?.hasPrefix("text/javascript") == true)
            #expect(client.base.answer.header("x-fb-trace-id") != nil)
        }
        let id = client.body["id"]?.string ?? ""
        #expect(client.call("GET", "/v25.0/\(id)")["id"]?.string == id)
        let token = client.token ?? ""
        client.token = nil
        #expect(client.call("GET", "/v25.0/me", ["access_token": token])["id"]?.string == id)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 400 && client.code == 2500)
        client.token = "nonsense"
        client.call("GET", "/v25.0/me")
        #expect(client.code == 190 && client.subcode == nil)
    }

    /// The other providers keep their paths.
    @Test(arguments: [
        ("GET", "/v1/client"), ("GET", "/me/v1/client"), ("GET", "/api/v1/users/me"), ("POST", "/oauth/token"),
        ("GET", "/json/serverinfo/*"), ("GET", "/"), ("GET", "/resource"), ("POST", "/oauth2/v1/token"),
        ("GET", "/activate"), ("GET", "/version"), ("GET", "/v2/me"),
    ])
    func othersKeepTheirPaths(method: String, path: String) {
        #expect(FacebookRoute.find(path, method: method) == nil)
    }

    @Test(arguments: [
        ("GET", "/me/feed"), ("POST", "/"), ("GET", "/debug_token"), ("GET", "/act_1/insights"),
        ("POST", "/device/login"), ("GET", "/oauth/access_token"), ("GET", "/v25.0/oauth/access_token"),
        ("GET", "/100200300_4"), ("GET", "/v25.0/anything/there"),
    ])
    func graphHasItsOwn(method: String, path: String) {
        #expect(FacebookRoute.find(path, method: method) != nil)
    }

    @Test(
        arguments: [
            ("expired", 463), ("password_changed", 460), ("removed", 458), ("checkpoint", 459), ("unconfirmed", 464),
            ("logged_out", 467), ("inactive", 493), ("460", 460),
        ] as [(String, Int64)]
    )
    func aTokenBehaves(behaviour: String, subcode: Int64) {
        var client = FacebookHarness()
        client.hold(behaviour)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 400 && client.code == 190 && client.subcode == subcode)
        let challenge = client.base.answer.header("WWW-Authenticate") ?? ""
        #expect(challenge.hasPrefix(#"OAuth "Facebook Platform" "invalid_token" "#))
        #expect(client.base.world.log.records.last?.errorCode == "190/\(subcode)")
        let settled = client.control("visit", #"{"user": "ada@example.com"}"#)["settled"]?.int
        client.call("GET", "/v25.0/me")
        #expect(settled == (subcode == 459 || subcode == 464 ? 1 : 0))
        #expect((client.status == 200) == (settled == 1))
        #expect((client.base.answer.header("WWW-Authenticate") == nil) == (settled == 1))
    }

    @Test func aPageHasATokenOfItsOwn() {
        var user = SandboxUser(email: FacebookHarness.ada, password: Harness.password)
        user.facebook.pages = ["55501"]
        var client = FacebookHarness(user: user)
        client.hold()
        let page = client.call("GET", "/v25.0/me/accounts")["data"]?[0]?["access_token"]?.string
        client.token = page
        #expect(client.call("GET", "/v25.0/me")["id"] == "55501")
        client.hold("no_role", page: "55501")
        client.call("GET", "/v25.0/me")
        #expect(client.code == 190 && client.subcode == 492)
    }

    @Test func timesAndPeopleEndTokens() {
        var client = FacebookHarness()
        client.hold()
        client.advance(seconds: 7200)
        client.call("GET", "/v25.0/me")
        #expect(client.subcode == 463)
        client.hold()
        client.control("password", #"{"user": "ada@example.com"}"#)
        client.call("GET", "/v25.0/me")
        #expect(client.subcode == 460)
        client.advance(seconds: 1)
        client.hold()
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200)
        #expect(client.call("DELETE", "/v25.0/me/permissions")["success"] == true)
        client.call("GET", "/v25.0/me")
        #expect(client.subcode == 458)
    }

    @Test func postsArePostedOnce() {
        var client = FacebookHarness()
        client.hold()
        client.call("POST", "/v25.0/me/feed", ["message": "one"])
        let id = client.body["id"]?.string ?? "?"
        #expect(client.status == 200)
        client.call("POST", "/v25.0/me/feed", ["message": "one"])
        #expect(client.code == 506 && client.counters.duplicates == 1 && client.counters.posts == 1)
        #expect(client.body["error"]?["error_user_msg"]?.string != nil)
        for text in ["two", "three"] { client.call("POST", "/v25.0/me/feed", ["message": text]) }
        let feed = client.call("GET", "/v25.0/me/feed?limit=2")
        #expect(feed["data"]?.array?.map { $0["message"]?.string } == ["three", "two"])
        let next = feed["paging"]?["next"]?.string ?? ""
        #expect(next.contains("after=2") && next.contains("access_token="))
        #expect(client.call("GET", "/v25.0/me/feed?limit=2&after=2")["data"]?.array?.count == 1)
        #expect(client.call("GET", "/v25.0/\(id)")["message"] == "one")
        client.call("POST", "/v25.0/me/feed")
        #expect(client.code == 100)
        #expect(client.call("DELETE", "/v25.0/\(id)")["success"] == true)
        client.call("GET", "/v25.0/\(id)")
        #expect(client.code == 100 && client.subcode == 33)
        client.call("GET", "/v25.0/nobody.there")
        #expect(client.status == 404 && client.code == 803)
    }

    @Test func permissionsAreSaidAndTakenBack() {
        var user = SandboxUser(email: FacebookHarness.ada, password: Harness.password)
        user.facebook.permissions = ["public_profile", "email", "ads_read"]
        var client = FacebookHarness(user: user)
        client.hold()
        #expect(client.call("GET", "/v25.0/me?fields=email")["email"] == "ada@example.com")
        #expect(client.call("GET", "/v25.0/act_1/insights")["data"]?.array?.count == 1)
        client.call("DELETE", "/v25.0/me/permissions/ads_read")
        client.call("GET", "/v25.0/act_1/insights")
        #expect(client.status == 403 && client.code == 200)
        client.control("permission", #"{"user": "ada@example.com", "permission": "email", "status": "expired"}"#)
        #expect(client.call("GET", "/v25.0/me?fields=email")["email"] == nil)
        let list = client.call("GET", "/v25.0/me/permissions")["data"]?.array ?? []
        #expect(
            Set(list.map { "\($0["permission"]?.string ?? "") \($0["status"]?.string ?? "")" })
                == ["public_profile granted", "ads_read declined", "email expired"]
        )
    }

    @Test func theSecretIsProved() {
        var client = FacebookHarness { $0.requiresProof = true }
        client.hold()
        client.call("GET", "/v25.0/me")
        #expect(client.status == 400 && client.code == 100)
        client.call("GET", "/v25.0/me?appsecret_proof=00")
        #expect(client.body["error"]?["message"]?.string?.hasPrefix("Invalid appsecret_proof") == true)
        let code = HMAC.sha256(Array((client.token ?? "").utf8), key: Array(client.settings.appSecret.utf8))
        let proof = code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        client.call("GET", "/v25.0/me?appsecret_proof=\(proof)")
        #expect(client.status == 200 && client.counters.refusedProofs == 2)
        let fields = client.base.world.log.records.map { $0.fields.joined() }.joined()
        #expect(!fields.contains(proof))
    }

    @Test func codesCanBeTextAndErrorsSuccesses() {
        var client = FacebookHarness {
            $0.writesCodesAsText = true
            $0.errorsInSuccess = true
            $0.hidesSubcodes = true
            $0.sendsChallenge = false
        }
        client.hold("expired")
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200 && client.body["error"]?["code"] == "190" && client.subcode == nil)
        #expect(client.base.answer.header("WWW-Authenticate") == nil)
        client.call("GET", "/v25.0/me?callback=cb")
        let text = String(decoding: client.base.answer.body, as: UTF8.self)
        #expect(client.status == 200 && text.hasPrefix("/**/ cb({\"error\"") && text.hasSuffix(");"))
    }

    // MARK: Batches

    @Test func aBatchIsAnsweredItemByItem() {
        var client = FacebookHarness()
        client.hold()
        let items = client.batch(
            """
            [{"method": "POST", "relative_url": "me/feed", "body": "message=hi", "name": "p"},
             {"method": "GET", "relative_url": "{result=p:$.id}"}, {"method": "GET", "relative_url": "nosuch"},
             {"method": "GET", "relative_url": "v19.0/me?fields=name"},
             {"method": "GET", "relative_url": "me?access_token=nonsense"},
             {"method": "GET", "relative_url": "me", "depends_on": "q"}]
            """
        )
        #expect(items.map { $0["code"]?.int } == [nil, 200, 404, 200, 400, nil])
        #expect(FacebookHarness.read(items[1])["message"] == "hi")
        #expect(FacebookHarness.read(items[4])["error"]?["code"] == 190)
        #expect(items[1]["headers"]?.array?.contains { $0["name"] == "x-fb-trace-id" } == true)
        client.control("unfinished", #"{"count": 1}"#)
        #expect(
            client.batch(#"[{"relative_url": "me"}, {"relative_url": "me"}]"#).map { $0["code"]?.int } == [nil, 200]
        )
        let many = "[" + Array(repeating: #"{"relative_url": "me"}"#, count: 51).joined(separator: ",") + "]"
        #expect(client.batch(many).isEmpty && client.code == 100)
        client.hold("expired")
        #expect(client.batch("[]").isEmpty && client.subcode == 463)
    }

    /// What would be made of another's answer is not made of nothing.
    @Test(arguments: ["{result=a:$.id}", "x{result=a:$.id}y{result=b:$.id}"])
    func anItemThatNeedsAFailedOneIsNotRun(text: String) {
        var client = FacebookHarness()
        client.hold()
        let items = client.batch(
            """
            [{"relative_url": "nosuch", "name": "a"},
             {"method": "POST", "relative_url": "me/feed", "body": "message=\(text)"},
             {"relative_url": "\(text)"}, {"relative_url": "me/feed"}]
            """
        )
        #expect(items.map { $0["code"]?.int } == [404, nil, nil, 200])
        #expect(FacebookHarness.read(items[3])["data"]?.array?.isEmpty == true)
    }

    @Test func faultsStrikeItems() throws {
        var client = FacebookHarness()
        client.hold()
        client.base.world.faults.add(.facebook(2, path: "/v25.0/me/feed"))
        client.base.world.faults.add(SandboxFault(.hang, path: "/v25.0/me/permissions"))
        let items = client.batch(
            #"[{"relative_url": "me"}, {"relative_url": "me/feed"}, {"relative_url": "me/permissions"}]"#
        )
        #expect(items.map { $0["code"]?.int } == [200, 500, nil])
        #expect(items.count == 3 && FacebookHarness.read(items[1])["error"]?["is_transient"] == true)
    }
}
