import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// A client of the world without a socket: it keeps the client token as an app would, and its own time.
struct Harness {
    var world: SandboxWorld
    var now: Int64
    /// The client token that is held.
    var token: String?
    /// The answer to the last call.
    var answer = SandboxResponse(status: 0)
    var reply = SandboxReply(response: SandboxResponse(status: 0), now: 0)

    static let password = SandboxScenario.defaultPassword

    init(_ scenario: SandboxScenario = .unlimited, seed: UInt64 = 7, now: Int64 = 1_800_000_000_000) {
        world = SandboxWorld(scenario: scenario, seed: seed, wallNow: now)
        self.now = now
    }

    init(settings: (inout SandboxSettings) -> Void) {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings)
        self.init(scenario)
    }

    init(user: SandboxUser) {
        self.init(SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings))
    }

    /// Sends a request to `/v1/…` and takes over the client token of the answer.
    @discardableResult
    mutating func call(
        _ method: String,
        _ path: String,
        _ form: KeyValuePairs<String, String> = [:],
        headers: [SandboxRequest.Header] = []
    ) -> JSONValue {
        var headers = headers
        if !headers.contains(where: { $0.name == "authorization" }) {
            headers.append(.init(name: "authorization", value: token ?? ""))
        }
        if !form.isEmpty { headers.append(.init(name: "content-type", value: "application/x-www-form-urlencoded")) }
        let mark = path.contains("?") ? "&" : "?"
        send(
            SandboxRequest(
                method: method,
                target: "/v1/\(path)\(mark)_is_native=true",
                headers: headers,
                body: Array(Self.encode(form).utf8)
            )
        )
        if let fresh = answer.header("Authorization") { token = fresh.isEmpty ? nil : fresh }
        return answer.jsonBody ?? .null
    }

    /// Sends a request as it stands.
    mutating func send(_ request: SandboxRequest) {
        reply = world.handle(request, wallNow: now).reply
        answer = reply.response
    }

    /// Sends a request to `/_sandbox/…`.
    @discardableResult
    mutating func control(_ method: String, _ path: String, _ body: String = "") -> JSONValue {
        send(SandboxRequest(method: method, target: "/_sandbox/\(path)", body: Array(body.utf8)))
        return answer.jsonBody ?? .null
    }

    @discardableResult
    mutating func signIn(_ identifier: String, _ password: String = Harness.password) -> JSONValue {
        call("POST", "client/sign_ins", ["identifier": identifier, "password": password])["response"] ?? .null
    }

    /// Starts a sign-in with the identifier alone and tells its id.
    mutating func begin(_ identifier: String) -> String {
        call("POST", "client/sign_ins", ["identifier": identifier])["response"]?["id"]?.string ?? ""
    }

    mutating func advance(seconds: Int64) {
        now += seconds * 1000
    }

    var status: Int { answer.status }
    var errors: [JSONValue] { answer.jsonBody?["errors"]?.array ?? [] }
    var code: String? { errors.first?["code"]?.string }
    var parameter: String? { errors.first?["meta"]?["param_name"]?.string }
    var lastCode: String { world.outbox.messages.last?.code ?? "" }

    static func encode(_ form: KeyValuePairs<String, String>) -> String {
        form.map { "\(escape($0.key))=\(escape($0.value))" }.joined(separator: "&")
    }

    private static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            let character = Character(Unicode.Scalar(byte))
            if character.isASCII, character.isLetter || character.isNumber { return String(character) }
            let hex = String(byte, radix: 16)
            return "%" + (hex.count == 1 ? "0" : "") + hex
        }.joined()
    }
}
