import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Facebook: limits and faults")
struct FacebookLimitTests {
    @Test func theAppsLimitIsReportedAndReached() {
        var client = FacebookHarness { $0.appLimit = .init(count: 4, per: 60_000) }
        client.hold()
        var shares: [String?] = []
        for _ in 0..<4 {
            client.call("GET", "/v25.0/me")
            shares.append(client.base.answer.header("X-App-Usage"))
        }
        #expect(shares.first??.contains(#""call_count":25"#) == true)
        #expect(shares.last??.contains(#""call_count":100"#) == true)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 403 && client.code == 4)
        #expect(client.body["error"]?["is_transient"] == true)
        #expect(client.base.answer.header("X-App-Usage")?.contains("100") == true)
        client.advance(seconds: 60)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200)
    }

    @Test func earlyCallsMakeABlockLonger() {
        var client = FacebookHarness {
            $0.earlyCallPenalty = 30_000
            $0.limitStatesTime = true
            $0.limitIsTransient = nil
        }
        client.hold()
        client.control("block", #"{"seconds": 60}"#)
        client.call("GET", "/v25.0/me")
        #expect(client.code == 4 && client.base.answer.header("Retry-After") == "60")
        #expect(client.body["error"]?["is_transient"] == nil)
        #expect(client.counters.earlyCalls == 0)
        client.advance(seconds: 50)
        client.call("GET", "/v25.0/me")
        #expect(client.base.answer.header("Retry-After") == "40" && client.counters.earlyCalls == 1)
        client.advance(seconds: 40)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200)
    }

    @Test func aBlockHoldsWhomItIsAbout() {
        var client = FacebookHarness()
        client.hold()
        client.control("block", #"{"code": 17, "seconds": 60, "user": "grace@example.com"}"#)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200)
        client.control("block", #"{"code": 17, "seconds": 60, "user": "ada@example.com"}"#)
        client.call("GET", "/v25.0/me")
        #expect(client.status == 400 && client.code == 17)
        client.control("permission", #"{"user": "grace@example.com", "permission": "ads_read"}"#)
        client.advance(seconds: 60)
        client.control("block", #"{"code": 80004, "seconds": 120, "account": "act_1"}"#)
        client.call("GET", "/v25.0/act_1/insights")
        #expect(client.status == 400 && client.code == 80_004 && client.subcode == 2_446_079)
        let usage = client.base.answer.header("X-Business-Use-Case-Usage") ?? ""
        #expect(usage.contains(#""type":"ads_management""#) && usage.contains(#""estimated_time_to_regain_access":2"#))
        for path in ["/v25.0/act_2/insights", "/v25.0/me"] {
            client.call("GET", path)
            #expect(client.code != 80_004, "\(path)")
        }
        #expect(client.base.control("GET", "facebook")["blocks"]?.array?.count == 1)
    }

    /// A limit of a page's holds all that is the page's, whatever the path says, and no other page.
    @Test func aPagesLimitHoldsThePage() {
        var user = SandboxUser(email: FacebookHarness.ada, password: Harness.password)
        user.facebook.pages = ["500", "600"]
        user.facebook.permissions = ["public_profile", "pages_read_engagement"]
        var client = FacebookHarness(user: user)
        client.hold()
        let person = client.token
        client.hold(page: "500")
        let page = client.token
        client.control("block", #"{"code": 80001, "seconds": 120, "account": "500"}"#)
        for (token, path) in [
            (page, "/v25.0/500/feed"), (page, "/v25.0/me/feed"), (person, "/v25.0/500"), (page, "/v25.0/500_7"),
        ] {
            client.token = token
            client.call("GET", path)
            #expect(client.code == 80_001, "\(path)")
            let usage = client.base.answer.header("X-Business-Use-Case-Usage") ?? ""
            #expect(usage.hasPrefix(#"{"500":[{"type":"pages""#), "\(usage)")
        }
        client.token = person
        for path in ["/v25.0/600/posts", "/v25.0/me", "/v25.0/me/accounts"] {
            client.call("GET", path)
            #expect(client.status == 200, "\(path)")
        }
    }

    /// A call about several objects is refused for the one that is limited, and counts as often as it has objects.
    @Test func severalObjectsAreEachCounted() {
        var user = SandboxUser(email: FacebookHarness.ada, password: Harness.password)
        user.facebook.pages = ["500", "600"]
        user.facebook.permissions = ["public_profile", "pages_read_engagement", "ads_read"]
        var client = FacebookHarness(user: user)
        client.hold()
        let names = client.call("GET", "/v25.0/?ids=500,600,500&fields=name")
        #expect(names["500"]?["name"] == "Page 500" && names.members?.map(\.key) == ["500", "600"])
        #expect(client.call("GET", "/v25.0/feed?ids=600%2C500")["600"]?["data"] == [])
        let item = client.batch(#"[{"method":"GET","relative_url":"?ids=500,me"}]"#).first.map(FacebookHarness.read)
        #expect(item?["500"]?["id"] == "500" && item?["me"]?["id"]?.string?.isEmpty == false)
        for (path, code) in [("?ids=500,900", 100), ("?ids=500,nobody.there", 803), ("", 100)] as [(String, Int64)] {
            client.call("GET", "/v25.0/\(path)")
            #expect(client.code == code, "\(path)")
        }
        client.call("GET", "/v25.0/?ids=" + (1...51).map(String.init).joined(separator: ","))
        #expect(client.code == 100 && client.body["error"]?["message"]?.string?.contains("Maximum: 50") == true)

        client.control("block", #"{"code": 80001, "seconds": 120, "account": "600"}"#)
        client.call("GET", "/v25.0/feed?ids=500,600")
        let usage = client.base.answer.header("X-Business-Use-Case-Usage") ?? ""
        #expect(client.code == 80_001 && usage.hasPrefix(#"{"600":[{"type":"pages""#), "\(usage)")
        client.call("GET", "/v25.0/feed?ids=500")
        #expect(client.status == 200)

        client.base.control("POST", "settings", #"{"facebook": {"app_limit": {"count": 3, "per_s": 60}}}"#)
        client.call("GET", "/v25.0/?ids=500,me")
        #expect(client.status == 200 && client.base.answer.header("X-App-Usage")?.contains(#""call_count":66"#) == true)
        client.call("GET", "/v25.0/?ids=500,me")
        #expect(client.code == 4)
    }

    @Test func sharesCanBeTold() {
        var client = FacebookHarness {
            $0.appUsage = 85
            $0.businessUsage = .init(type: "ads_insights", percent: 90, regain: 3)
        }
        client.hold()
        client.call("GET", "/v25.0/me")
        #expect(client.base.answer.header("X-App-Usage")?.contains(#""call_count":85"#) == true)
        #expect(client.base.answer.header("X-Business-Use-Case-Usage") == nil)
        client.call("GET", "/v25.0/act_7/insights")
        #expect(
            client.base.answer.header("X-Business-Use-Case-Usage")?.hasPrefix(#"{"7":[{"type":"ads_insights""#) == true
        )
        client.call("GET", "/v25.0/insights?ids=act_7,act_8")
        let both = client.base.answer.header("X-Business-Use-Case-Usage").flatMap { try? JSONValue(parsing: $0) }
        #expect(both?.members?.map(\.key) == ["7", "8"])
    }

    // MARK: Faults

    @Test(arguments: [
        (#"{"kind": "envelope", "code": "4"}"#, 403, "4"), (#"{"kind": "envelope", "code": "80004"}"#, 400, "80004"),
        (#"{"kind": "envelope", "code": "613/1996"}"#, 400, "613/1996"),
        (#"{"kind": "envelope", "code": "1"}"#, 500, "1"),
        (#"{"kind": "envelope", "code": "1", "meta": {"is_transient": false}}"#, 500, "1"),
        (#"{"kind": "envelope", "code": "2", "status": 400}"#, 400, "2"),
        (#"{"kind": "envelope", "code": "2", "status": 503}"#, 503, "2"),
        (#"{"kind": "envelope", "code": "368"}"#, 403, "368"), (#"{"kind": "envelope", "code": "10"}"#, 403, "10"),
        (#"{"kind": "envelope", "code": "200"}"#, 403, "200"), (#"{"kind": "envelope", "code": "803"}"#, 404, "803"),
        (#"{"kind": "envelope", "code": "100/33"}"#, 400, "100/33"), (#"{"kind": "status"}"#, 503, "2"),
        (#"{"kind": "status", "status": 401}"#, 401, "190"),
        (#"{"kind": "envelope", "envelope": "fb-string", "code": "190/463"}"#, 400, "190/463"),
    ])
    func errorsLookAsTheyShould(json: String, status: Int, code: String) throws {
        var client = FacebookHarness()
        client.hold()
        client.base.world.faults.add(try SandboxFault(json: json))
        client.call("GET", "/v25.0/me")
        #expect(client.status == status)
        #expect(client.base.world.log.records.last?.errorCode == code)
        #expect(client.body["error"]?["message"]?.string?.isEmpty == false)
        if json.contains("is_transient") { #expect(client.body["error"]?["is_transient"] == false) }
        if code == "80004" { #expect(client.base.answer.header("X-Business-Use-Case-Usage") != nil) }
        if code == "4" { #expect(client.base.answer.header("X-App-Usage") != nil) }
    }

    @Test(arguments: [
        ("fb-flat", 400, #"{"error_code":100,"#), ("fb-text", 400, #"{"error":"m"}"#),
        ("fb-login", 400, #"{"error_type":"OAuthException","code":400,"error_message":"m"}"#),
        ("fb-jsonp", 200, #"/**/ cb({"error":{"message":"m""#), ("fb-site", 200, #"for (;;);{"error":100,"#),
        ("fb-unavailable", 200, "Service Unavailable"), ("fb", 400, #"{"error":{"message":"m","#),
    ])
    func theOtherForms(form: String, status: Int, beginning: String) throws {
        var client = FacebookHarness()
        client.base.world.faults.add(
            try SandboxFault(
                json: #"{"kind": "envelope", "envelope": "\#(form)", "code": "100", "message": "m"}"#
            )
        )
        client.call("GET", "/v25.0/me")
        #expect(client.status == status)
        #expect(String(decoding: client.base.answer.body, as: UTF8.self).hasPrefix(beginning))
    }

    @Test func settingsAreReadAndShown() throws {
        var client = FacebookHarness()
        let json = """
            {"facebook": {"app_limit": {"count": 5, "per_s": 60}, "device": {"polls": 1, "decision": "deny"},
             "business_usage": {"type": "pages", "percent": 5}, "limit_transient": null, "token_life_s": 1.5,
             "app_id": "77", "app_usage": 12, "require_proof": true}}
            """
        let shown = client.base.control("POST", "settings", json)["facebook"]
        #expect(shown?["app_limit"]?["count"] == 5 && shown?["device"]?["decision"] == "deny")
        #expect(shown?["limit_transient"] == .null && shown?["token_life_s"] == .seconds(1500))
        #expect(shown?["business_usage"]?["type"] == "pages" && shown?["app_id"] == "77")
        for wrong in [
            #"{"facebook": {"app_id": "x"}}"#, #"{"facebook": {"app_usage": "12"}}"#, #"{"facebook": {"polls": 1}}"#,
            #"{"facebook": {"device": {"decision": "maybe"}}}"#, #"{"facebook": {"limit_transient": 1}}"#,
        ] {
            #expect(client.base.control("POST", "settings", wrong)["error"] != nil, "\(wrong)")
            #expect(client.base.status == 400)
        }
        for wrong in [#"{"id": "x"}"#, #"{"behaviour": "odd"}"#, #"{"pages": ["p"]}"#, #"{"nothing": 1}"#] {
            let user = #"{"emails": "e@example.com", "facebook": \#(wrong)}"#
            #expect(client.base.control("POST", "users", user)["error"] != nil, "\(wrong)")
        }
        let user =
            #"{"emails": "e@example.com", "facebook": {"id": "42", "behaviour": "expired", "declines": ["email"]}}"#
        #expect(client.base.control("POST", "users", user)["identifier"] == "e@example.com")
        #expect(client.base.world.facebook.people["42"]?.user.facebook.behaviour == .expired)
        for wrong in ["issue", "visit", "behaviour", "device", "code", "block", "permission"] {
            client.control(wrong, "{}")
            #expect(client.base.status == 400, "\(wrong)")
        }
        client.control("visit", #"{"user": "nobody"}"#)
        #expect(client.base.status == 404)
    }
}
