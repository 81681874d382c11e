import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What comments show: run where it asks nobody, else compiled alone.
@Suite struct CommentExamples {
    private typealias VendorClassifier = HTTPClassifier

    private let client = RecoveringClient(transport: ScriptedTransport())

    @Test func aClassifierThatIsAdjusted() {
        let classifier = AdjustedClassifier(VendorClassifier()) { outcome, _ in
            if outcome.kind == .challengePending { outcome.kind = .continue }
        }
        #expect(classifier.classify(.scripted(503)).kind == .unavailable)
    }

    @Test func aBaseWithAPath() throws {
        let base = try ServiceURL("https://id.example.com/am/json", without: "/json")
        let request = base.request(.get, path: "/serverinfo")  // https://id.example.com/am/serverinfo
        #expect(request.authority == "id.example.com" && request.path == "/am/serverinfo")
    }

    @Test func aStoreInTheState() {
        let tokens = SharedTokenStore(client.runtime.state, name: "billing-service")
        #expect(tokens.identity == "billing-service")
    }

    @Test func layersOfSettings() {
        let (transport, tokens, settings) = (
            ScriptedTransport(), InMemoryTokenStore(), RecoveringClient.Settings.standard
        )
        let api = Origin(scheme: "https", authority: "api.example.com")
        let client = RecoveringClient(transport: transport) {
            settings.layers { SessionRenewal(tokens) }
            Authorization(tokens, audience: [api])
        }
        #expect("\(client)".contains("policies: SessionRenewal, "))
    }

    @Test func whatTheWordOfAnErrorCallsFor() throws {
        var asked: [String] = []
        func signInAgain() { asked.append("sign in") }
        func reportConfiguration() { asked.append("report") }
        func act(on error: RecoveryError) throws {
            switch error.oauth?.word {
            case .invalidGrant: signInAgain()
            case .invalidClient: reportConfiguration()
            default: throw error
            }
        }
        #expect(throws: RecoveryError.self) {
            try act(on: RecoveryError(outcome: Outcome(.notFound), reason: .notRecoverable))
        }
        #expect(asked.isEmpty)
    }

    private func servers() async throws -> [OAuthServer] {
        let server = try OAuthServer(endpoints: [.token: "https://id.example.com/token"])
        let other = try await OAuthServer.discover(issuer: "https://id.example.com", using: client)
        return [server, other]
    }

    private func tokens(_ secret: Secret) async throws -> OAuthClient.TokenAnswer {
        let oauth = OAuthClient(
            server: try await OAuthServer.discover(issuer: "https://id.example.com", using: client),
            clientID: "app",
            authentication: .clientSecretBasic(secret),
            client: client
        )
        let answer = try await oauth.tokens(.clientCredentials(scope: "orders.read"))
        return answer
    }

    private func inABrowser(
        _ oauth: OAuthClient,
        open: (String) -> Void,
        redirect: () async -> String
    ) async throws -> OAuthClient.TokenAnswer {
        let request = try oauth.authorizationRequest(redirectURI: "http://127.0.0.1:8123/", scope: "openid")
        open(request.url)
        let answer = try await oauth.tokens(for: request, redirectedTo: await redirect())
        return answer
    }

    private func renewing(_ store: any TokenStore, _ oauth: OAuthClient, _ transport: any HTTPTransport) {
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
        let api = RecoveringClient(transport: transport) {
            Recovery {
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            Authorization(tokens, audience: [Origin(scheme: "https", authority: "api.example.com")])
        }
        print(api)
    }

    private func proving(
        _ tokens: TokenManager,
        _ prover: any DPoPAuthorization.Prover,
        _ transport: any HTTPTransport,
        _ api: Origin
    ) {
        let nonces = DPoPAuthorization.Nonces()
        let client = RecoveringClient(transport: transport) {
            Recovery {
                DPoPAuthorization.NonceRetry()
                SessionRenewal(tokens)
                TransientRetry()
            }
            DPoPAuthorization(tokens, prover: prover, nonces: nonces, audience: [api])
        }
        print(client)
    }
}

func export(from provider: some AuthProvider, for name: String, asking person: some ChallengeResponder) async throws {
    if try await provider.session() == nil {
        _ = try await provider.signIn(identifier: name, answering: person)
    }
    print(try await provider.send(path: "/me", answering: person).status)
}
