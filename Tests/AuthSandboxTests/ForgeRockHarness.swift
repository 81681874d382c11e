import HTTPRecovery
import HTTPRecoveryTesting

@testable import AuthSandbox

/// A client of PingAM without a socket, with its own time.
struct ForgeRockHarness {
    var base: Harness
    var cookies: [String: String] = [:]
    var version: String? = "resource=2.1, protocol=1.0"
    var realm = "/json/realms/root/realms/alpha"
    /// The last step.
    var step: JSONValue = .null

    init(
        _ users: [SandboxUser] = SandboxScenario.defaultUsers,
        _ settings: (inout SandboxForgeRockSettings) -> Void = { _ in }
    ) {
        var scenario = SandboxScenario.unlimited
        scenario.users = users
        settings(&scenario.settings.forgerock)
        base = Harness(scenario)
    }

    var status: Int { base.answer.status }
    var body: JSONValue { base.answer.jsonBody ?? .null }
    var message: String? { body["message"]?.string }
    var token: String? { body["tokenId"]?.string }
    var counters: SandboxForgeRockCounters { base.world.forgerock.counters }
    var location: String { base.answer.header("Location") ?? "" }

    mutating func advance(seconds: Double) {
        base.now += Int64(seconds * 1000)
    }

    @discardableResult
    mutating func send(
        _ method: String,
        _ path: String,
        _ text: String = "",
        type: String = "application/json",
        headers: [(String, String)] = []
    ) -> JSONValue {
        var all = headers.map { SandboxRequest.Header(name: $0.0, value: $0.1) }
        all.append(.init(name: "host", value: "127.0.0.1:9999"))
        if let version { all.append(.init(name: "accept-api-version", value: version)) }
        if !text.isEmpty { all.append(.init(name: "content-type", value: type)) }
        if !cookies.isEmpty {
            let value = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
            all.append(.init(name: "cookie", value: value))
        }
        base.send(SandboxRequest(method: method, target: path, headers: all, body: Array(text.utf8)))
        return body
    }

    /// Begins a journey.
    @discardableResult
    mutating func begin(_ journey: String, _ more: String = "", headers: [(String, String)] = []) -> JSONValue {
        let query = "authIndexType=service&authIndexValue=\(journey)\(more)"
        step = send("POST", "\(realm)/authenticate?\(query)", "{}", headers: headers)
        return step
    }

    /// Answers the last step: a value for the input of each callback that has one, nil leaves it as it is.
    @discardableResult
    mutating func answer(_ values: JSONValue?...) -> JSONValue {
        step = send("POST", "\(realm)/authenticate", Self.filled(step, values).text)
        return step
    }

    static func filled(_ step: JSONValue, _ values: [JSONValue?]) -> JSONValue {
        var rest = values[...]
        let callbacks: [JSONValue] = (step["callbacks"]?.array ?? []).map { callback in
            guard let inputs = callback["input"]?.array, !inputs.isEmpty else { return callback }
            let filled = inputs.map { input in
                guard let value = rest.popFirst() ?? nil else { return input }
                return input.replacing("value", value)
            }
            return callback.replacing("input", .array(filled))
        }
        return step.replacing("callbacks", .array(callbacks))
    }

    /// Name and password.
    @discardableResult
    mutating func signIn(
        _ name: String = "ada",
        _ password: String = Harness.password,
        journey: String = "Login"
    ) -> JSONValue {
        begin(journey)
        return answer(.string(name), .string(password))
    }

    /// Signs in and keeps the session.
    mutating func keepSession(_ name: String = "ada") {
        signIn(name)
        cookies["iPlanetDirectoryPro"] = token
    }

    var types: [String] { (body["callbacks"]?.array ?? []).compactMap { $0["type"]?.string } }

    /// The value of an output of a callback.
    func output(_ index: Int, _ name: String) -> JSONValue? {
        body["callbacks"]?[index]?["output"]?.array?.first { $0["name"]?.string == name }?["value"]
    }

    @discardableResult
    mutating func session(_ action: String) -> JSONValue {
        send("POST", "\(realm)/sessions?_action=\(action)", "{}")
    }

    var lastCode: String { base.world.outbox.messages.last?.code ?? "" }

    /// The value of a query item of a location.
    func query(_ name: String) -> String? {
        let query = location.split(separator: "?", maxSplits: 1).last ?? ""
        return FormEncoding.fields(Array(query.utf8)).first { $0.name == name }?.value
    }
}
