import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("OAuth: discovery, resources and tokens looked at")
struct OAuthResourceTests {
    @Test(arguments: [
        ("/.well-known/openid-configuration", "", "/oauth/token"),
        ("/.well-known/oauth-authorization-server", "", "/oauth/token"),
        ("/oauth2/default/.well-known/openid-configuration", "/oauth2/default", "/oauth2/default/v1/token"),
        ("/.well-known/oauth-authorization-server/oauth2/default", "/oauth2/default", "/oauth2/default/v1/token"),
        ("/oauth2/.well-known/openid-configuration", "", "/oauth2/v1/token"),
    ])
    func discovery(path: String, issuer: String, token: String) {
        var client = OAuthHarness()
        let body = client.send("GET", path)
        let origin = "http://127.0.0.1:9999"
        #expect(body["issuer"]?.string == origin + issuer && body["token_endpoint"]?.string == origin + token)
        #expect(body["grant_types_supported"]?.array?.count == 5)
        #expect(body["token_endpoint_auth_methods_supported"]?.array?.contains("private_key_jwt") == true)
        // Every endpoint that is told of is one.
        for key in [
            "authorization_endpoint", "token_endpoint", "device_authorization_endpoint", "userinfo_endpoint",
            "jwks_uri",
            "revocation_endpoint", "introspection_endpoint",
        ] {
            let path = String((body[key]?.string ?? "").dropFirst(origin.count))
            #expect(OAuthRoute.find(path) != nil, "\(key): \(path)")
        }
    }

    @Test(arguments: [
        ("example.com:8080", "http://example.com:8080"), ("EXAMPLE.com", "http://example.com"),
        ("[::1]:80", "http://[::1]:80"), ("a\"b", "http://localhost"), ("", "http://localhost"),
    ])
    func theIssuerIsTheHost(host: String, issuer: String) {
        var base = Harness()
        base.send(
            SandboxRequest(
                method: "GET",
                target: "/.well-known/openid-configuration",
                headers: [.init(name: "host", value: host)]
            )
        )
        #expect(base.answer.jsonBody?["issuer"]?.string == issuer)
    }

