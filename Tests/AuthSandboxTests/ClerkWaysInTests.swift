import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Clerk: tickets, links and passkeys")
struct ClerkWaysInTests {
    private func ticket(_ client: inout Harness, _ body: String) -> String {
        client.control("POST", "clerk/ticket", body)["ticket"]?.string ?? ""
    }

    @Test func aTicketSignsInOnce() {
        var client = Harness()
        let ticket = ticket(&client, #"{"user": "ada@example.com"}"#)
        let signIn = client.call("POST", "client/sign_ins", ["strategy": "ticket", "ticket": ticket])["response"]
        #expect(signIn?["status"] == "complete" && signIn?["created_session_id"]?.string != nil)
        #expect(client.token != nil)
        var other = Harness()
        other.world = client.world
        other.call("POST", "client/sign_ins", ["strategy": "ticket", "ticket": ticket])
        #expect(other.status == 400 && other.code == "sign_in_token_already_used_code")
    }

    @Test func aTicketDies() {
        var client = Harness()
        let ticket = ticket(&client, #"{"user": "ada@example.com", "expires_s": 10}"#)
        client.call("POST", "client/sign_ins", ["strategy": "ticket", "ticket": "tkt_unknown"])
        #expect(client.code == "ticket_invalid_code")
        client.advance(seconds: 10)
        client.call("POST", "client/sign_ins", ["strategy": "ticket", "ticket": ticket])
        #expect(client.status == 400 && client.code == "ticket_expired_code")
        client.call("POST", "client/sign_ins", ["strategy": "ticket"])
        #expect(client.code == "form_param_missing" && client.parameter == "ticket")
        client.call("POST", "client/sign_ins", ["transfer": "true"])
        #expect(client.code == "account_transfer_invalid")
    }

    @Test(arguments: ["{}", #"{"user": "nobody@example.com"}"#, #"{"user": "ada@example.com", "email": "x@y"}"#])
    func aTicketIsForSomebody(body: String) {
        var client = Harness()
        client.control("POST", "clerk/ticket", body)
        #expect(client.status == 400 || client.status == 404)
    }

    // MARK: An enterprise's connections

    @Test func ofSeveralConnectionsOneIsNamed() {
        var user = SandboxUser(email: "lin@example.com", password: Harness.password)
        user.firstFactors = ["enterprise_sso", "enterprise_sso"]
        var client = Harness(user: user)
        let id = client.begin("lin@example.com")
        let signIn = client.call("GET", "client/sign_ins/\(id)")["response"]
        let factors = signIn?["supported_first_factors"]?.array ?? []
        #expect(factors.map { $0["enterprise_connection_id"]?.string } == ["ec_1", "ec_2"])
        #expect(factors.map { $0["enterprise_connection_name"]?.string } == ["Connection 1", "Connection 2"])
        func prepare(_ connection: String?) -> String? {
            let (path, back) = ("client/sign_ins/\(id)/prepare_first_factor", "myapp://callback")
            if let connection {
                let key = "enterprise_connection_id"
                client.call("POST", path, ["strategy": "enterprise_sso", "redirect_url": back, key: connection])
            } else {
                client.call("POST", path, ["strategy": "enterprise_sso", "redirect_url": back])
            }
            return client.status == 200 ? nil : client.code
        }
        #expect(prepare(nil) == "enterprise_connection_id_is_required_with_multiple_connections")
        #expect(prepare("ec_3") == "form_param_value_invalid" && prepare("ec_2") == nil)
    }

    // MARK: Links

    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

    /// Somebody whose e-mail takes links.
    private func linked() -> Harness {
        var user = SandboxUser(email: "lin@example.com", password: Harness.password)
        user.firstFactors = ["password", "email_link"]
        return Harness(user: user)
    }

    private func sendLink(_ client: inout Harness, pkce: Bool = true) -> (id: String, link: String) {
        let id = client.begin("lin@example.com")
        if pkce {
            client.call(
                "POST",
                "client/sign_ins/\(id)/prepare_first_factor",
                [
                    "strategy": "email_link", "redirect_uri": "app://back?x=1", "code_challenge": Self.challenge,
                    "code_challenge_method": "S256",
                ]
            )
        } else {
            client.call(
                "POST",
                "client/sign_ins/\(id)/prepare_first_factor",
                ["strategy": "email_link", "redirect_url": "https://app.example.com/back"]
            )
        }
        return (id, client.lastCode)
    }

    /// Opens a link in a browser, which has no client token, and tells where it is sent.
    private func open(_ client: inout Harness, _ link: String) -> String {
        let target = link.firstRange(of: "/v1/").map { String(link[$0.lowerBound...]) } ?? link
        client.send(SandboxRequest(method: "GET", target: target, headers: [], body: []))
        return client.answer.header("Location") ?? ""
    }

    private func complete(_ client: inout Harness, _ address: String, _ verifier: String = verifier) -> JSONValue? {
        let query = address.split(separator: "?").last.map(String.init) ?? ""
        let fields = FormEncoding.fields(Array(query.utf8))
        return client.call(
            "POST",
            "client/magic_links/complete",
            [
                "flow_id": fields.first { $0.name == "flow_id" }?.value ?? "",
                "approval_token": fields.first { $0.name == "approval_token" }?.value ?? "",
                "code_verifier": verifier,
            ]
        )["response"]
    }

    @Test func aLinkLeadsBackToTheClientThatAskedForIt() {
        var client = linked()
        let link = sendLink(&client).link
        let address = open(&client, link)
        #expect(client.status == 302 && address.hasPrefix("app://back?x=1&flow_id=mlf_"))
        let ticket = complete(&client, address)?["ticket"]?.string ?? ""
        let signIn = client.call("POST", "client/sign_ins", ["strategy": "ticket", "ticket": ticket])["response"]
        #expect(signIn?["status"] == "complete")
        _ = complete(&client, address)
        #expect(client.status == 422 && client.code == "approval_token_consumed")
    }

    @Test func aLinkOfAnotherClientIsWorthNothing() {
        var client = linked()
        let address = open(&client, sendLink(&client).link)
        _ = complete(&client, address, "another-verifier-that-is-long-enough-to-be-one")
        #expect(client.code == "pkce_verification_failed")
        _ = complete(&client, "x?flow_id=a&approval_token=b")
        #expect(client.code == "approval_token_invalid")
        client.advance(seconds: 600)
        _ = complete(&client, address)
        #expect(client.code == "approval_token_expired")
        #expect(open(&client, "/v1/verify?token=nonsense").isEmpty && client.code == "verification_link_token_invalid")
    }

    @Test func aLinkThatNobodyHasOpenedIsNotApproved() {
        var client = linked()
        let link = sendLink(&client).link
        let token = link.split(separator: "=").last.map(String.init) ?? ""
        let flow = client.world.clerk.links[token]?.flow ?? ""
        _ = complete(&client, "x?flow_id=\(flow)&approval_token=\(token)")
        #expect(client.code == "flow_not_approved")
    }

    @Test func aLinkWithoutAProofIsSeenAtTheSignIn() {
        var client = linked()
        let (id, link) = sendLink(&client, pkce: false)
        #expect(client.call("GET", "client/sign_ins/\(id)")["response"]?["status"] == "needs_first_factor")
        let address = open(&client, link)
        #expect(address == "https://app.example.com/back?__clerk_status=verified")
        #expect(client.answer.header("Authorization") == nil, "the browser is not the client")
        let signIn = client.call("GET", "client/sign_ins/\(id)")["response"]
        #expect(signIn?["status"] == "complete" && signIn?["created_session_id"]?.string != nil)
    }

    // MARK: Identity providers

    private static let back: KeyValuePairs<String, String> = ["strategy": "oauth_google", "redirect_url": "app://back"]

    /// Answers the page of the identity provider as a browser does, and tells where that is sent.
    private func visit(_ client: inout Harness, _ page: JSONValue?, _ email: String, _ decision: String = "allow")
        -> String
    {
        let target =
            page?.string.flatMap { url in url.firstRange(of: "/v1/").map { String(url[$0.lowerBound...]) } } ?? ""
        client.send(SandboxRequest(method: "GET", target: target))
        guard client.answer.header("Content-Type") == "text/html; charset=utf-8" else { return "no page" }
        let form: KeyValuePairs = ["email": email, "decision": decision]
        let type = SandboxRequest.Header(name: "content-type", value: "application/x-www-form-urlencoded")
        client.send(
            SandboxRequest(method: "POST", target: target, headers: [type], body: Array(Harness.encode(form).utf8))
        )
        return client.answer.header("Location") ?? ""
    }

    private func beginVisit(_ client: inout Harness, _ kind: String = "sign_ins") -> (id: String, page: JSONValue?) {
        let response = client.call("POST", "client/\(kind)", Self.back)["response"]
        let proof = response?["first_factor_verification"] ?? response?["verifications"]?["external_account"]
        return (response?["id"]?.string ?? "", proof?["external_verification_redirect_url"])
    }

    @Test func aProviderSignsInAndItsNonceIsGoodOnce() {
        var client = Harness()
        let (id, page) = beginVisit(&client)
        let address = visit(&client, page, "ada@example.com")
        #expect(client.status == 302 && address.hasPrefix("app://back?rotating_token_nonce="))
        let nonce = address.split(separator: "=").last.map(String.init) ?? ""
        let before = client.token
        client.call("GET", "client/sign_ins/\(id)?rotating_token_nonce=x")
        #expect(client.status == 403 && client.code == "sync_nonce_already_consumed")
        let signIn = client.call("GET", "client/sign_ins/\(id)?rotating_token_nonce=\(nonce)")["response"]
        #expect(signIn?["status"] == "complete" && client.token != before)
        #expect(visit(&client, page, "ada@example.com") == "no page")
    }

    @Test func whoTheProviderRefusesIsNotSignedIn() {
        var client = Harness()
        let (id, page) = beginVisit(&client)
        #expect(visit(&client, page, "ada@example.com", "deny") == "app://back")
        let proof = client.call("GET", "client/sign_ins/\(id)")["response"]?["first_factor_verification"]
        #expect(proof?["status"] == "failed" && proof?["error"]?["code"] == "oauth_access_denied")
    }

    @Test func aProofIsTakenOverByTheOther() {
        var client = Harness()
        let (id, page) = beginVisit(&client)
        #expect(visit(&client, page, "new@example.com") == "app://back")
        let proof = client.call("GET", "client/sign_ins/\(id)")["response"]?["first_factor_verification"]
        #expect(proof?["status"] == "transferable" && proof?["error"]?["code"] == "external_account_not_found")
        let signUp = client.call("POST", "client/sign_ups", ["transfer": "true"])["response"]
        #expect(signUp?["status"] == "complete" && signUp?["email_address"] == "new@example.com")

        var other = Harness()
        let second = beginVisit(&other, "sign_ups")
        #expect(visit(&other, second.page, "ada@example.com") == "app://back")
        let external = other.call("GET", "client/sign_ups/\(second.id)")["response"]?["verifications"]?[
            "external_account"
        ]
        #expect(external?["status"] == "transferable" && external?["error"]?["code"] == "external_account_exists")
        let signIn = other.call("POST", "client/sign_ins", ["transfer": "true"])["response"]
        #expect(signIn?["status"] == "complete" && signIn?["identifier"] == "ada@example.com")
    }

    @Test func aProviderSignsUp() {
        var client = Harness()
        let (id, page) = beginVisit(&client, "sign_ups")
        let nonce = visit(&client, page, "new@example.com").split(separator: "=").last.map(String.init) ?? ""
        let signUp = client.call("GET", "client/sign_ups/\(id)?rotating_token_nonce=\(nonce)")["response"]
        #expect(signUp?["status"] == "complete" && signUp?["created_session_id"]?.string != nil)
    }

    // MARK: Passkeys

    private static let host: [SandboxRequest.Header] = [.init(name: "host", value: "clerk.example.com:8080")]

    private func keyed() -> Harness {
        var user = SandboxUser(email: "kay@example.com", password: Harness.password)
        user.passkeys = ["a2V5LTE"]
        return Harness(user: user)
    }

    private func proof(
        _ nonce: JSONValue?,
        id: String = "a2V5LTE",
        origin: String = "https://clerk.example.com",
        party: String = "clerk.example.com",
        flags: UInt8 = 0x05
    ) -> String {
        let options = try? JSONValue(parsing: Array((nonce?.string ?? "").utf8))
        let client: JSONValue = [
            "type": "webauthn.get", "challenge": options?["challenge"] ?? .null, "origin": .string(origin),
        ]
        let data = SHA256.hash(Array(party.utf8)) + [flags, 0, 0, 0, 1]
        let credential: JSONValue = [
            "id": .string(id), "rawId": .string(id), "type": "public-key",
            "response": [
                "clientDataJSON": .string(Base64.encodeForURL(Array(client.text.utf8))),
                "authenticatorData": .string(Base64.encodeForURL(data)), "signature": "c2ln", "userHandle": .null,
            ],
        ]
        return credential.text
    }

    private func beginPasskey(_ client: inout Harness) -> (id: String, nonce: JSONValue?) {
        let signIn = client.call("POST", "client/sign_ins", ["strategy": "passkey"], headers: Self.host)["response"]
        return (signIn?["id"]?.string ?? "", signIn?["first_factor_verification"]?["nonce"])
    }

    private func attempt(_ client: inout Harness, _ id: String, _ proof: String) -> JSONValue? {
        client.call(
            "POST",
            "client/sign_ins/\(id)/attempt_first_factor",
            ["strategy": "passkey", "public_key_credential": proof],
            headers: Self.host
        )["response"]
    }

    @Test func aPasskeySignsInWhoeverItBelongsTo() {
        var client = keyed()
        let (id, nonce) = beginPasskey(&client)
        let signIn = attempt(&client, id, proof(nonce))
        #expect(signIn?["status"] == "complete" && signIn?["identifier"] == "kay@example.com")
    }

    @Test func oneOfSeveralFactorsIsPrepared() {
        var client = keyed()
        let id = client.begin("kay@example.com")
        let prepared = client.call(
            "POST",
            "client/sign_ins/\(id)/prepare_first_factor",
            ["strategy": "passkey"],
            headers: Self.host
        )["response"]?["first_factor_verification"]
        #expect(prepared?["status"] == "unverified" && prepared?["object"] == "verification_passkey")
        #expect(attempt(&client, id, proof(prepared?["nonce"]))?["status"] == "complete")
    }

    @Test func whatIsWrongIsRefusedAndAChallengeIsGoodOnce() {
        var client = keyed()
        let wrong: [(JSONValue?) -> String] = [
            { self.proof($0, origin: "https://evil.example") }, { self.proof($0, party: "evil.example") },
            { self.proof($0, flags: 0x01) }, { _ in self.proof(.string(#"{"challenge":"b2xk"}"#)) },
        ]
        for make in wrong {
            let (id, nonce) = beginPasskey(&client)
            _ = attempt(&client, id, make(nonce))
            #expect(client.status == 400 && client.code == "passkey_authentication_failure")
            _ = attempt(&client, id, proof(nonce))
            #expect(client.code == "passkey_invalid_verification")
        }
        let (id, nonce) = beginPasskey(&client)
        _ = attempt(&client, id, proof(nonce, id: "b3RoZXI"))
        #expect(client.status == 404 && client.code == "passkey_not_registered")
        let (second, _) = beginPasskey(&client)
        _ = attempt(&client, second, "no json")
        #expect(client.code == "form_param_value_invalid" && client.parameter == "public_key_credential")
    }

    @Test func aPasskeyIsMadeAndTakenAway() {
        var client = Harness()
        client.call("POST", "client/sign_ins", ["identifier": "ada@example.com", "password": Harness.password])
        let made = client.call("POST", "me/passkeys", headers: Self.host)["response"]
        let options = try? JSONValue(parsing: Array((made?["verification"]?["nonce"]?.string ?? "").utf8))
        #expect(options?["rp"]?["id"] == "clerk.example.com")
        let path = "me/passkeys/\(made?["id"]?.string ?? "")"
        let data: JSONValue = [
            "type": "webauthn.create", "challenge": options?["challenge"] ?? .null,
            "origin": "https://clerk.example.com",
        ]
        let credential: JSONValue = [
            "id": "bmV3", "rawId": "bmV3", "type": "public-key",
            "response": [
                "clientDataJSON": .string(Base64.encodeForURL(Array(data.text.utf8))), "attestationObject": "oA",
            ],
        ]
        let form: KeyValuePairs = ["strategy": "passkey", "public_key_credential": credential.text]
        client.call("POST", path + "/attempt_verification", form, headers: Self.host)
        #expect(client.status == 200)
        client.call("POST", path + "/attempt_verification", form, headers: Self.host)
        #expect(client.status == 404)
        client.call("DELETE", path)
        #expect(client.status == 200)
    }
}
