import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

extension Auth0Harness {
    /// The members of a form.
    mutating func form(_ path: String, _ fields: KeyValuePairs<String, String>) {
        let body = fields.map { "\($0.key)=\(FormEncoding.encode($0.value))" }.joined(separator: "&")
        base.send(
            SandboxRequest(
                method: "POST",
                target: "/auth0" + path,
                headers: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
                body: Array(body.utf8)
            )
        )
    }

    /// Has a code or a link sent in place of a password.
    @discardableResult
    mutating func start(_ connection: String, to address: String, send: String? = "code") -> JSONValue {
        let name = connection == "email" ? "email" : "phone_number"
        return post(
            "/passwordless/start",
            .object(
                [.init("client_id", "cli"), .init("connection", .string(connection)), .init(name, .string(address))]
                    + (send.map { [.init("send", .string($0))] } ?? [])
                    + [.init("authParams", ["state": "S", "scope": "openid"])]
            )
        )
    }

    @discardableResult
    mutating func code(_ otp: String, of address: String, _ realm: String) -> JSONValue {
        post(
            "/oauth/token",
            [
                "grant_type": "http://auth0.com/oauth/grant-type/passwordless/otp", "client_id": "cli",
                "username": .string(address), "otp": .string(otp), "realm": .string(realm), "scope": "openid",
            ]
        )
    }

    mutating func exchange(_ code: String, verifier: String? = nil, redirectURI: String) -> JSONValue {
        post(
            "/oauth/token",
            .present([
                "grant_type": "authorization_code", "client_id": "cli", "code": .string(code),
                "redirect_uri": .string(redirectURI), "code_verifier": verifier.map(JSONValue.string),
            ])
        )
    }

    mutating func poll(_ code: JSONValue?) -> JSONValue {
        post(
            "/oauth/token",
            [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "cli",
                "device_code": code ?? .null,
            ]
        )
    }

    /// What of a link stands below the tenant.
    func path(of link: String) -> String {
        link.split(separator: "/auth0", maxSplits: 1).last.map(String.init) ?? ""
    }

    /// A parameter of the address that the browser is sent to.
    func redirected(_ name: String) -> String? {
        let location = base.answer.header("Location") ?? ""
        return SandboxRequest(method: "GET", target: String(location.drop { $0 != "?" })).queryItem(name)
    }

    mutating func associate(_ token: JSONValue?, _ members: [JSONValue.Member]) -> JSONValue {
        post(
            "/mfa/associate",
            .object([.init("client_id", "cli")] + members),
            headers: [("authorization", "Bearer \(token?.string ?? "")")]
        )
    }
}