    @Test func challenges() {
        var client = OAuthHarness()
        let token = client.issue().access
        #expect(client.get(token: nil) == [:])
        #expect(client.status == 401 && client.challenge == #"Bearer realm="auth-sandbox""#)
        for header in ["Basic abc", "DPoP \(token)", "", token] {
            client.send("GET", "/api/x", headers: [("authorization", header)])
            #expect(client.status == 401 && client.challenge?.contains("error") == false, "\(header)")
        }
        for header in ["Bearer", "Bearer ", "Bearer a b"] {
            client.send("GET", "/api/x", headers: [("authorization", header)])
            #expect(client.status == 400 && client.challenge?.contains(#"error="invalid_request""#) == true)
        }
        client.get(token: "nonsense")
        #expect(client.status == 401 && client.challenge?.contains(#"error="invalid_token""#) == true)
        let body = client.send("PUT", "/api/a/b?c=d", body: "x", headers: [("authorization", "bearer \(token)")])
        #expect(body["method"] == "PUT" && body["path"] == "/api/a/b" && body["request"] == 1)
        #expect(client.get("/resource", token: token)["request"] == 2)
        client.control("POST", "settings", #"{"oauth": {"auth_required": false}}"#)
        #expect(client.get(token: nil)["sub"] == .null)
    }

    @Test func clerkKeepsItsPaths() {
        var client = OAuthHarness()
        client.send("GET", "/api/v1/environment?_is_native=1", headers: [("authorization", "")])
        #expect(client.status == 200)
        client.send("GET", "/oauth2/v1/client")
        #expect(client.base.answer.jsonBody?["client"] == .null)
        client.get("/api/v1/things", token: nil)
        #expect(client.challenge?.hasPrefix("Bearer") == true)
    }

    @Test(
        arguments: [
            ([SandboxProvider.clerk], "/api/x", 404, "resource_not_found"),
            ([.clerk], "/v1/environment", 200, nil), ([.oauth], "/v1/environment", 404, "not_found"),
            ([.oauth], "/api/v1/environment", 401, nil), ([.oauth], "/oauth/keys", 200, nil),
        ] as [([SandboxProvider], String, Int, String?)]
    )
    func providersCanBeLeftOut(providers: [SandboxProvider], path: String, status: Int, code: String?) {
        var world = SandboxWorld(scenario: .unlimited, seed: 1, wallNow: 0, providers: Set(providers))
        let reply = world.handle(SandboxRequest(method: "GET", target: path), wallNow: 0).reply
        #expect(reply.response.status == status && world.log.records.last?.errorCode == code)
    }

    @Test func scopesAndStepUp() {
        var client = OAuthHarness()
        let weak = client.issue(#", "scope": "read""#).access
        client.control("POST", "settings", #"{"oauth": {"resource_scope": "read write"}}"#)
        client.get(token: weak)
        #expect(client.status == 403)
        #expect(client.challenge?.contains(#"error="insufficient_scope""#) == true)
        #expect(client.challenge?.hasSuffix(#"scope="read write""#) == true)
        client.control(
            "POST",
            "settings",
            #"{"oauth": {"resource_scope": null, "step_up": {"acr_values": "urn:mfa", "max_age_s": 60}}}"#
        )
        client.get(token: weak)
        #expect(client.status == 401)
        #expect(client.challenge?.contains(#"error="insufficient_user_authentication""#) == true)
        #expect(client.challenge?.hasSuffix(#"acr_values="urn:mfa", max_age="60""#) == true)
        let strong = client.issue(#", "acr": "urn:mfa""#).access
        client.advance(seconds: 60)
        client.get(token: strong)
        #expect(client.status == 200)
        client.advance(seconds: 1)
        client.get(token: strong)
        #expect(client.status == 401)
        client.control("POST", "settings", #"{"oauth": {"step_up": {"max_age_s": 60, "form": "okta"}}}"#)
        client.get(token: strong)
        #expect(client.status == 403)
        #expect(client.challenge?.contains("insufficient_authentication_context") == true)
    }

    @Test func introspection() {
        var client = OAuthHarness()
        let first = client.issue()
        func look(_ token: String) -> JSONValue {
            client.post("/oauth/introspect", ["client_id": "cli", "token": token])
        }
        let access = look(first.access)
        #expect(access["active"] == true && access["username"] == "ada@example.com")
        #expect((access["exp"]?.int ?? 0) - (access["iat"]?.int ?? 0) == 3600)
        client.refresh(first.refresh)
        #expect(look(first.refresh)["active"] == true)
        client.advance(seconds: 31)
        #expect(look(first.refresh) == ["active": false] && client.counters.violations == 0)
        client.advance(seconds: 3600)
        #expect(look(first.access) == ["active": false])
        #expect(look("x") == ["active": false] && client.status == 200)
        client.post("/oauth/introspect", ["client_id": "service", "token": "x"])
        #expect(client.status == 401)
        client.post("/oauth/introspect", ["client_id": "cli"])
        #expect(client.error == "invalid_request")
    }

    @Test func revocation() {
        var client = OAuthHarness()
        let first = client.issue()
        client.post("/oauth2/default/v1/revoke", ["client_id": "cli", "token": first.access])
        #expect(client.status == 200)
        client.get(token: first.access)
        #expect(client.status == 401)
        let second = client.refresh(first.refresh)
        #expect(client.status == 200)
        client.post(
            "/oauth/revoke",
            ["client_id": "service", "client_secret": "service-secret", "token": first.refresh]
        )
        #expect(client.status == 400 && client.error == "unauthorized_client")
        // A refresh token takes the access tokens of its family along, a replaced one as well.
        client.post("/oauth/revoke", ["client_id": "cli", "token": first.refresh, "token_type_hint": "refresh_token"])
        #expect(client.status == 200 && client.counters.familiesRevoked == 1 && client.counters.violations == 0)
        client.get(token: second["access_token"]?.string)
        #expect(client.status == 401)
        client.post("/oauth/revoke", ["client_id": "cli", "token": "unknown"])
        #expect(client.status == 200)
        client.post("/oauth/revoke", ["client_id": "nobody", "token": "unknown"])
        #expect(client.status == 401)
    }

    @Test func userinfo() {
        var client = OAuthHarness()
        let body = client.get("/userinfo", token: client.issue().access)
        #expect(body["email"] == "ada@example.com" && body["given_name"] == "Ada" && body["name"] == "Ada Example")
        let narrow = client.issue(#", "scope": "openid""#).access
        #expect(client.get("/oauth2/v1/userinfo", token: narrow)["email"] == nil)
        client.get("/userinfo", token: client.issue(#", "scope": "a""#).access)
        #expect(client.status == 403)
        client.get("/userinfo", token: nil)
        #expect(client.status == 401)
    }

    @Test func tokensThatTellWhenTheyEnd() {
        var client = OAuthHarness { $0.usesJWT = true }
        let access = client.issue(#", "expires_in": 2"#).access
        let claims = OAuthJWT(access)?.claims
        #expect(claims?["exp"]?.int == client.base.now / 1000 + 2 && claims?["iat"]?.int == client.base.now / 1000)
        client.get(token: access)
        #expect(client.status == 200)
        client.advance(seconds: 2)
        client.get(token: access)
        #expect(client.status == 401)
    }

    @Test(arguments: [("number", JSONValue.int(3600)), ("string", "3600"), ("absent", nil)] as [(String, JSONValue?)])
    func howTheLifeIsTold(format: String, value: JSONValue?) {
        var client = OAuthHarness { $0.expiresIn = format }
        #expect(client.refresh(client.issue().refresh)["expires_in"] == value)
    }

    // MARK: Proofs of possession

    @Test func theTokenEndpointDemandsItsNonce() {
        var client = OAuthHarness { $0.dpop = "required" }
        let first = client.issue()
        client.refresh(first.refresh)
        #expect(client.status == 400 && client.error == "invalid_dpop_proof")
        client.refresh(
            first.refresh,
            headers: [OAuthHarness.proof("POST", "/oauth/token", at: client.base.now, id: "1")]
        )
        #expect(client.status == 400 && client.error == "use_dpop_nonce")
        let nonce = client.answer.header("DPoP-Nonce") ?? ""
        let proof = OAuthHarness.proof("POST", "/oauth/token", at: client.base.now, id: "2", nonce: nonce)
        let body = client.refresh(first.refresh, headers: [proof])
        #expect(body["token_type"] == "DPoP" && client.counters.refreshes == 1)
        client.refresh(body["refresh_token"]?.string ?? "", headers: [proof])
        #expect(client.error == "invalid_dpop_proof")
        // After a day there is another nonce.
        client.advance(seconds: 86_400)
        client.refresh(
            first.refresh,
            headers: [
                OAuthHarness.proof("POST", "/oauth/token", at: client.base.now, id: "3", nonce: nonce)
            ]
        )
        #expect(client.error == "use_dpop_nonce" && client.answer.header("DPoP-Nonce") != nonce)
    }

    @Test func resourcesDemandTheNonceAndTheToken() {
        var client = OAuthHarness { $0.dpop = "optional" }
        client.get(token: nil)
        let nonce = client.answer.header("DPoP-Nonce") ?? ""
        let now = client.base.now
        func at(
            _ method: String,
            _ path: String,
            _ id: String,
            token: String? = nil,
            nonce: String? = nil,
            key: String = "x1"
        )
            -> (String, String)
        { OAuthHarness.proof(method, path, at: now, id: id, nonce: nonce, token: token, key: key) }
        let start = client.post(
            "/oauth/device",
            ["client_id": "cli"]
        )
        client.control("POST", "oauth/device", #"{"user": "ada@example.com"}"#)
        let body = client.post(
            "/oauth/token",
            [
                "grant_type": OAuthGrantType.deviceCode.wireName, "client_id": "cli",
                "device_code": start["device_code"]?.string ?? "",
            ],
            headers: [at("POST", "/oauth/token", "d", nonce: nonce)]
        )
        let token = body["access_token"]?.string ?? ""
        #expect(body["token_type"] == "DPoP")
        func call(_ proof: (String, String)?, scheme: String = "DPoP") -> String? {
            client.send(
                "GET",
                "/api/x?y",
                headers: [("authorization", "\(scheme) \(token)")] + (proof.map { [$0] } ?? [])
            )
            guard client.status != 200 else { return nil }
            return client.base.world.log.records.last?.errorCode
        }
        #expect(call(at("GET", "/api/x", "1", token: token)) == "use_dpop_nonce" && client.status == 401)
        #expect(client.challenge?.hasPrefix("DPoP ") == true && client.answer.header("DPoP-Nonce") == nonce)
        #expect(call(at("GET", "/api/x", "2", token: token, nonce: nonce)) == nil)
        #expect(call(at("GET", "/api/x", "2", token: token, nonce: nonce)) == "invalid_dpop_proof")
        #expect(call(at("GET", "/api/x", "3", token: "other", nonce: nonce)) == "invalid_dpop_proof")
        #expect(call(at("GET", "/api/x", "4", nonce: nonce)) == "invalid_dpop_proof")
        #expect(call(at("POST", "/api/x", "5", token: token, nonce: nonce)) == "invalid_dpop_proof")
        #expect(call(at("GET", "/api/z", "6", token: token, nonce: nonce)) == "invalid_dpop_proof")
        #expect(call(at("GET", "/api/x", "7", token: token, nonce: nonce, key: "x2")) == "invalid_token")
        #expect(call(nil) == "invalid_dpop_proof")
        #expect(call(("dpop", "a.b.c")) == "invalid_dpop_proof")
        #expect(call(nil, scheme: "Bearer") == "invalid_token")
        // The refresh token of a public client is bound to the key.
        let refresh = body["refresh_token"]?.string ?? ""
        client.refresh(refresh, headers: [at("POST", "/oauth/token", "8", nonce: nonce, key: "x2")])
        #expect(client.error == "invalid_grant")
        client.refresh(refresh, headers: [at("POST", "/oauth/token", "9", nonce: nonce)])
        #expect(client.status == 200)
    }

    @Test(arguments: [(-300, true), (300, true), (-301, false), (301, false)] as [(Int64, Bool)])
    func withoutANonceTheAgeCounts(seconds: Int64, isTaken: Bool) {
        var client = OAuthHarness {
            $0.dpop = "required"
            $0.demandsNonce = false
        }
        let first = client.issue()
        let time = client.base.now + seconds * 1000
        client.refresh(first.refresh, headers: [OAuthHarness.proof("POST", "/oauth/token", at: time, id: "1")])
        #expect((client.status == 200) == isTaken)
        #expect(client.answer.header("DPoP-Nonce") == nil)
    }

    @Test func theThumbprintOfRFC7638() throws {
        let modulus = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj\
            hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ\
            vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK\
            nqDKgw
            """
        let key: JSONValue = ["kty": "RSA", "n": .string(modulus), "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"]
        #expect(DPoPProof.thumbprint(key) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
        #expect(DPoPProof.thumbprint(key.adding("d", "secret")) == nil)
    }
}
