import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("The authorization code flow")
struct AuthorizationCodeTests {
    private static func query(_ url: String) -> FormFields {
        FormFields(parsing: url.drop { $0 != "?" }.dropFirst().utf8)
    }

    private static func request(
        _ bench: OAuthBench,
        scope: String? = "openid a"
    ) throws -> OAuthClient.AuthorizationRequest {
        try bench.oauth.authorizationRequest(redirectURI: "http://127.0.0.1:8123/cb?x=1", scope: scope)
    }

    @Test func theVectorOfRFC7636() throws {
        let key = try #require(OAuthClient.ProofKey(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(key.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" && OAuthClient.ProofKey.method == "S256")
    }

    @Test(arguments: [
        ("a", 42, false), ("a", 43, true), ("~", 128, true), ("a", 129, false), ("é", 50, false), ("+", 50, false),
    ])
    func verifiers(character: String, count: Int, isOne: Bool) {
        #expect((OAuthClient.ProofKey(verifier: Secret(String(repeating: character, count: count))) != nil) == isOne)
    }

    @Test func keysAreNewAndOfFullLength() {
        let keys = (0..<100).map { _ in OAuthClient.ProofKey() }
        #expect(Set(keys.map(\.challenge)).count == 100)
        #expect(keys.allSatisfy { OAuthClient.ProofKey(verifier: $0.verifier) == $0 })
    }

