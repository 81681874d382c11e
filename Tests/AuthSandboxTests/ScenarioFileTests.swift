import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// A file of the package.
func packageFile(_ path: String, from source: String = #filePath) throws -> String {
    let root = source.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    let file = unsafe open("\(root)/\(path)", O_RDONLY)
    try #require(file >= 0, "\(root)/\(path) cannot be read")
    defer { _ = close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress, $0.count) }
        guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
        bytes += buffer[..<count]
    }
}

@Suite("The scenario files that come with it")
struct ScenarioFileTests {
    /// What comes back: a status, or how no answer comes.
    private static func kind(_ reply: SandboxReply) -> String {
        switch reply.delivery {
        case .whole: String(reply.response.status)
        case .reset: "reset"
        case .close: "close"
        case .truncated: "truncated"
        case .raw: "garbage"
        default: "other"
        }
    }

    private func client(_ name: String) throws -> Harness {
        Harness(try SandboxScenario(json: packageFile("Examples/Scenarios/\(name).json")))
    }

    struct Call: Sendable, CustomTestStringConvertible {
        var method: String
        var path: String
        var form = ""
        var json = ""
        /// What comes back, request by request.
        var replies: [String]
        /// Whether the first one has its effect.
        var firstCounts = false

        var testDescription: String { "\(method) \(path) \(form)" }
    }

    @Test(arguments: [
        Call(method: "GET", path: "/v1/environment", replies: ["reset", "200"]),
        Call(
            method: "POST",
            path: "/v1/client/sign_ins?_is_native=1",
            form: "identifier=ada%40example.com&password=open-sesame-42",
            replies: ["429", "200"]
        ),
        Call(method: "POST", path: "/v1/client/sessions/x/tokens?_is_native=1", replies: ["503", "401"]),
        Call(method: "GET", path: "/v1/me?_is_native=1", replies: ["truncated", "401"], firstCounts: true),
        Call(method: "GET", path: "/api/items", replies: ["503", "503", "401"]),
        Call(method: "POST", path: "/api/items", replies: ["reset", "401"], firstCounts: true),
        Call(
            method: "POST",
            path: "/oauth/token",
            form: "grant_type=refresh_token&client_id=cli&refresh_token=x",
            replies: ["close", "400"],
            firstCounts: true
        ),
        Call(
            method: "POST",
            path: "/oauth/token",
            form: "grant_type=client_credentials&client_id=service&client_secret=service-secret",
            replies: ["500", "200"]
        ),
        Call(
            method: "POST",
            path: "/oauth/token",
            form: "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&client_id=cli&device_code=x",
            replies: ["400", "400"]
        ),
        Call(
            method: "POST",
            path: "/api/v1/authn",
            json: #"{"username": "ada@example.com", "password": "open-sesame-42"}"#,
            replies: ["503", "200", "200", "200", "200", "200", "429"]
        ),
        Call(method: "GET", path: "/api/v1/sessions/me", replies: ["close", "404"]),
        Call(method: "GET", path: "/api/v1/users/me", replies: ["502", "403"]),
        Call(method: "POST", path: "/json/realms/root/realms/alpha/authenticate", json: "{}", replies: ["429", "200"]),
        Call(
            method: "POST",
            path: "/json/realms/root/realms/alpha/sessions?_action=validate",
            json: #"{"tokenId": "x"}"#,
            replies: ["503", "200"]
        ),
        Call(method: "GET", path: "/ig/app", replies: ["reset", "307"]),
        Call(method: "GET", path: "/v25.0/me", replies: ["500", "400", "400", "400", "400", "400", "403"]),
        Call(method: "POST", path: "/v25.0/me/feed", replies: ["reset", "400"], firstCounts: true),
        Call(method: "GET", path: "/v25.0/me/permissions", replies: ["garbage", "500"]),
    ])
    func aBadDay(_ call: Call) throws {
        var client = try client("bad-day")
        var headers: [SandboxRequest.Header] = [
            .init(name: "host", value: "127.0.0.1"),
            .init(name: "accept-api-version", value: "resource=2.1, protocol=1.0"),
        ]
        let type = call.form.isEmpty ? "application/json" : "application/x-www-form-urlencoded"
        if call.method == "POST" { headers.append(.init(name: "content-type", value: type)) }
        if call.path.contains("_is_native") { headers.append(.init(name: "authorization", value: "")) }
        let replies = call.replies.map { _ in
            client.send(
                SandboxRequest(
                    method: call.method,
                    target: call.path,
                    headers: headers,
                    body: Array((call.form + call.json).utf8)
                )
            )
            return Self.kind(client.reply)
        }
        #expect(replies == call.replies)
        let record = try #require(client.world.log.records.first)
        #expect(record.isProcessed == call.firstCounts && record.fault != nil)
    }

