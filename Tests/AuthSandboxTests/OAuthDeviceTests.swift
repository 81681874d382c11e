import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("OAuth: devices")
struct OAuthDeviceTests {
    private func begun(
        _ settings: (inout SandboxOAuthSettings) -> Void = { _ in }
    ) -> (OAuthHarness, device: String, user: String) {
        var client = OAuthHarness(settings)
        let body = client.post("/oauth/device", ["client_id": "cli", "scope": "openid"])
        return (client, body["device_code"]?.string ?? "", body["user_code"]?.string ?? "")
    }

    private func poll(_ client: inout OAuthHarness, _ device: String) -> String? {
        client.post(
            "/oauth/token",
            ["grant_type": OAuthGrantType.deviceCode.wireName, "client_id": "cli", "device_code": device]
        )
        return client.error
    }

    @Test func theBeginning() {
        let (client, device, user) = begun()
        let body = client.base.answer.jsonBody
        #expect(device.hasPrefix("dc_") && user.count == 9)
        #expect(body?["verification_uri"] == "http://127.0.0.1:9999/activate")
        #expect(
            body?["verification_uri_complete"]?.string == "http://127.0.0.1:9999/activate?user_code=\(user)"
        )
        #expect(body?["interval"] == 5 && body?["expires_in"] == 600)
    }

    @Test func pollingTooFastSlowsDownForGood() {
        var (client, device, _) = begun()
        #expect(poll(&client, device) == "authorization_pending" && client.status == 400)
        client.advance(seconds: 4.9)
        #expect(poll(&client, device) == "slow_down")
        // Ten seconds from now on.
        client.advance(seconds: 5)
        #expect(poll(&client, device) == "slow_down")
        client.advance(seconds: 15)
        #expect(poll(&client, device) == "authorization_pending")
        client.advance(seconds: 10)
        #expect(poll(&client, device) == "slow_down")
        client.advance(seconds: 20)
        #expect(poll(&client, device) == "authorization_pending")
        let view = client.control("GET", "oauth")["devices"]?[0]
        #expect(view?["polls"] == 6 && view?["slow_downs"] == 3 && view?["interval_s"] == 20)
    }

    @Test func approvedOnce() {
        var (client, device, user) = begun()
        #expect(poll(&client, device) == "authorization_pending")
        let plain = user.lowercased().filter { $0 != "-" }
        client.control("POST", "oauth/device", #"{"user_code": "\#(plain)", "user": "ada@example.com"}"#)
        #expect(client.status == 200)
        #expect(poll(&client, device) == nil)
        let body = client.base.answer.jsonBody
        #expect(body?["refresh_token"] != nil && body?["scope"] == "openid")
        #expect(client.get(token: body?["access_token"]?.string)["username"] == "ada@example.com")
        #expect(poll(&client, device) == "invalid_grant")
        client.control("POST", "oauth/device", #"{"user_code": "\#(user)", "decision": "deny"}"#)
        #expect(client.status == 404)
    }

    @Test func denied() {
        var (client, device, _) = begun()
        client.control("POST", "oauth/device", #"{"decision": "deny"}"#)
        #expect(poll(&client, device) == "access_denied" && client.status == 400)
        #expect(poll(&client, device) == "access_denied")
    }

    @Test func expired() {
        var (client, device, _) = begun { $0.deviceLifetime = 60_000 }
        client.advance(seconds: 59.9)
        #expect(poll(&client, device) == "authorization_pending")
        client.advance(seconds: 0.1)
        #expect(poll(&client, device) == "expired_token" && client.status == 400)
        client.control("POST", "oauth/device", #"{"user": "ada@example.com"}"#)
        #expect(client.status == 404)
    }

    @Test func aCodeOfAnotherClientOrOfNobody() {
        var (client, device, _) = begun()
        client.post(
            "/oauth/token",
            [
                "grant_type": OAuthGrantType.deviceCode.wireName, "client_id": "service",
                "client_secret": "service-secret", "device_code": device,
            ]
        )
        #expect(client.error == "invalid_grant")
        #expect(poll(&client, "dc_nothing") == "invalid_grant")
        client.post("/oauth/device", ["client_id": "nobody"])
        #expect(client.status == 401 && client.error == "invalid_client")
    }

    @Test(arguments: [
        (#"{}"#, 400), (#"{"user": "nobody"}"#, 404), (#"{"user": "radia@example.com"}"#, 400),
        (#"{"user": "ada@example.com", "decision": "maybe"}"#, 400),
        (#"{"user_code": "XXXX", "decision": "deny"}"#, 404),
    ])
    func decisionsThatAreNone(body: String, status: Int) {
        var (client, _, _) = begun()
        client.control("POST", "oauth/device", body)
        #expect(client.status == status)
    }

    @Test func thePageForThePerson() {
        var (client, device, user) = begun()
        client.send("GET", "/activate?user_code=\(user)%22%3E%3Cscript%3E")
        let page = String(decoding: client.answer.body, as: UTF8.self)
        #expect(page.contains(#"value="\#(user)script""#) && !page.contains("<script"))
        let form: KeyValuePairs = ["user_code": user, "user": "ada@example.com", "decision": "approve"]
        client.post("/activate", form)
        #expect(client.status == 400)
        client.send("POST", "/activate", body: Harness.encode(form) + "&password=" + Harness.password)
        #expect(client.status == 200)
        #expect(poll(&client, device) == nil)
        // The password does not stand in the log.
        #expect(!client.control("GET", "requests").text.contains(Harness.password))
        let (other, second, code) = begun()
        client = other
        client.post("/activate", ["user_code": code, "decision": "deny"])
        #expect(poll(&client, second) == "access_denied")
    }
}
