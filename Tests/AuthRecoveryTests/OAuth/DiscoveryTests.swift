import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite("Discovery")
struct DiscoveryTests {
    private static let origin = "https://id.example.com"

    private static func document(_ issuer: String = origin, _ more: String = "") -> OAuthBench.Step {
        .status(200, [:], body: #"{"issuer":"\#(issuer)","token_endpoint":"https://t.example.com/token"\#(more)}"#)
    }

    private static func discover(
        _ issuer: String = origin,
        _ steps: [OAuthBench.Step]
    ) async throws -> (server: Result<OAuthServer, any Error>, paths: [String], bench: OAuthBench) {
        let bench = try OAuthBench(steps)
        let server: Result<OAuthServer, any Error>
        do {
            server = .success(
                try await bench.skippingWaits { try await OAuthServer.discover(issuer: issuer, using: bench.client) }
            )
        } catch {
            server = .failure(error)
        }
        return (server, bench.sent.map { String($0.dropLast()) }, bench)
    }

    @Test(arguments: [
        (
            origin, ["GET /.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server"]
        ),
        (
            "\(origin)/", ["GET /.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server"]
        ),
        (
            "\(origin)/a/b",
            [
                "GET /a/b/.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server/a/b",
                "GET /.well-known/openid-configuration/a/b", "GET /a/b/.well-known/oauth-authorization-server",
            ]
        ),
        (
            "\(origin)/a/",
            [
                "GET /a/.well-known/openid-configuration", "GET /.well-known/oauth-authorization-server/a",
                "GET /.well-known/openid-configuration/a", "GET /a/.well-known/oauth-authorization-server",
            ]
        ),
    ])
    func bothFormsAreAskedFor(issuer: String, paths: [String]) async throws {
        for count in 1...paths.count {
            let missing = (1..<count).map { number in
                number.isMultiple(of: 2)
                    ? OAuthBench.Step.status(200, [:], body: "<html>welcome</html>") : .status(404)
            }
            let (server, asked, bench) = try await Self.discover(issuer, missing + [Self.document(issuer)])
            #expect(try server.get()[.token] == "https://t.example.com/token")
            #expect(asked == Array(paths.prefix(count)))
            #expect(bench.transport.received.allSatisfy { $0.request.headerFields[.accept] == "application/json" })
        }
        let (none, asked, _) = try await Self.discover(issuer, paths.map { _ in .status(404) })
        #expect(asked == paths)
        let error = try #require(#expect(throws: RecoveryError.self) { try none.get() })
        #expect(error.kind == .notFound)
    }

    @Test(arguments: [
        "https://id.example.com/", "https://ID.example.com", "http://id.example.com", "https://id.example.com:443", "",
        "https://evil.example.com", "null",
    ])
    func theIssuerMustBeTheSameToTheLetter(stated: String) async throws {
        let (server, asked, _) = try await Self.discover(steps: [Self.document(stated), Self.document()])
        let error = try #require(#expect(throws: RecoveryError.self) { try server.get() })
        #expect(error.kind == .misconfigured && error.outcome.code == "issuer_mismatch" && asked.count == 1)
        #expect(error.outcome.parameter == "issuer")
    }

    private static func discover(
        steps: [OAuthBench.Step]
    ) async throws -> (server: Result<OAuthServer, any Error>, paths: [String], bench: OAuthBench) {
        try await discover(origin, steps)
    }

    @Test func allEndpointsAndTheRestAreRead() async throws {
        let more = #"""
            ,"authorization_endpoint":"https://id.example.com/authorize?x=1","userinfo_endpoint":7,
            "revocation_endpoint":"not a url","introspection_endpoint":"http://id.example.com/plain",
            "device_authorization_endpoint":"https://u:p@id.example.com/d","jwks_uri":"https://id.example.com/keys",
            "end_session_endpoint":null,"my_endpoint":"https://id.example.com/mine","scopes_supported":["a"]
            """#
        let server = try await Self.discover(steps: [Self.document(Self.origin, more)]).server.get()
        #expect(server.issuer == Self.origin)
        #expect(server[.authorization] == "https://id.example.com/authorize?x=1")
        #expect(server[.keys] == "https://id.example.com/keys")
        #expect(server[OAuthServer.Endpoint(rawValue: "my_endpoint")] == "https://id.example.com/mine")
        for endpoint in [.userInfo, .revocation, .introspection, .deviceAuthorization, .endSession]
            as [OAuthServer.Endpoint]
        {
            #expect(server[endpoint] == nil)
        }
        #expect(server.metadata["scopes_supported"] == ["a"])
    }

    @Test func withoutTLSItMayGoOnWithoutTLS() async throws {
        let body = #"{"issuer":"http://127.0.0.1:8080","token_endpoint":"http://127.0.0.1:8080/token"}"#
        let (server, _, _) = try await Self.discover("http://127.0.0.1:8080", [.status(200, [:], body: body)])
        #expect(try server.get()[.token] == "http://127.0.0.1:8080/token")
    }

    @Test(arguments: ["", "id.example.com", "https://id.example.com?x", "https://id.example.com/#f", "https://u@h"])
    func anIssuerThatIsNone(issuer: String) async throws {
        let (server, asked, _) = try await Self.discover(issuer, [])
        #expect(throws: Origin.InvalidURL.self) { try server.get() }
        #expect(asked.isEmpty)
    }

    @Test func anOutageSaysNothingAboutWhatThereIs() async throws {
        for step in [.status(503), .fail(.cannotConnect, .neverSent)] as [OAuthBench.Step] {
            let (server, asked, _) = try await Self.discover(steps: [step, step, step, Self.document()])
            #expect(throws: RecoveryError.self) { try server.get() }
            #expect(Set(asked).count == 1, "the same document, again and again")
        }
        let (server, asked, _) = try await Self.discover(steps: [.status(503), Self.document()])
        #expect(try server.get()[.token] != nil && asked.count == 2)
    }

    @Test func hostileDocumentsAreBounded() async throws {
        let mutator = ByteMutator(seed: 11)
        let text = Array(
            #"{"issuer":"https://id.example.com","token_endpoint":"https://t.example.com/token","jwks_uri":"https://k","x":[1]}"#
                .utf8
        )
        for _ in 0..<200 {
            let body = String(decoding: mutator.mutate(text), as: UTF8.self)
            let step = OAuthBench.Step.status(200, [:], body: body)
            let (server, _, _) = try await Self.discover(steps: [step, step])
            if case .success(let server) = server { #expect(server.issuer == Self.origin) }
        }
        let huge = #"{"issuer":"https://id.example.com","x":""# + String(repeating: "x", count: 17 << 20) + "\"}"
        let step = OAuthBench.Step.status(200, [:], body: huge)
        let (server, _, _) = try await Self.discover(steps: [step, step])
        #expect(throws: RecoveryError.self) { try server.get() }
        let many = (0..<1500).map { #","e\#($0)_endpoint":"https://h/""# }.joined()
        #expect(try await Self.discover(steps: [Self.document(Self.origin, many)]).server.get()[.token] != nil)
    }

    @Test func endpointsByHand() throws {
        let server = try OAuthServer(endpoints: [.token: "https://h/t", .revocation: "http://127.0.0.1:1/r?a=b"])
        #expect(server[.token] == "https://h/t" && server[.revocation] == "http://127.0.0.1:1/r?a=b")
        #expect(server.issuer == nil && server[.introspection] == nil)
        #expect(throws: Origin.InvalidURL.self) { try OAuthServer(endpoints: [.token: "h/t"]) }
    }
}
