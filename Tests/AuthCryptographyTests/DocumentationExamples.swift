#if Cryptography
import AuthCryptography
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// The examples of the module's page, compiled and run.
@Suite struct DocumentationExamples {
    @Test func encryptionAtRest() async throws {
        let directory = TemporaryDirectory()
        let path = directory.file("tokens.json")
        let keyPath = directory.file("key")
        TemporaryDirectory.write(SealingKey.generate().text.reveal(), to: directory.file("key"))

        let sealing = AESGCMSealing(try SealingKey(file: keyPath))
        let tokens = FileTokenStore(path: path, identity: "alice", sealing: sealing)

        try await tokens.update { $0.accessToken = "A" }
        let (newKey, oldKey) = (SealingKey.generate(), try SealingKey(file: keyPath))

        let rotated = FileTokenStore(
            path: path,
            identity: "alice",
            sealing: AESGCMSealing(newKey, older: [oldKey])
        )
        let present = try await rotated.read()
        _ = try await rotated.replace(version: present.version, with: present.credentials)

        let last = FileTokenStore(path: path, identity: "alice", sealing: AESGCMSealing(newKey))
        #expect(try await last.read().credentials.accessToken == "A")
        await #expect(throws: Credentials.StoreError.self) { try await tokens.read() }
    }

    @Test func aClientThatProvesItselfWithAKey() async throws {
        let transport = ScriptedTransport([OAuthServerBench.tokens])
        let client = RecoveringClient(transport: transport, runtime: .manual())
        let server = try OAuthServer(endpoints: [.token: "https://id.example.com/token"])
        let pem = KeyFixture.p256.pem

        let oauth = OAuthClient(
            server: server,
            clientID: "billing",
            authentication: PrivateKeyJWT(try SigningKey(pem: pem), keyID: "2030-01"),
            client: client
        )

        _ = try await oauth.tokens(.clientCredentials())
        #expect(transport.received.first?.text.contains("client_assertion=") == true)
    }

    @Test func tokensThatAreBoundToAKey() async throws {
        let transport = ScriptedTransport([OAuthServerBench.wantsNonce("1"), OAuthServerBench.tokens, .status(200)])
        let store = InMemoryTokenStore(Credentials(refreshToken: "R1"))
        let server = try OAuthServer(endpoints: [.token: "https://id.example.com/token"])
        let (issuer, api) = (OAuthServerBench.origin, OAuthServerBench.api)
        let keptKey = DPoPProver().pem

        let prover = try DPoPProver(pem: keptKey)
        let nonces = DPoPAuthorization.Nonces()
        let oauth = OAuthClient(
            server: server,
            clientID: "app",
            client: RecoveringClient(transport: transport) {
                Recovery {
                    DPoPAuthorization.NonceRetry()
                    RateLimitBackoff()
                    TransientRetry()
                }
            },
            attemptLayers: [DPoPAuthorization(prover: prover, nonces: nonces, audience: [issuer])]
        )
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: oauth))
        let client = RecoveringClient(transport: transport) {
            Recovery {
                DPoPAuthorization.NonceRetry()
                RateLimitBackoff()
                SessionRenewal(tokens)
                TransientRetry()
            }
            DPoPAuthorization(tokens, prover: prover, nonces: nonces, audience: [api])
        }

        _ = try await client.send(HTTPRequest(url: "https://api.example.com/orders"))
        #expect(transport.received.last?.request.headerFields[.authorization] == "DPoP A")
    }

    /// Compiled alone: the keys are in files and variables that are not here.
    private func keys(_ server: OAuthServer, _ client: RecoveringClient, path: String) throws -> [Any] {
        let oauth = OAuthClient(
            server: server,
            clientID: "app",
            authentication: PrivateKeyJWT(try SigningKey(file: "/etc/app/client.pem"), keyID: "2030-01"),
            client: client
        )
        let key = try SigningKey(file: "/etc/app/client.pem")
        let sealing = AESGCMSealing(try SealingKey(environment: "APP_SEALING_KEY"))
        let tokens = FileTokenStore(path: path, identity: "alice", sealing: sealing)
        return [oauth, key, tokens]
    }

    @Test func aKeyThatIsKept() throws {
        let prover = DPoPProver()
        let kept: Secret = prover.pem  // where secrets are kept
        let later = try DPoPProver(pem: kept)
        #expect(later.pem == kept)
    }
}
#endif
