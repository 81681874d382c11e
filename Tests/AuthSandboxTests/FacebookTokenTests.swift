import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Facebook: tokens and devices")
struct FacebookTokenTests {
    private static let back = "https://app.example.com/back"

    // MARK: The token endpoint

    @Test func aCodeIsExchangedOnce() {
        var client = FacebookHarness()
        let code = client.control("code", #"{"user": "ada@example.com", "redirect_uri": "\#(Self.back)"}"#)["code"]
        let text = code?.string ?? ""
        client.grant(["code": text, "redirect_uri": "https://app.example.com/else"])
        #expect(client.status == 400 && client.code == 100)
        client.grant(["code": text, "redirect_uri": Self.back])
        #expect(client.code == 100)
        let second = client.control("code", #"{"user": "ada@example.com", "redirect_uri": "\#(Self.back)"}"#)["code"]
        client.grant(["code": second?.string ?? "", "redirect_uri": Self.back])
        #expect(client.body["token_type"] == "bearer" && client.body["expires_in"] == 7200)
        client.token = client.body["access_token"]?.string
        #expect(client.call("GET", "/v25.0/me")["name"] == "Ada Example")
        #expect(client.counters.codes == 1)
        let late = client.control("code", #"{"user": "ada@example.com", "redirect_uri": "\#(Self.back)"}"#)["code"]
        client.advance(seconds: 600)
        client.grant(["code": late?.string ?? "", "redirect_uri": Self.back])
        #expect(client.code == 100)
    }

    @Test func theDialogAnswersByRedirect() {
        var client = FacebookHarness()
        let query: KeyValuePairs = ["client_id": client.settings.appID, "redirect_uri": Self.back, "state": "s 1"]
        client.call("GET", "/v25.0/dialog/oauth?user=ada%40example.com", query)
        let location = client.base.answer.header("Location") ?? ""
        #expect(
            client.status == 302 && location.hasPrefix(Self.back + "?code=AQ") && location.hasSuffix("&state=s%201#_=_")
        )
        client.call("GET", "/v25.0/dialog/oauth?decision=deny", query)
        #expect(client.base.answer.header("Location")?.contains("error=access_denied&error_code=200&") == true)
    }

    @Test func aTokenIsExchangedWhileItWorks() {
        var client = FacebookHarness()
        client.hold()
        let old = client.token ?? ""
        client.grant(["grant_type": "fb_exchange_token", "fb_exchange_token": old])
        #expect(client.status == 200 && client.body["expires_in"] == 5_184_000)
        let long = client.body["access_token"]?.string ?? ""
        #expect(long != old && client.counters.exchanges == 1)
        client.call(
            "GET",
            "/v25.0/oauth/access_token?grant_type=fb_extend_sso_token&client_id=\(client.settings.appID)"
        )
        #expect(client.body["expires_at"]?.int == (client.base.now + 5_184_000_000) / 1000)
        client.advance(seconds: 7200)
        client.grant(["grant_type": "fb_exchange_token", "fb_exchange_token": old])
        #expect(client.status == 400 && client.code == 190 && client.subcode == 463)
        client.token = long
        client.call("GET", "/v25.0/me")
        #expect(client.status == 200)
    }

    @Test func theAppIsKnownByItsSecret() {
        var client = FacebookHarness()
        #expect(client.grant(["grant_type": "client_credentials"])["access_token"]?.string == client.appToken)
        let path = "/v25.0/oauth/access_token?grant_type=client_credentials&client_id="
        client.call("GET", path + client.settings.appID + "&client_secret=wrong")
        #expect(client.status == 400 && client.code == 1)
        client.call("GET", path + "99&client_secret=wrong")
        #expect(client.code == 101)
        client.grant(["grant_type": "password"])
        #expect(client.code == 100)
        client.token = client.appToken
        #expect(client.call("GET", "/v25.0/\(client.settings.appID)")["ios_sdk_error_categories"]?.array?.count == 2)
        client.call("GET", "/v25.0/me")
        #expect(client.code == 2500)
    }

    @Test func theDebuggerTellsWhatATokenIs() {
        var client = FacebookHarness()
        client.hold()
        let good = client.token ?? ""
        client.hold("checkpoint")
        let held = client.token ?? ""
        client.token = client.appToken
        let data = client.call("GET", "/v25.0/debug_token", ["input_token": good])["data"]
        #expect(data?["is_valid"] == true && data?["type"] == "USER" && data?["scopes"]?.array == ["public_profile"])
        let other = client.call("GET", "/v25.0/debug_token", ["input_token": held])["data"]
        #expect(client.status == 200 && other?["is_valid"] == false && other?["error"]?["subcode"] == 459)
        let none = client.call("GET", "/v25.0/debug_token", ["input_token": "nonsense"])["data"]
        #expect(none?["is_valid"] == false && none?["error"]?["code"] == 190)
        #expect(client.counters.inspections == 3)
        client.token = nil
        client.call("GET", "/v25.0/debug_token", ["input_token": good])
        #expect(client.status == 400 && client.code == 100)
        client.token = "\(client.settings.appID)|wrong"
        client.call("GET", "/v25.0/debug_token", ["input_token": good])
        #expect(client.status == 400 && client.code == 190)
    }

    // MARK: Devices

    private func begun(_ settings: (inout SandboxFacebookSettings) -> Void = { _ in }) -> (FacebookHarness, String) {
        var client = FacebookHarness(settings)
        client.token = client.clientToken
        client.call("POST", "/v25.0/device/login", ["scope": "public_profile,email"])
        return (client, client.body["code"]?.string ?? "")
    }

    @Test func aDeviceWaitsAndIsApproved() {
        var (client, code) = begun()
        #expect(client.body["verification_uri"] == "http://127.0.0.1:9999/device")
        #expect(client.body["expires_in"] == 420 && client.body["interval"] == 5)
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.status == 400 && client.code == 31 && client.subcode == 1_349_174)
        client.advance(seconds: 1)
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.code == 17 && client.subcode == 1_349_172 && client.counters.earlyPolls == 1)
        client.advance(seconds: 10)
        let userCode = client.base.world.facebook.devices[code]?.userCode ?? ""
        let fields: KeyValuePairs = ["user_code": userCode, "user": "ada@example.com", "password": Harness.password]
        client.call("POST", "/device", fields)
        #expect(client.status == 200)
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.status == 200 && client.body["expires_in"] == 7200)
        let token = client.body["access_token"]?.string
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.code == 100)
        client.token = token
        #expect(client.call("GET", "/v25.0/me?fields=email")["email"] == "ada@example.com")
    }

    @Test func aDeviceIsDeclinedOrExpires() {
        var (client, code) = begun()
        #expect(client.control("device", #"{"decision": "deny"}"#)["decision"] == "deny")
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.subcode == 1_349_173)
        (client, code) = begun()
        client.advance(seconds: 420)
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.code == 463 && client.subcode == 1_349_152)
        client.control("device", #"{"user": "ada@example.com"}"#)
        #expect(client.base.status == 404)
        (client, code) = begun()
        client.call("POST", "/device", ["user_code": "nonsense", "decision": "deny"])
        #expect(client.status == 400)
        let userCode = client.base.world.facebook.devices[code]?.userCode ?? ""
        client.call("POST", "/device", ["user_code": userCode, "user": "ada@example.com", "password": "no"])
        #expect(client.status == 400)
        client.call("POST", "/device", ["user_code": userCode, "decision": "deny"])
        client.call("POST", "/v25.0/device/login_status", ["code": code])
        #expect(client.subcode == 1_349_173)
    }

    @Test func aDeviceCanDecideByItself() {
        for (decision, subcode) in [("approve", nil), ("deny", 1_349_173)] as [(String, Int64?)] {
            var (client, code) = begun { $0.device = .init(polls: 2, decision: decision) }
            for _ in 0..<2 {
                client.advance(seconds: 5)
                client.call("POST", "/v25.0/device/login_status", ["code": code])
                #expect(client.subcode == 1_349_174)
            }
            client.advance(seconds: 5)
            client.call("POST", "/v25.0/device/login_status", ["code": code])
            #expect(client.subcode == subcode && (client.status == 200) == (subcode == nil))
        }
    }

    @Test func aDeviceNeedsTheAppsToken() {
        var client = FacebookHarness()
        client.call("POST", "/v25.0/device/login")
        #expect(client.code == 190)
        client.token = "\(client.settings.appID)|wrong"
        client.call("POST", "/v25.0/device/login")
        #expect(client.code == 190)
    }

    /// Whatever opens something stands in no line of the log and in no list of requests.
    @Test func noSecretIsShown() {
        var (client, code) = begun()
        client.hold()
        client.call("GET", "/v25.0/me?access_token=\(client.token ?? "")")
        client.grant(["grant_type": "fb_exchange_token", "fb_exchange_token": client.token ?? ""])
        _ = client.batch(#"[{"relative_url": "me?access_token=\#(client.token ?? "")"}]"#)
        let secrets = Array(client.base.world.facebook.tokens.keys) + [code, client.settings.appSecret]
        let shown = client.base.control("GET", "requests").text + client.base.control("GET", "facebook").text
        for secret in secrets { #expect(!secret.isEmpty && !shown.contains(secret)) }
    }
}
