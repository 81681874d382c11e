import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The examples of the article on OAuth, compiled and run.
@Suite struct OAuthDocumentationExamples {
    private static let metadata = """
        {"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/token",\
        "authorization_endpoint":"https://id.example.com/authorize",\
        "device_authorization_endpoint":"https://id.example.com/device"}
        """

    @Test func aServiceObtainsATokenAndKeepsIt() async throws {
        let transport = ScriptedTransport([.status(200, [:], body: Self.metadata), .tokens()])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let tokens = InMemoryTokenStore(Credentials(refreshToken: "R"))
        let secret: Secret = "s"

        let server = try await OAuthServer.discover(issuer: "https://id.example.com", using: client)
        let oauth = OAuthClient(
            server: server,
            clientID: "app",
            authentication: .clientSecretBasic(secret),
            client: client
        )

        let answer = try await oauth.tokens(.clientCredentials(scope: "orders.read"))
        try await tokens.update { $0 = answer.merged(into: $0) }

        #expect(await tokens.read().credentials.accessToken == "A2")
        #expect(await tokens.read().credentials.refreshToken == "R")
    }

    @Test func tokensThatStayFresh() async throws {
        let bench = try OAuthBench([.tokens()])
        let (oauth, store) = (bench.oauth, InMemoryTokenStore(Credentials(refreshToken: "R")))
        let transport = ScriptedTransport()

        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
        let api = RecoveringClient(transport: transport, runtime: .manual()) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }

        _ = try await api.send(HTTPRequest(url: "https://api.example.com/items"))
        #expect(transport.received.first?.request.headerFields[.authorization] == "Bearer A2")
    }

    /// Nothing is stored before; fifty calls that begin together have one token asked for.
    @Test func aServiceThatActsForItself() async throws {
        let bench = try OAuthBench([.tokens()])
        let (oauth, client, transport) = (bench.oauth, bench.client, ScriptedTransport())
        let tokens = TokenManager(
            store: SharedTokenStore(client.runtime.state, name: "orders"),
            renewer: ClientCredentialsGrant(client: oauth, scope: "orders.read")
        )
        let api = RecoveringClient(transport: transport, runtime: client.runtime) {
            Recovery { SessionRenewal(tokens) }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<50 {
                group.addTask { _ = try await api.send(HTTPRequest(url: "https://api.example.com/items")) }
            }
            try await group.waitForAll()
        }
        #expect(bench.transport.received.count == 1)
        #expect(Set(transport.received.map { $0.request.headerFields[.authorization] }) == ["Bearer A2"])
        #expect(transport.received.count == 50)
    }

    private struct Browser {
        let server: ScriptedTransport
        let opened = Locked("")

        /// The server ties the ID token that it will issue to the request.
        func open(_ url: String) {
            opened.withLock { $0 = url }
            let query = FormFields(parsing: url.drop { $0 != "?" }.dropFirst().utf8)
            let claims = #"{"nonce":"\#(query["nonce"].first?.reveal() ?? "")"}"#
            server.append([.tokens(#","id_token":"e30.\#(Base64.encodeForURL(claims.utf8)).s""#)])
        }

        func redirect() async -> String {
            let query = FormFields(parsing: opened.withLock { $0 }.drop { $0 != "?" }.dropFirst().utf8)
            return "http://127.0.0.1:8123/?code=c&state=\(query["state"].first?.reveal() ?? "")"
        }
    }

    @Test func aPersonWithABrowser() async throws {
        let bench = try OAuthBench()
        let (oauth, browser) = (bench.oauth, Browser(server: bench.transport))

        let request = try oauth.authorizationRequest(redirectURI: "http://127.0.0.1:8123/", scope: "openid orders.read")
        browser.open(request.url)
        let answer = try await oauth.tokens(for: request, redirectedTo: await browser.redirect())

        #expect(answer.accessToken == "A2")
    }

    @Test func aPersonWithAnotherDevice() async throws {
        let begun = #"{"device_code":"D","user_code":"U","verification_uri":"https://id.example.com/d"}"#
        let bench = try OAuthBench([.status(200, [:], body: begun), .oauth("authorization_pending"), .tokens()])
        let oauth = bench.oauth
        let answer = try await bench.skippingWaits {
            let device = try await oauth.authorizeDevice(scope: "orders.read")
            print("Enter \(device.userCode) at \(device.verificationURI)")
            let answer = try await oauth.tokens(for: device)
            return answer
        }
        #expect(answer.accessToken == "A2")
    }

    struct SignedAssertion: ClientAuthentication {
        let sign: @Sendable (_ audience: String, _ subject: String, _ time: Timestamp) async throws -> Secret

        func authenticate(_ attempt: inout OAuthClient.Attempt) async throws {
            let audience = attempt.server.issuer ?? attempt.url
            let assertion = try await sign(audience, attempt.clientID, attempt.wallTime)
            attempt.form.add("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            attempt.form.add("client_assertion", secret: assertion)
        }
    }

    @Test func aProofOfOnesOwn() async throws {
        let proof = SignedAssertion { audience, subject, _ in Secret("\(subject) for \(audience)") }
        let bench = try OAuthBench([.tokens()], authentication: proof)
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(bench.sent.first?.hasSuffix("&client_assertion=app+for+https%3A%2F%2Fid.example.com") == true)
    }

    private struct SignInNeeded: Error {}

    private struct SetupIsWrong: Error {
        init(_ message: String?) {}
    }

    private func refresh(_ oauth: OAuthClient, _ token: Secret) async throws -> OAuthClient.TokenAnswer {
        do {
            return try await oauth.tokens(.refreshToken(token))
        } catch let error as RecoveryError {
            switch error.oauth?.word {
            case .invalidGrant: throw SignInNeeded()
            case .invalidClient, .unauthorizedClient: throw SetupIsWrong(error.outcome.message)
            default: throw error
            }
        }
    }

    @Test func refusals() async throws {
        let bench = try OAuthBench([.oauth("invalid_grant"), .oauth("invalid_client", status: 401), .status(500)])
        await #expect(throws: SignInNeeded.self) { try await refresh(bench.oauth, "r") }
        await #expect(throws: SetupIsWrong.self) { try await refresh(bench.oauth, "r") }
        await #expect(throws: RecoveryError.self) { try await refresh(bench.oauth, "r") }
    }
}
