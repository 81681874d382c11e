import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

/// A client of the tenant without a socket, with its own time.
struct Auth0Harness {
    var base: Harness

    static let name = "ada@example.com"

    init(_ person: (inout SandboxUser) -> Void = { _ in }, settings: (inout SandboxAuth0Settings) -> Void = { _ in }) {
        var user = SandboxUser(email: Self.name, password: "right")
        user.phones = ["+12015550100"]
        person(&user)
        var scenario = SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings)
        settings(&scenario.settings.auth0)
        base = Harness(scenario)
    }

    var status: Int { base.answer.status }
    var error: String? { base.answer.jsonBody?["error"]?.string }
    var text: String? { base.answer.jsonBody?["error_description"]?.string }

    mutating func advance(seconds: Int64) { base.now += seconds * 1000 }

    @discardableResult
    mutating func post(_ path: String, _ body: JSONValue, headers: [(String, String)] = []) -> JSONValue {
        send("POST", path, body, headers: headers)
    }

    @discardableResult
    mutating func send(
        _ method: String,
        _ path: String,
        _ body: JSONValue? = nil,
        headers: [(String, String)] = []
    ) -> JSONValue {
        let all = headers.map { SandboxRequest.Header(name: $0.0, value: $0.1) }
        base.send(
            SandboxRequest(
                method: method,
                target: "/auth0" + path,
                headers: all,
                body: Array((body?.description ?? "").utf8)
            )
        )
        return base.answer.jsonBody ?? .null
    }

    /// - Parameters:
    ///   - scope: What is asked for; nil asks for nothing.
    ///   - realm: The connection; nil leaves it to the tenant.
    @discardableResult
    mutating func signIn(
        _ password: String = "right",
        scope: String? = "openid profile email offline_access",
        realm: String? = nil,
        audience: String? = nil,
        headers: [(String, String)] = []
    ) -> JSONValue {
        let grant = realm == nil ? "password" : "http://auth0.com/oauth/grant-type/password-realm"
        return post(
            "/oauth/token",
            .present([
                "grant_type": .string(grant), "client_id": "cli", "client_secret": "s", "username": .string(Self.name),
                "password": .string(password), "scope": scope.map(JSONValue.string),
                "realm": realm.map(JSONValue.string), "audience": audience.map(JSONValue.string),
            ]),
            headers: headers
        )
    }

    /// Asks for the profile.
    @discardableResult
    mutating func profile(_ answer: JSONValue) -> JSONValue {
        let token = answer["access_token"]?.string ?? ""
        return send("GET", "/userinfo", headers: [("authorization", "Bearer \(token)")])
    }

    /// Has a link to set a new password mailed, and returns where it leads, below the tenant.
    mutating func resetLink() -> String {
        post(
            "/dbconnections/change_password",
            ["client_id": "cli", "email": .string(Self.name), "connection": "Username-Password-Authentication"]
        )
        let link = code(to: Self.name)
        return link.split(separator: "/auth0", maxSplits: 1).last.map(String.init) ?? ""
    }

    /// Sends the form of the page that a link leads to.
    mutating func setPassword(_ password: String, ticket: String) {
        base.send(
            SandboxRequest(
                method: "POST",
                target: "/auth0/reset",
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array("ticket=\(ticket)&password=\(password)".utf8)
            )
        )
    }

    @discardableResult
    mutating func factor(_ grant: String, _ token: JSONValue?, _ members: [String: String]) -> JSONValue {
        var body: [JSONValue.Member] = [
            JSONValue.Member("grant_type", .string("http://auth0.com/oauth/grant-type/\(grant)")),
            JSONValue.Member("client_id", "cli"), JSONValue.Member("mfa_token", token ?? .null),
        ]
        body += members.map { JSONValue.Member($0.key, .string($0.value)) }
        return post("/oauth/token", .object(body))
    }

    @discardableResult
    mutating func refresh(_ token: JSONValue?, scope: String? = nil, audience: String? = nil) -> JSONValue {
        post(
            "/oauth/token",
            .present([
                "grant_type": "refresh_token", "client_id": "cli", "refresh_token": token ?? .null,
                "scope": scope.map(JSONValue.string), "audience": audience.map(JSONValue.string),
            ])
        )
    }

    /// Has a code or a push sent.
    mutating func challenge(_ factor: String, _ token: JSONValue?) -> JSONValue {
        let list = send("GET", "/mfa/authenticators", headers: [("authorization", "Bearer \(token?.string ?? "")")])
        let id = list.array?.first { $0["id"]?.string?.hasPrefix(factor) == true }?["id"]
        return post(
            "/mfa/challenge",
            [
                "client_id": "cli", "mfa_token": token ?? .null, "challenge_type": "oob",
                "authenticator_id": id ?? .null,
            ]
        )
    }

    func code(to address: String) -> String { base.world.outbox.messages(to: address).last?.code ?? "" }

    func totp() -> String {
        TOTP.code(
            secret: Base32.decode("JBSWY3DPEHPK3PXP") ?? [],
            step: TOTP.step(atMilliseconds: base.now)
        )
    }
}