    @Test func aBadDayLeavesNoFaultWithoutAnEffect() throws {
        // Each fault is struck by one of the calls above, so none of them is dead text.
        let faults = try SandboxScenario(json: packageFile("Examples/Scenarios/bad-day.json")).faults
        #expect(faults.count == 18)
        #expect(Set(faults.map { "\($0.method ?? "") \($0.path ?? "") \($0.grant ?? "")" }).count == faults.count)
    }

    /// The limits of the day, once the faults are over.
    @Test func theLimitsOfABadDay() throws {
        var client = try client("bad-day")
        client.world.faults = FaultTable(seed: 1)
        let statuses = (0..<4).map { _ -> Int in
            client.begin("ada@example.com").isEmpty ? client.status : 200
        }
        #expect(statuses == [200, 200, 200, 429])
        client.advance(seconds: 3)
        #expect(!client.begin("ada@example.com").isEmpty)
        // At Facebook the sixth call is too many.
        let token = client.control("POST", "facebook/issue", #"{"user": "ada@example.com"}"#)["access_token"]?.string
        let codes = (0..<6).map { _ -> Int64? in
            client.send(SandboxRequest(method: "GET", target: "/v25.0/me?access_token=\(token ?? "")"))
            return client.answer.jsonBody?["error"]?["code"]?.int
        }
        #expect(codes == [nil, nil, nil, nil, nil, 4] && client.answer.header("Retry-After") != nil)
    }

    @Test func lockoutsAtClerk() throws {
        var client = try client("lockouts")
        client.signIn("two-strikes@example.com", "wrong")
        client.signIn("two-strikes@example.com", "wrong")
        client.signIn("two-strikes@example.com")
        #expect(client.code == "user_locked" && client.errors.first?["meta"]?["lockout_expires_in_seconds"] == 3)
        client.advance(seconds: 4)
        #expect(client.signIn("two-strikes@example.com")["status"] == "complete")
        client.call("DELETE", "client")
        // Four seconds have passed, and that lock is over.
        #expect(client.signIn("locked@example.com")["status"] == "complete")
        client.call("DELETE", "client")
        for name in ["locked-for-good", "quiet"] {
            client.advance(seconds: 100_000)
            client.signIn("\(name)@example.com")
            #expect(client.code == "user_locked")
            #expect(client.errors.first?["meta"]?["lockout_expires_in_seconds"] == nil)
        }
        client.signIn("banned@example.com")
        #expect(client.code == "user_banned")
        client.signIn("ada@example.com")
        #expect(client.code == "form_identifier_not_found")
    }

    @Test(
        arguments: [
            ("locked", "LOCKED_OUT", nil), ("locked-for-good", "LOCKED_OUT", nil), ("quiet", nil, "E0000004"),
            ("two-strikes", "SUCCESS", nil),
        ] as [(String, String?, String?)]
    )
    func lockoutsAtOkta(name: String, state: String?, code: String?) throws {
        var client = try client("lockouts")
        client.send(
            SandboxRequest(
                method: "POST",
                target: "/api/v1/authn",
                headers: [.init(name: "content-type", value: "application/json")],
                body: Array(#"{"username": "\#(name)@example.com", "password": "open-sesame-42"}"#.utf8)
            )
        )
        #expect(client.answer.jsonBody?["status"]?.string == state)
        #expect(client.answer.jsonBody?["errorCode"]?.string == code)
    }

    @Test func lockoutsAtPingAM() throws {
        let scenario = try SandboxScenario(json: packageFile("Examples/Scenarios/lockouts.json"))
        var client = ForgeRockHarness()
        client.base = Harness(scenario)
        var answers = (0..<3).map { _ in client.signIn("two-strikes", "wrong") }
        #expect(answers.allSatisfy { $0["tokenId"] == nil })
        #expect(client.signIn("two-strikes")["tokenId"] == nil)
        client.advance(seconds: 5)
        #expect(client.signIn("two-strikes")["tokenId"]?.string != nil)
        answers = [client.signIn("locked-for-good")]
        #expect(answers[0]["tokenId"] == nil)
    }

    @Test func aCheckpointAtFacebook() throws {
        var client = try client("lockouts")
        let json = #"{"user": "locked@example.com"}"#
        let back = "https://127.0.0.1/back"
        let order = #"{"user": "locked@example.com", "redirect_uri": "\#(back)"}"#
        let code = client.control("POST", "facebook/code", order)["code"]?.string ?? ""
        let app = client.world.settings.facebook
        let form: KeyValuePairs = [
            "client_id": app.appID, "client_secret": app.appSecret, "redirect_uri": back, "code": code,
        ]
        client.send(SandboxRequest(method: "GET", target: "/v25.0/oauth/access_token?\(Harness.encode(form))"))
        let token = try #require(client.answer.jsonBody?["access_token"]?.string)
        func subcode() -> Int64? {
            client.send(SandboxRequest(method: "GET", target: "/v25.0/me?access_token=\(token)"))
            return client.answer.jsonBody?["error"]?["error_subcode"]?.int
        }
        #expect(subcode() == 459)
        client.control("POST", "facebook/visit", json)
        #expect(subcode() == nil && client.status == 200)
    }
}
