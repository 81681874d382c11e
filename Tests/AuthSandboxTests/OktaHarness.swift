import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A client of Okta without a socket, with its own time; it keeps the state token and the session as an app would.
struct OktaHarness {
    var base: Harness
    /// The answer as JSON.
    var body = JSONValue.null
    var session: String?

    init(_ settings: (inout SandboxOktaSettings) -> Void = { _ in }) {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings.okta)
        base = Harness(scenario)
    }

    init(user: SandboxUser, settings: (inout SandboxSettings) -> Void = { _ in }) {
        var scenario = SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings)
        settings(&scenario.settings)
        base = Harness(scenario)
    }

    /// Somebody with these factors.
    init(_ factors: SandboxOktaUser.Factor..., settings: (inout SandboxSettings) -> Void = { _ in }) {
        self.init(user: Self.person { $0.okta.factors = factors }, settings: settings)
    }

    static let password = SandboxScenario.defaultPassword

    static func person(_ change: (inout SandboxUser) -> Void = { _ in }) -> SandboxUser {
        var user = SandboxUser(email: "eva@example.com", password: password)
        user.phones = ["+4930123456"]
        change(&user)
        return user
    }

    var status: Int { base.answer.status }
    var state: String? { body["status"]?.string }
    var code: String? { body["errorCode"]?.string }
    var result: String? { body["factorResult"]?.string }
    var token: String?
    var next: String? { body["_links"]?["next"]?["name"]?.string }
    var lastCode: String { base.lastCode }
    var world: OktaWorld { base.world.okta }

    /// Sends a step below `/api/v1/authn` with the state token.
    @discardableResult
    mutating func step(_ path: String, _ fields: KeyValuePairs<String, JSONValue> = [:]) -> JSONValue {
        var members: [JSONValue.Member] = token.map { [.init("stateToken", .string($0))] } ?? []
        members += fields.map { .init($0.key, $0.value) }
        call("POST", "/api/v1/authn" + (path.isEmpty ? "" : "/" + path), .object(members))
        if let fresh = body["stateToken"]?.string { token = fresh }
        return body
    }

    @discardableResult
    mutating func call(
        _ method: String,
        _ path: String,
        _ json: JSONValue? = nil,
        headers: [(String, String)] = []
    ) -> JSONValue {
        var all = headers.map { SandboxRequest.Header(name: $0.0, value: $0.1) }
        all.append(.init(name: "host", value: "127.0.0.1:9999"))
        if let session { all.append(.init(name: "cookie", value: "sid=\(session)")) }
        if json != nil { all.append(.init(name: "content-type", value: "application/json")) }
        base.send(SandboxRequest(method: method, target: path, headers: all, body: Array((json?.text ?? "").utf8)))
        body = base.answer.jsonBody ?? .null
        return body
    }

    /// Name and password.
    @discardableResult
    mutating func begin(
        _ name: String = "eva@example.com",
        _ password: String = OktaHarness.password,
        options: JSONValue = [:]
    ) -> String? {
        token = nil
        step("", ["username": .string(name), "password": .string(password), "options": options])
        return state
    }

    /// The path of a factor's verification.
    func factor(_ type: String) -> String {
        let factors = body["_embedded"]?["factors"]?.array ?? []
        let id = factors.first { $0["factorType"]?.string == type }?["id"]?.string ?? "?"
        return "factors/\(id)"
    }

    /// All values of a header.
    func lines(_ name: String) -> [String] {
        base.answer.headers.filter { $0.name == name }.map(\.value)
    }

    mutating func advance(seconds: Double) {
        base.now += Int64(seconds * 1000)
    }
}
