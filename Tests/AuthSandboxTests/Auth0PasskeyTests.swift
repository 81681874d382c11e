import HTTPRecovery
import Testing

@testable import AuthSandbox

/// What an authenticator's answers have to be like.
@Suite("The sandbox's Auth0: passkeys")
struct Auth0PasskeyTests {
    /// What of an answer is not as it has to be.
    enum Flaw: CaseIterable {
        case challenge, type, origin, party, absent, signature, counter, handle, credential, session, late
    }

    private static let id = Base64.encodeForURL(Array("mine".utf8))

    private func client(settings: (inout SandboxAuth0Settings) -> Void = { _ in }) -> Auth0Harness {
        Auth0Harness({ $0.passkeys = [Self.id] }, settings: settings)
    }

    /// Answers a challenge.
    @discardableResult
    private func sign(_ client: inout Auth0Harness, counter: UInt8 = 1, _ flaw: Flaw? = nil) -> JSONValue {
        client.post("/oauth/token", answer(&client, counter: counter, flaw))
    }

    /// The answer to a challenge that is obtained for it.
    private func answer(_ client: inout Auth0Harness, counter: UInt8 = 1, _ flaw: Flaw? = nil) -> JSONValue {
        let offer = client.post(
            "/passkey/challenge",
            ["client_id": "cli", "realm": "Username-Password-Authentication"]
        )
        let options = offer["authn_params_public_key"]
        let party = options?["rpId"]?.string ?? ""
        if flaw == .late { client.advance(seconds: 301) }
        let data: JSONValue = [
            "type": flaw == .type ? "webauthn.create" : "webauthn.get",
            "challenge": flaw == .challenge ? "b3RoZXI" : options?["challenge"] ?? .null,
            "origin": flaw == .origin ? "https://evil.example.com" : .string("http://\(party):8123"),
        ]
        let hash = SHA256.hash(Array((flaw == .party ? "evil.example.com" : party).utf8))
        let signed = hash + [flaw == .absent ? 0x04 : 0x05, 0, 0, 0, counter]
        let response: JSONValue = [
            "clientDataJSON": .string(Base64.encodeForURL(Array(data.description.utf8))),
            "authenticatorData": .string(Base64.encodeForURL(signed)),
            "signature": .string(Base64.encodeForURL(flaw == .signature ? [1] : [0x30, 6, 2, 1, 1, 2, 1, 1])),
            "userHandle": flaw == .handle ? "b3RoZXI" : "aGFuZGxl",
        ]
        let id: JSONValue = flaw == .credential ? "b3RoZXI" : .string(Self.id)
        return [
            "grant_type": "urn:okta:params:oauth:grant-type:webauthn", "client_id": "cli",
            "auth_session": flaw == .session ? "other" : offer["auth_session"] ?? .null, "scope": "openid",
            "authn_response": ["id": id, "rawId": id, "type": "public-key", "response": response],
        ]
    }

    @Test(arguments: Flaw.allCases)
    func whatDoesNotFitIsRefused(flaw: Flaw) {
        var client = client()
        #expect(sign(&client)["id_token"] != nil && client.status == 200)
        sign(&client, counter: flaw == .counter ? 1 : 2, flaw)
        #expect(client.status == 403 && client.error == "invalid_grant")
        #expect(sign(&client, counter: 3)["id_token"] != nil)
    }

    /// A challenge is good for one answer, whether that was right or not.
    @Test func aChallengeIsAnsweredOnce() {
        var client = client()
        let answer = answer(&client)
        client.post("/oauth/token", answer)
        #expect(client.status == 200)
        client.post("/oauth/token", answer)
        #expect(client.status == 403 && client.error == "invalid_grant")
    }

    private func register(_ client: inout Auth0Harness, _ profile: JSONValue) -> JSONValue {
        client.post("/passkey/register", ["client_id": "cli", "user_profile": profile])
    }

    @Test func whoMayHaveANewOne() {
        var client = client()
        let offer = register(&client, ["email": "new@example.com", "name": "New"])
        let options = offer["authn_params_public_key"]
        #expect(offer["auth_session"] != nil && options?["authenticatorSelection"]?["residentKey"] == "required")
        #expect(options?["user"]?["displayName"] == "New" && options?["user"]?["name"] == "new@example.com")
        for profile: JSONValue in [
            ["email": .string(Auth0Harness.name)], ["name": "New"], ["email": "new@example.com", "shoe_size": "42"],
            [:],
        ] {
            _ = register(&client, profile)
            #expect(client.status == 400 && client.error == "invalid_request")
        }
    }

    @Test func anAppMayNotHaveThem() {
        var client = client { $0.grants = ["password"] }
        client.post("/passkey/challenge", ["client_id": "cli"])
        #expect(client.status == 400 && client.error == "invalid_request")
        client.post("/passkey/challenge", ["client_id": "other"])
        #expect(client.status == 401)
    }
}
