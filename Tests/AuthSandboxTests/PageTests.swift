import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("The page in a browser")
struct PageTests {
    private static let host = "127.0.0.1:8080"

    /// A request as a browser sends it.
    private static func request(
        _ method: String = "GET",
        _ target: String = "/_sandbox/",
        _ headers: [String: String] = [:],
        body: String = "",
        peer: String = "127.0.0.1"
    ) -> SandboxRequest {
        let all = ["host": host, "accept": "text/html,application/xhtml+xml,*/*;q=0.8"].merging(headers) { $1 }
        return SandboxRequest(
            method: method,
            target: target,
            headers: all.map { .init(name: $0.key, value: $0.value) },
            body: Array(body.utf8),
            peer: peer
        )
    }

    private static func account(_ name: String, _ client: inout Harness) -> JSONValue? {
        client.control("GET", "state")["accounts"]?.array?.first { $0["user"]?.string == name }
    }

    // MARK: The state

    @Test func theStateTellsOfEverybodyTheirPasswordAndTheirCode() throws {
        var client = Harness()
        let state = client.control("GET", "state")
        let names = state["accounts"]?.array?.compactMap { $0["user"]?.string }
        #expect(names == SandboxScenario.defaultUsers.map(\.identifier))
        #expect(state["providers"]?.array?.compactMap(\.string) == SandboxProvider.all.map(\.name))
        let grace = try #require(Self.account("grace@example.com", &client))
        #expect(grace["name"]?.string == "Grace Example")
        for provider in SandboxProvider.all {
            #expect(grace["providers"]?[provider.name]?["password"]?.string == Harness.password)
        }
        let code = client.control("GET", "totp?user=grace@example.com")["code"]
        #expect(code?.string?.count == 6 && grace["providers"]?["clerk"]?["totp"] == code)
        client.control("POST", "clock", #"{"advance_s": 30}"#)
        let later = Self.account("grace@example.com", &client)?["providers"]?["forgerock"]?["totp"]
        #expect(later?.string?.count == 6 && later != code)
        let barbara = Self.account("barbara@example.com", &client)?["providers"]?["clerk"]
        #expect(barbara?["password"] == .null && barbara?["totp"] == .null)
    }

    @Test func aProviderThatDoesNotAnswerIsNotTold() throws {
        var client = Harness()
        client.world = SandboxWorld(scenario: .unlimited, seed: 7, wallNow: client.now, providers: [.facebook])
        let state = client.control("GET", "state")
        #expect(state["accounts"]?.array?.count == SandboxScenario.defaultUsers.count)
        #expect(state["accounts"]?.array?.first?["providers"]?.members?.map(\.key) == ["facebook"])
        #expect(state["links"]?.array?.count == 2)
    }

    @Test func theStateTellsWhoIsLockedWhereAndWhoIsSignedIn() {
        var client = Harness()
        func standing(_ name: String, _ provider: String) -> JSONValue? {
            Self.account(name, &client)?["providers"]?[provider]
        }
        #expect(standing("ken@example.com", "clerk")?["locked_s"] == "indefinite")
        #expect(standing("ken@example.com", "forgerock")?["locked_s"] == "indefinite")
        client.control("POST", "unlock", #"{"user": "ken@example.com"}"#)
        #expect(standing("ken@example.com", "clerk")?["locked_s"] == .null)
        #expect(standing("ken@example.com", "okta")?["locked_s"] == .null)
        #expect(standing("ken@example.com", "forgerock")?["locked_s"] == "indefinite")
        client.control("POST", "forgerock/unlock", #"{"user": "ken@example.com"}"#)
        #expect(standing("ken@example.com", "forgerock")?["locked_s"] == .null)
        client.signIn("margaret@example.com", "wrong")
        #expect(standing("margaret@example.com", "clerk")?["failures"] == 1)
        client.control("POST", "lock", #"{"user": "margaret@example.com", "seconds": 5}"#)
        #expect(standing("margaret@example.com", "clerk")?["locked_s"] == 5)
        client.signIn("ada@example.com")
        #expect(standing("ada@example.com", "clerk")?["sessions"] == 1)
        #expect(standing("ada@example.com", "okta")?["sessions"] == 0)
    }

    @Test func theStateTellsOfBlocksAtAuth0() {
        var client = Harness()
        let threshold = client.world.settings.auth0.threshold
        let form = "grant_type=password&client_id=cli&username=ada%40example.com&password=wrong"
        func standing() -> JSONValue? { Self.account("ada@example.com", &client)?["providers"]?["auth0"] }
        for count in 1...threshold {
            #expect(standing()?["locked_s"] == .null)
            client.send(
                SandboxRequest(
                    method: "POST",
                    target: "/auth0/oauth/token",
                    headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                    body: Array(form.utf8)
                )
            )
            #expect(standing()?["failures"] == .int(count))
        }
        #expect(standing()?["locked_s"] == "indefinite")
        client.control("POST", "auth0/unblock", #"{"user": "ada@example.com"}"#)
        #expect(standing()?["locked_s"] == .null)
    }

    @Test func theStateTellsWhatCameAndWhatWasSentWithoutSecrets() throws {
        var client = Harness()
        client.control("POST", "faults", #"{"kind": "status", "status": 503, "match": {"path": "/v1/environment"}}"#)
        client.call("GET", "environment")
        client.signIn("ada@example.com")
        client.token = nil
        client.call("POST", "client/sign_ins", ["identifier": "barbara@example.com", "strategy": "email_code"])
        let state = client.control("GET", "state")
        let requests = try #require(state["requests"]?.array)
        #expect(requests.map { $0["status"] } == [503, 200, 200])
        #expect(requests.first?["fault"] == "status" && requests.first?["method"] == "GET")
        #expect(!requests.description.contains(Harness.password))
        #expect(state["faults"]?.array?.first?["struck"] == 1)
        let message = try #require(state["messages"]?.array?.last)
        #expect(message["to"] == "barbara@example.com" && message["code"]?.string == client.lastCode)
        #expect(message["n"] == 1)
    }

    /// What was forgotten is counted all the same, so that each message keeps its number.
    @Test func theNewestOfALongHistoryAreShown() {
        var client = Harness()
        for number in 1...1001 {
            client.world.context.send(
                SandboxMessage(to: "a", channel: "email", strategy: "s", code: "\(number)", sentAt: 0, signIn: "")
            )
        }
        for _ in 1...61 { client.call("GET", "environment") }
        let state = client.control("GET", "state")
        #expect(state["messages"]?.array?.count == 60)
        #expect(state["messages"]?.array?.last?["n"] == 1001 && state["messages"]?.array?.last?["code"] == "1001")
        #expect(state["total"] == 61 && state["requests"]?.array?.first?["n"] == 2)
    }

    @Test func everyLoginPageIsThereAndLeadsBack() throws {
        var client = Harness()
        client.call("POST", "client/sign_ins", ["strategy": "oauth_google", "redirect_url": "app:/back"])
        client.send(Self.request("GET", "/_sandbox/state"))
        let links = try #require(client.answer.jsonBody?["links"]?.array)
        #expect(links.count == 8)
        for link in links {
            let href = try #require(link["href"]?.string)
            client.send(Self.request("GET", href))
            if client.status == 302 {
                let place = try #require(client.answer.header("Location"))
                #expect(place.hasPrefix("http://127.0.0.1:8080/callback?") && place.contains("code="), "\(place)")
            } else {
                #expect(client.status == 200 && client.answer.header("Content-Type")?.hasPrefix("text/html") == true)
                #expect(String(decoding: client.answer.body, as: UTF8.self).contains("<form"), "\(href)")
            }
        }
    }

    @Test func beforeAServerOfOnesOwnThereAreFaultsAndRequests() throws {
        var world = SandboxWorld(
            scenario: .standard,
            seed: 1,
            wallNow: 0,
            providers: [],
            upstream: try SandboxUpstream("http://up.example")
        )
        let page = world.handle(Self.request(), wallNow: 0).reply.response
        #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
        let state = world.handle(Self.request("GET", "/_sandbox/state"), wallNow: 0).reply.response.jsonBody
        #expect(state?["upstream"] == "http://up.example")
        #expect(state?["accounts"]?.array?.isEmpty == true && state?["links"]?.array?.isEmpty == true)
    }

    // MARK: Who is shown the page

    @Test func aBrowserIsShownThePageAndAProgramTheList() {
        var client = Harness()
        client.send(Self.request())
        #expect(client.answer.header("Content-Type") == "text/html; charset=utf-8")
        let page = String(decoding: client.answer.body, as: UTF8.self)
        #expect(page.hasPrefix("<!doctype html>") && !page.contains("://"))
        #expect(client.answer.header("Content-Security-Policy")?.hasPrefix("default-src 'none'; ") == true)
        for (name, type) in ["page.js": "text/javascript", "page.css": "text/css"] {
            #expect(page.contains("\"/_sandbox/\(name)\""))
            client.send(Self.request("GET", "/_sandbox/\(name)", ["accept": "*/*"]))
            #expect(client.status == 200 && client.answer.header("Content-Type")?.hasPrefix(type) == true)
        }
        client.send(Self.request("GET", "/_sandbox/", ["accept": "*/*"]))
        #expect(client.answer.jsonBody?["GET /_sandbox/state"]?.string?.hasPrefix("what the page shows") == true)
        #expect(client.world.log.records.isEmpty)
    }

    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:8080", true), ("127.0.0.53", "localhost:8080", true), ("::1", "[::1]:8080", true),
        ("::ffff:127.0.0.1", "sandbox.localhost", true), ("127.0.0.1", "LOCALHOST", true),
        ("192.168.1.7", "127.0.0.1:8080", false), ("127.0.0.1", "evil.example:8080", false),
        ("127.0.0.1", "127.0.0.1.evil.example", false), ("127.0.0.1", "localhost.evil.example", false),
        ("127.0.0.1", "", false), ("unknown", "localhost", false),
    ])
    func thePageIsShownOnThisMachineAlone(peer: String, host: String, isShown: Bool) {
        var client = Harness()
        for path in ["", "page.js", "page.css"] {
            client.send(Self.request("GET", "/_sandbox/\(path)", ["host": host], peer: peer))
            #expect(client.status == (isShown ? 200 : 403))
        }
    }

    @Test(
        arguments: [
            (["origin": "http://127.0.0.1:8080", "sec-fetch-site": "same-origin"], true),
            (["sec-fetch-site": "none"], true), ([:], true),
            (["origin": "http://localhost:8080", "host": "LocalHost:8080"], true),
            (["origin": "http://evil.example"], false), (["origin": "null"], false), (["origin": ""], false),
            (["origin": "http://127.0.0.1:9090"], false), (["sec-fetch-site": "cross-site"], false),
            (["sec-fetch-site": "same-site"], false),
            (["origin": "http://127.0.0.1:8080", "sec-fetch-site": "cross-site"], false),
            // A name that was made to lead here.
            (["origin": "http://evil.example:8080", "host": "evil.example:8080"], false),
        ] as [([String: String], Bool)]
    )
    func aPageOfAnotherSiteCanSwitchNothing(headers: [String: String], isAllowed: Bool) {
        var client = Harness()
        let body = #"{"kind": "hang", "times": 0}"#
        client.send(Self.request("POST", "/_sandbox/faults", headers, body: body))
        #expect(client.status == (isAllowed ? 200 : 403))
        #expect(client.world.faults.entries.count == (isAllowed ? 1 : 0))
        client.world.faults.add(SandboxFault(.hang))
        let before = client.world.faults.entries.count
        client.send(Self.request("DELETE", "/_sandbox/faults", headers))
        #expect(client.world.faults.entries.count == (isAllowed ? 0 : before))
    }

    /// A page whose name leads here now asks for what is its own, and says no origin.
    @Test(arguments: [
        ("127.0.0.1", "evil.example:8080", false), ("::1", "evil.example", false),
        ("127.0.0.1", "127.0.0.1:8080", true),
        ("127.0.0.1", "localhost", true), ("127.0.0.1", "sandbox", true), ("192.168.1.7", "sandbox:8080", true),
        ("192.168.1.7", "sandbox.test", true),
    ])
    func aNameThatLeadsHereIsToldNothing(peer: String, host: String, isAllowed: Bool) {
        var client = Harness()
        for path in ["state", "outbox", "accounts"] {
            client.send(Self.request("GET", "/_sandbox/\(path)", ["host": host], peer: peer))
            #expect((client.status == 403) != isAllowed)
        }
    }

    /// A link on another site may lead to the page, and may not read what is behind it.
    @Test func anotherSiteMayLeadToThePage() {
        var client = Harness()
        client.send(Self.request("GET", "/_sandbox/", ["sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"]))
        #expect(client.status == 200)
        client.send(Self.request("GET", "/_sandbox/state", ["origin": "http://evil.example"]))
        #expect(client.status == 403 && client.answer.jsonBody?["accounts"] == nil)
    }
}
