import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Facebook: Instagram, WhatsApp, permissions")
struct FacebookProductTests {
    private static func client(_ permissions: String..., settings: (inout SandboxFacebookSettings) -> Void = { _ in })
        -> FacebookHarness
    {
        var user = SandboxUser(email: FacebookHarness.ada, password: "right")
        user.facebook.permissions = permissions
        user.facebook.pages = ["500"]
        user.facebook.instagram = ["17841"]
        user.facebook.whatsApp = ["1055"]
        var client = FacebookHarness(user: user)
        settings(&client.base.world.settings.facebook)
        client.hold()
        return client
    }

    @Test func mediaArePreparedAndPublishedOnce() {
        var client = Self.client("instagram_content_publish") { $0.mediaPerDay = 1 }
        func make() -> String {
            client.call("POST", "/v25.0/17841/media", ["image_url": "https://example.com/i.png"])
            return client.body["id"]?.string ?? ""
        }
        func state(_ id: String) -> String? {
            client.call("GET", "/v25.0/\(id)?fields=status_code")
            return client.body["status_code"]?.string
        }
        func publish(_ id: String) -> (Int64?, Int64?) {
            client.call("POST", "/v25.0/17841/media_publish", ["creation_id": id])
            return (client.code, client.subcode)
        }
        client.call("POST", "/v25.0/17841/media", ["caption": "x"])
        #expect(client.code == 100)
        let (first, second, third) = (make(), make(), make())
        #expect(state(first) == "IN_PROGRESS" && publish(first) == (9007, 2_207_027))
        client.advance(seconds: 5)
        #expect(state(first) == "FINISHED" && publish(first) == (nil, nil) && client.counters.media == 1)
        #expect(state(first) == "PUBLISHED" && publish(first) == (24, 2_207_008))
        // One a day.
        #expect(publish(second) == (9, 2_207_042))
        client.advance(seconds: 86_400)
        client.hold()
        #expect(state(third) == "EXPIRED" && publish(third) == (24, 2_207_008))
        #expect(publish("1") == (24, 2_207_006))
    }

    @Test func mediaThatAreBrokenAreNotPublished() {
        var client = Self.client("instagram_content_publish") { $0.mediaPerDay = 1 }
        client.call("POST", "/v25.0/17841/media", ["image_url": "https://example.com/broken"])
        let id = client.body["id"]?.string ?? ""
        client.advance(seconds: 5)
        client.call("GET", "/v25.0/\(id)?fields=status_code")
        #expect(client.body["status_code"]?.string == "ERROR")
        client.call("POST", "/v25.0/17841/media_publish", ["creation_id": id])
        #expect(client.subcode == 2_207_008 && client.counters.media == 0)
    }

    /// Sends a message as JSON.
    private func write(_ client: inout FacebookHarness, _ message: JSONValue) {
        let headers = [
            SandboxRequest.Header(name: "host", value: "127.0.0.1"),
            .init(name: "authorization", value: "Bearer \(client.token ?? "")"),
            .init(name: "content-type", value: "application/json"),
        ]
        let body = Array(message.text.utf8)
        client.base.send(SandboxRequest(method: "POST", target: "/v25.0/1055/messages", headers: headers, body: body))
        client.body = client.base.answer.jsonBody ?? .null
    }

    private func text(_ to: String, _ body: JSONValue = ["body": "hello"]) -> JSONValue {
        ["messaging_product": "whatsapp", "to": .string(to), "type": "text", "text": body]
    }

    @Test func whoHasWrittenIsAnsweredForADay() {
        var client = Self.client("whatsapp_business_messaging") { $0.pairLimit = .init(count: 2, per: 6000) }
        write(&client, text("1"))
        #expect(client.code == 131_047 && client.body["error"]?["error_data"]?["messaging_product"] == "whatsapp")
        client.control("received", #"{"from": "1", "to": "1055"}"#)
        write(&client, text("1"))
        #expect(client.body["messages"]?[0]?["id"]?.string?.hasPrefix("wamid.") == true)
        write(&client, text("1"))
        write(&client, text("1"))
        #expect(client.code == 131_056 && client.counters.messages == 2)
        client.advance(seconds: 6)
        write(&client, text("1"))
        #expect(client.status == 200)
        client.advance(seconds: 86_400)
        client.hold()
        write(&client, text("1"))
        #expect(client.code == 131_047)
        let template: JSONValue = [
            "messaging_product": "whatsapp", "to": "2", "type": "template", "template": ["name": "hello_world"],
        ]
        write(&client, template)
        #expect(client.status == 200)
    }

    @Test func whatIsNoMessage() {
        var client = Self.client("whatsapp_business_messaging")
        write(&client, ["to": "1"])
        #expect(client.code == 100)
        write(&client, ["messaging_product": "whatsapp"])
        #expect(client.code == 131_008)
        write(&client, text("1", ["x": 1]))
        #expect(client.code == 131_009)
        write(&client, ["messaging_product": "whatsapp", "to": "1", "type": "template", "template": ["name": "x"]])
        #expect(client.code == 132_001 && client.status == 404)
    }

    @Test(
        arguments: [
            ("GET", "500/feed", 10), ("POST", "500/photos", 200), ("POST", "500/video_reels", 200),
            ("GET", "act_1/insights", 200), ("POST", "17841/media", 10), ("POST", "1055/messages", 10),
        ] as [(String, String, Int64)]
    )
    func whatIsNotGrantedIsRefused(method: String, path: String, code: Int64) {
        var client = Self.client("public_profile")
        client.call(method, "/v25.0/" + path, method == "POST" ? ["x": "1"] : [:])
        #expect(client.code == code && client.status == 403)
    }
}