    @Test func theURL() throws {
        let bench = try OAuthBench(endpoints: [.authorization: "https://id.example.com/authorize?tenant=t"])
        let request = try bench.oauth.authorizationRequest(
            redirectURI: "http://127.0.0.1:8123/cb",
            scope: "openid a",
            parameters: ["prompt": "login", "login_hint": "ada+x@example.com"]
        )
        let beginning = "https://id.example.com/authorize?tenant=t&response_type=code&client_id=app"
        #expect(
            request.url.hasPrefix("\(beginning)&redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcb&scope=openid+a&state=")
        )
        #expect(request.url.hasSuffix("&code_challenge_method=S256&prompt=login&login_hint=ada%2Bx%40example.com"))
        let query = Self.query(request.url)
        #expect(query["state"] == [request.state] && query["nonce"] == [request.nonce])
        #expect(query["code_challenge"] == [Secret(request.proofKey.challenge)])
        #expect(!request.url.contains(request.proofKey.verifier.reveal()))
        #expect(Set([request.state, request.nonce, request.proofKey.verifier]).count == 3)
        let other = try bench.oauth.authorizationRequest(redirectURI: "http://127.0.0.1:8123/cb", scope: "a")
        #expect(other.nonce == nil && Self.query(other.url)["nonce"].isEmpty && other.state != request.state)
    }

    @Test func withoutAnEndpointThereIsNone() throws {
        let bench = try OAuthBench(endpoints: [:])
        let error = #expect(throws: RecoveryError.self) { try Self.request(bench) }
        #expect(error?.kind == .misconfigured && error?.outcome.parameter == "authorization_endpoint")
    }

    private static func idToken(nonce: String?) -> String {
        let claims = nonce.map { #"{"nonce":"\#($0)"}"# } ?? "{}"
        return #","id_token":"e30.\#(Base64.encodeForURL(claims.utf8)).s""#
    }

    @Test func fromTheRedirectToTheTokens() async throws {
        let bench = try OAuthBench()
        let request = try Self.request(bench)
        bench.transport.append([.tokens(Self.idToken(nonce: request.nonce?.reveal()))])
        let url = "http://127.0.0.1:8123/cb?x=1&code=c%2F1+2&state=\(request.state.reveal())#_=_"
        let answer = try await bench.oauth.tokens(for: request, redirectedTo: url)
        #expect(answer.accessToken == "A2")
        let redirect = "redirect_uri=http%3A%2F%2F127.0.0.1%3A8123%2Fcb%3Fx%3D1"
        let verifier = request.proofKey.verifier.reveal()
        #expect(
            bench.sent == [
                "POST /token grant_type=authorization_code&code=c%2F1+2&\(redirect)&code_verifier=\(verifier)&client_id=app"
            ]
        )
    }

    @Test(arguments: ["another", nil])
    func anIDTokenOfAnotherRequest(nonce: String?) async throws {
        let bench = try OAuthBench([.tokens(Self.idToken(nonce: nonce))])
        let request = try Self.request(bench)
        let error = try await bench.failure {
            try await bench.oauth.tokens(for: request, redirectedTo: "/?code=c&state=\(request.state.reveal())")
        }
        #expect(error.outcome.code == "nonce_mismatch" && error.remedies == [.restartFlow])
    }

    @Test(arguments: ["", #","id_token":"""#, #","id_token":7"#, #","scope":"profile""#])
    func anAnswerWithoutAnIDTokenIsNoneToARequestForOne(members: String) async throws {
        let bench = try OAuthBench([.tokens(members)])
        let request = try Self.request(bench)
        #expect(request.nonce != nil)
        let error = try await bench.failure {
            try await bench.oauth.tokens(for: request, redirectedTo: "/?code=c&state=\(request.state.reveal())")
        }
        #expect(error.outcome.code == "id_token_missing" && error.outcome.parameter == "id_token")
        #expect(error.remedies == [.restartFlow])
    }

    @Test(arguments: [
        ("code=c", "state_mismatch"), ("code=c&state=", "state_mismatch"), ("code=c&state=other", "state_mismatch"),
        ("error=access_denied&state=other", "state_mismatch"), ("error=access_denied", "state_mismatch"),
        ("code=c&state=S&state=S", "state_mismatch"), ("code=c&code=d&state=S", "state_mismatch"),
        ("code=c&state=S&iss=https://evil.example.com", "issuer_mismatch"), ("code=c&state=S&iss=", "issuer_mismatch"),
        ("code=c&state=S&iss=https%3A%2F%2Fid.example.com&iss=https%3A%2F%2Fid.example.com", "state_mismatch"),
        ("error=access_denied&state=S&iss=https://evil.example.com", "issuer_mismatch"), ("", "state_mismatch"),
        ("code=c&State=S", "state_mismatch"), ("code=c&state=S%00", "state_mismatch"),
        ("code=c#state=S", "state_mismatch"),
        ("state=S#code=c", "state_mismatch"), ("code=c&state=S&state", "state_mismatch"),
        ("code=c&code=&state=S", "state_mismatch"), ("code=c&state=S+", "state_mismatch"),
        ("code=c&state=S%", "state_mismatch"), ("code=c&state=S;iss=x", "state_mismatch"),
        ("code=c&state=S&error=x&error=y", "state_mismatch"),
    ])
    func aRedirectThatIsNoAnswerIsRefused(query: String, code: String) async throws {
        let bench = try OAuthBench()
        let request = try Self.request(bench)
        let query = query.split(separator: "state=S", omittingEmptySubsequences: false)
            .joined(separator: "state=\(request.state.reveal())")
        let error = try await bench.failure {
            try await bench.oauth.tokens(for: request, redirectedTo: "http://127.0.0.1:8123/cb?\(query)")
        }
        #expect(error.kind == .invalidRequest && error.outcome.code == code && error.remedies == [.restartFlow])
        #expect(bench.sent.isEmpty)
    }

    private static let refusals: [(String, Outcome.Kind, String?, String?)] = [
        ("error=access_denied&error_description=no+way", Outcome.Kind.declined, "access_denied", "no way"),
        ("error=login_required", .userActionRequired, "login_required", nil),
        ("error=server_error", .unavailable, "server_error", nil), ("error=made_up", .unknown, "made_up", nil),
        ("error=invalid_scope&code=c", .invalidRequest, "invalid_scope", nil), ("x=1", .unreadable, nil, nil),
        ("code=", .unreadable, nil, nil),
    ]

    @Test(arguments: refusals)
    func aRefusal(query: String, kind: Outcome.Kind, code: String?, message: String?) throws {
        let request = try Self.request(try OAuthBench())
        let redirect = OAuthClient.AuthorizationRedirect(query: "\(query)&state=\(request.state.reveal())")
        let error = #expect(throws: RecoveryError.self) { try request.grant(for: redirect) }
        #expect(error?.kind == kind && error?.outcome.code == code && error?.outcome.message == message)
    }

    @Test func theIssuerIsRequiredWhereTheServerPromisesIt() async throws {
        let bench = try OAuthBench([
            .status(
                200,
                [:],
                body: #"""
                    {"issuer":"https://id.example.com","authorization_endpoint":"https://id.example.com/a",
                    "authorization_response_iss_parameter_supported":true}
                    """#
            )
        ])
        let server = try await OAuthServer.discover(issuer: OAuthBench.issuer, using: bench.client)
        let oauth = OAuthClient(server: server, clientID: "app", client: bench.client)
        let request = try oauth.authorizationRequest(redirectURI: "http://127.0.0.1/")
        let query = "code=c&state=\(request.state.reveal())"
        let error = #expect(throws: RecoveryError.self) {
            try request.grant(for: OAuthClient.AuthorizationRedirect(query: query))
        }
        #expect(error?.outcome.code == "issuer_mismatch" && error?.outcome.parameter == "iss")
        let named = OAuthClient.AuthorizationRedirect(query: "\(query)&iss=https%3A%2F%2Fid.example.com")
        #expect(try request.grant(for: named).form["code"] == ["c"])
    }

    @Test func aRequestCanBePutTogetherAgain() throws {
        let request = try Self.request(try OAuthBench())
        let again = OAuthClient.AuthorizationRequest(
            url: request.url,
            state: request.state,
            nonce: request.nonce,
            proofKey: try #require(OAuthClient.ProofKey(verifier: request.proofKey.verifier)),
            redirectURI: request.redirectURI,
            issuer: request.issuer,
            requiresIssuer: request.requiresIssuer
        )
        let redirect = OAuthClient.AuthorizationRedirect(query: "code=c&state=\(request.state.reveal())")
        #expect(redirect.state == request.state && redirect.code == "c" && redirect.error == nil)
        let grant = try again.grant(for: redirect)
        #expect(grant.form["code_verifier"] == [request.proofKey.verifier] && grant.presents == .code)
    }

    @Test func hostileRedirectsAreRefused() throws {
        let request = try Self.request(try OAuthBench())
        let mutator = ByteMutator(seed: 13)
        let query = Array("code=c&state=\(request.state.reveal())&iss=https%3A%2F%2Fid.example.com".utf8)
        for _ in 0..<3000 {
            let text = String(decoding: mutator.mutate(query), as: UTF8.self)
            for redirect in [
                OAuthClient.AuthorizationRedirect(query: text), OAuthClient.AuthorizationRedirect(url: "/?\(text)"),
            ] {
                guard let grant = try? request.grant(for: redirect) else { continue }
                #expect(redirect.state == request.state && grant.form["code"].count == 1)
            }
        }
    }
}

@Suite("Forms")
struct FormFieldsTests {
    @Test(arguments: [
        ("", [:]), ("a=b", ["a": "b"]), ("a=b&c=d", ["a": "b", "c": "d"]), ("a", ["a": ""]), ("=b", ["": "b"]),
        ("a=b=c", ["a": "b=c"]), ("a=%C3%A9+%2B", ["a": "é +"]), ("a=%zz%4", ["a": "%zz%4"]), ("a=%", ["a": "%"]),
        ("&&a=1&&", ["a": "1"]), ("a=%FF", ["a": "\u{FFFD}"]), ("a=%+1", ["a": "% 1"]), ("a=%00", ["a": "\u{0}"]),
    ])
    func reading(text: String, fields: [String: String]) {
        let form = FormFields(parsing: text.utf8)
        #expect(Set(form.names) == Set(fields.keys))
        for (name, value) in fields { #expect(form[name] == [Secret(value)]) }
    }

    @Test func whatIsWrittenIsReadAgain() {
        let mutator = ByteMutator(seed: 17)
        for _ in 0..<2000 {
            let text = String(decoding: mutator.mutate("a b+c%20&d=e*f~é\u{1F600}".utf8), as: UTF8.self)
            var form: FormFields = ["x": text]
            form.add("y", secret: Secret(text))
            form.add("z", nil)
            let again = FormFields(parsing: form.encoded.utf8)
            #expect(again.names == ["x", "y"] && again["x"] == [Secret(text)] && again["y"] == [Secret(text)])
            #expect(form.encoded.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F })
        }
    }

    @Test func readingIsBounded() {
        #expect(FormFields(parsing: String(repeating: "a&", count: 1_000_000).utf8).names.count == 256)
        let long = FormFields(parsing: ("a=" + String(repeating: "x", count: 1_000_000)).utf8)
        #expect(long["a"].first?.reveal().utf8.count == 65_534)
    }

    @Test func aRedirectMayAnswerInItsFragment() {
        let refused = OAuthClient.AuthorizationRedirect(url: "app:/cb#error=access_denied&state=s")
        #expect(refused.error?.word == .accessDenied && refused.state?.reveal() == "s" && refused.code == nil)
        let both = OAuthClient.AuthorizationRedirect(url: "app:/cb?code=c&state=s#error=access_denied")
        #expect(both.code?.reveal() == "c" && both.error == nil)
        let page = OAuthClient.AuthorizationRedirect(url: "app:/cb?x=1#top")
        #expect(page.code == nil && page.error == nil)
    }
}
