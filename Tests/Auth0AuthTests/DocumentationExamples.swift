import Auth0Auth
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

#if Cryptography
import AuthCryptography
#endif

/// The examples of the article, compiled and, where a tenant can be scripted, run.
@Suite struct DocumentationExamples {
    private struct Request: Sendable {
        var remoteAddress: String
    }

    private static func client(_ steps: [ScriptedTransport.Step]) -> (RecoveringClient, ScriptedTransport) {
        let transport = ScriptedTransport(steps, then: .status(418))
        return (RecoveringClient(transport: transport, runtime: .manual()), transport)
    }

    private static func signedOut(_ steps: [ScriptedTransport.Step]) throws -> (Auth0, ScriptedTransport) {
        let (client, transport) = client(steps)
        let auth0 = try Auth0(
            tenant: "https://example.eu.auth0.com",
            client: client,
            tokens: InMemoryTokenStore(),
            configuration: Auth0Configuration(clientID: "abc")
        )
        return (auth0, transport)
    }

    @Test func signingIn() async throws {
        let (client, transport) = Self.client([.tokens(), .json(#"{"sub":"auth0|1"}"#), .status(200)])
        let directory = TemporaryDirectory()
        let (path, email, password, prompts) = (
            directory.file("tokens"), "ada@example.com", Secret("hunter2"), Answers()
        )

        let auth0 = try Auth0(
            tenant: "https://example.eu.auth0.com",
            client: client,
            tokens: FileTokenStore(path: path),
            configuration: Auth0Configuration(clientID: "abc")
        )
        let session = try await auth0.signIn(identifier: email, password: password, answering: prompts)
        let profile = try await auth0.send(path: "/userinfo")
        try await auth0.signOut()

        #expect(session.expiresAt != nil)
        #expect(profile.status == .ok)
        #expect(transport.received.map(\.request.path) == ["/oauth/token", "/userinfo", "/oauth/revoke"])
    }

    @Test func whatCanBeManaged() async throws {
        let (auth0, transport) = try Self.signedOut([.tokens(), .error("access_denied", "not enabled")])
        let (email, password, prompts) = ("ada@example.com", Secret("hunter2"), Answers())
        let error = await #expect(throws: RecoveryError.self) {
            let account = auth0.managingFactors()
            _ = try await account.signIn(identifier: email, password: password, answering: prompts)
            try await account.enroll(.app, answering: prompts)
            for authenticator in try await account.authenticators() where authenticator.factor.key == .phoneCode {
                try await account.removeAuthenticator(authenticator.id)
            }
        }
        #expect(error?.response?.status == .forbidden)
        #expect(transport.received.count == 2)
    }

    /// They ask people and servers that are not here: it is enough that they compile.
    private func otherWays(_ auth0: Auth0, _ email: String, _ prompts: Answers) async throws {
        _ = try await auth0.signIn(.passwordless(.emailCode, to: email), answering: prompts)
        _ = try await auth0.signIn(.browser(), answering: prompts)
        _ = try await auth0.signIn(.device, answering: prompts)
    }

    private func onBehalf(of request: Request, _ auth0: Auth0, _ name: String, _ password: Secret) async throws {
        let asked = auth0.acting(forAddress: request.remoteAddress)
        var flow = asked.signInFlow(.identifier(name, password: password))
        _ = try await flow.run(answering: Answers())
    }

    #if Cryptography
    @Test func provingWhoAsks() {
        let key = SigningKey.generate()

        let configuration = Auth0Configuration(
            clientID: "abc",
            authentication: PrivateKeyJWT(key, audience: .issuer),
            signatures: JSONWebKey.Verifier(),
            dpop: DPoPAuthorization.Binding(DPoPProver())
        )

        #expect(configuration.clientID == "abc")
    }
    #endif
}
