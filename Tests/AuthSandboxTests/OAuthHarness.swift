import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A client of the OAuth provider without a socket, with its own time.
struct OAuthHarness {
    var base = Harness()

    static let cli: KeyValuePairs<String, String> = ["client_id": "cli"]

    init(_ settings: (inout SandboxOAuthSettings) -> Void = { _ in }) {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings.oauth)
        base = Harness(scenario)
    }

    var answer: SandboxResponse { base.answer }
    var status: Int { base.answer.status }
    /// The error word of the last answer's body.
    var error: String? { base.answer.jsonBody?["error"]?.string }
    var challenge: String? { base.answer.header("WWW-Authenticate") }
    var counters: SandboxOAuthCounters { base.world.oauth.counters }

    mutating func advance(seconds: Double) {
        base.now += Int64(seconds * 1000)
    }

    @discardableResult
    mutating func send(
        _ method: String,
        _ path: String,
        body: String = "",
        type: String? = "application/x-www-form-urlencoded",
        headers: [(String, String)] = []
    ) -> JSONValue {
        var all = headers.map { SandboxRequest.Header(name: $0.0, value: $0.1) }
        all.append(.init(name: "host", value: "127.0.0.1:9999"))
        if let type, !body.isEmpty { all.append(.init(name: "content-type", value: type)) }
        base.send(SandboxRequest(method: method, target: path, headers: all, body: Array(body.utf8)))
        return base.answer.jsonBody ?? .null
    }

    @discardableResult
    mutating func post(
        _ path: String,
        _ form: KeyValuePairs<String, String>,
        headers: [(String, String)] = []
    ) -> JSONValue {
        send("POST", path, body: Harness.encode(form), headers: headers)
    }

    @discardableResult
    mutating func refresh(_ token: String, client: String = "cli", headers: [(String, String)] = []) -> JSONValue {
        post(
            "/oauth/token",
            ["grant_type": "refresh_token", "client_id": client, "refresh_token": token],
            headers: headers
        )
    }

    @discardableResult
    mutating func get(_ path: String = "/api/things", token: String?) -> JSONValue {
        send("GET", path, headers: token.map { [("authorization", "Bearer \($0)")] } ?? [])
    }

    @discardableResult
    mutating func control(_ method: String, _ path: String, _ body: String = "") -> JSONValue {
        base.control(method, path, body)
    }

    /// Signs somebody in behind the scenes.
    mutating func issue(_ more: String = "") -> (access: String, refresh: String, family: String) {
        let body = control("POST", "oauth/issue", #"{"user": "ada@example.com"\#(more)}"#)
        return (
            body["access_token"]?.string ?? "", body["refresh_token"]?.string ?? "", body["family"]?.string ?? ""
        )
    }

    /// Asks for a code and tells what came back in the redirection.
    mutating func authorize(_ parameters: KeyValuePairs<String, String>) -> [String: String] {
        send("GET", "/authorize?" + Harness.encode(parameters))
        let location = answer.header("Location") ?? ""
        let query = location.split(separator: "?", maxSplits: 1).last ?? ""
        return Dictionary(FormEncoding.fields(Array(query.utf8)).map { ($0.name, $0.value) }) { $1 }
    }

    /// A proof of possession with a signature that nobody checks.
    static func proof(
        _ method: String,
        _ path: String,
        at now: Int64,
        id: String,
        nonce: String? = nil,
        token: String? = nil,
        key: String = "x1",
        change: (inout JSONValue) -> Void = { _ in }
    ) -> (String, String) {
        let header: JSONValue = [
            "typ": "dpop+jwt", "alg": "ES256",
            "jwk": ["kty": "EC", "crv": "P-256", "x": .string(key), "y": "y1"],
        ]
        var claims: JSONValue = [
            "jti": .string(id), "htm": .string(method), "htu": .string("http://127.0.0.1:9999\(path)"),
            "iat": .int(now / 1000),
        ]
        if let nonce { claims = claims.adding("nonce", .string(nonce)) }
        if let token { claims = claims.adding("ath", .string(Base64.encodeForURL(SHA256.hash(Array(token.utf8))))) }
        change(&claims)
        return ("dpop", jwt(header, claims))
    }

    static func jwt(_ header: JSONValue, _ claims: JSONValue, key: String? = nil) -> String {
        let content = Base64.encodeForURL(Array(header.text.utf8)) + "." + Base64.encodeForURL(Array(claims.text.utf8))
        let signature = key.map { HMAC.sha256(Array(content.utf8), key: Array($0.utf8)) } ?? [1, 2, 3]
        return content + "." + Base64.encodeForURL(signature)
    }
}

extension JSONValue {
    /// The same object with another value for a key.
    func replacing(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.map { $0.key == key ? Member(key, value) : $0 })
    }
}
