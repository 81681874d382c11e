import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A client of Graph without a socket, with its own time.
struct FacebookHarness {
    static let ada = "ada@example.com"

    var base: Harness
    /// What is presented.
    var token: String?
    /// The answer as JSON.
    var body = JSONValue.null

    init(_ settings: (inout SandboxFacebookSettings) -> Void = { _ in }) {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings.facebook)
        base = Harness(scenario)
    }

    init(user: SandboxUser) {
        base = Harness(user: user)
    }

    var status: Int { base.answer.status }
    var code: Int64? { body["error"]?["code"]?.int }
    var subcode: Int64? { body["error"]?["error_subcode"]?.int }
    var counters: SandboxFacebookCounters { base.world.facebook.counters }
    var settings: SandboxFacebookSettings { base.world.settings.facebook }
    var appToken: String { "\(settings.appID)|\(settings.appSecret)" }
    var clientToken: String { "\(settings.appID)|\(settings.clientToken)" }

    mutating func advance(seconds: Double) {
        base.now += Int64(seconds * 1000)
    }

    /// Sends a request with the token, and a form unless it is a GET.
    @discardableResult
    mutating func call(
        _ method: String,
        _ path: String,
        _ form: KeyValuePairs<String, String> = [:]
    ) -> JSONValue {
        var headers = [SandboxRequest.Header(name: "host", value: "127.0.0.1:9999")]
        if let token { headers.append(.init(name: "authorization", value: "Bearer \(token)")) }
        var target = path
        if method == "GET" {
            if !form.isEmpty { target += (path.contains("?") ? "&" : "?") + Harness.encode(form) }
        } else if !form.isEmpty {
            headers.append(.init(name: "content-type", value: "application/x-www-form-urlencoded"))
        }
        let bytes = method == "GET" ? [] : Array(Harness.encode(form).utf8)
        base.send(SandboxRequest(method: method, target: target, headers: headers, body: bytes))
        body = base.answer.jsonBody ?? .null
        return body
    }

    /// Holds a token that behaves so.
    mutating func hold(_ behaviour: String = "good", page: String? = nil) {
        let more = page.map { #", "page": "\#($0)""# } ?? ""
        let json = #"{"user": "\#(Self.ada)", "behaviour": "\#(behaviour)"\#(more)}"#
        token = control("issue", json)["access_token"]?.string
    }

    @discardableResult
    mutating func control(_ name: String, _ json: String) -> JSONValue {
        base.control("POST", "facebook/" + name, json)
    }

    /// The request of the token endpoint with the app's secret.
    @discardableResult
    mutating func grant(_ fields: KeyValuePairs<String, String>) -> JSONValue {
        var query = "client_id=\(settings.appID)&client_secret=\(settings.appSecret)"
        for (name, value) in fields { query += "&\(name)=\(FormEncoding.encode(value))" }
        return call("GET", "/v25.0/oauth/access_token?" + query)
    }

    /// Sends a batch; tells its items with their bodies read.
    mutating func batch(_ items: String) -> [JSONValue] {
        call("POST", "/v25.0/", ["batch": items])
        return body.array ?? []
    }

    /// The body of an item of a batch.
    static func read(_ item: JSONValue) -> JSONValue {
        item["body"]?.string.flatMap { try? JSONValue(parsing: $0) } ?? .null
    }
}
