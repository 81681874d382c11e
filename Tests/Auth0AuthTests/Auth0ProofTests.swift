#if Cryptography
import AuthCryptography
import AuthRecovery
import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import Auth0Auth

/// What is proved by signatures: the tenant's of its ID tokens, and the app's of who it is.
@Suite("Auth0: signatures", .timeLimit(.minutes(10)))
struct Auth0ProofTests {
    private static let verifying = Auth0Configuration(
        clientID: "cli",
        signatures: JSONWebKey.Verifier(),
        redirectURI: "http://127.0.0.1:8123/callback"
    )

    /// The tenant's keys are fetched for the first token, and not again.
    @Test func anIDTokenIsVerifiedWithTheTenantsKeys() async throws {
        try await Auth0SandboxTests.run(configuration: Self.verifying) { line in
            for _ in 0..<2 {
                let session = try await line.signIn()
                #expect(session.identity?.header["alg"]?.string == "RS256")
            }
            #expect(line.sandbox.requests().filter { $0.path.hasSuffix("/jwks.json") }.count == 1)
        }
    }

    /// What none of the keys has signed signs nobody in; the keys are asked for once more before that is said.
    @Test(arguments: ["another key", "a secret"])
    func whatTheKeysHaveNotSignedIsRefused(by signature: String) async throws {
        try await Auth0SandboxTests.run(configuration: Self.verifying) { line in
            _ = try await line.signIn()
            let before = try await line.auth0.tokens.store.read().credentials
            line.sandbox.updateSettings { settings in
                if signature == "a secret" { settings.auth0.idTokenAlgorithm = "HS256" }
                settings.auth0.hidesKey = signature != "a secret"
            }
            // Another process, which knows no keys.
            var fresh = line.auth0
            fresh = try Auth0(
                tenant: line.sandbox.url + "/auth0",
                client: fresh.client,
                tokens: fresh.tokens.store,
                configuration: Self.verifying
            )
            let error = await #expect(throws: RecoveryError.self) {
                try await fresh.signIn(
                    identifier: Auth0SandboxTests.name,
                    password: "right",
                    answering: Answers()
                )
            }
            #expect(error?.outcome.code == "signature_mismatch" && error?.kind == .invalidRequest)
            #expect(try await line.auth0.tokens.store.read().credentials == before)
        }
    }

    /// A renewal brings an ID token too, and it is believed no sooner than the first one.
    @Test(arguments: ["another key", "a secret"])
    func aRenewedIDTokenIsVerifiedToo(by signature: String) async throws {
        try await Auth0SandboxTests.run(configuration: Self.verifying) { line in
            _ = try await line.signIn()
            #expect(try await line.auth0.refresh().identity?.header["alg"]?.string == "RS256")
            let before = try await line.auth0.tokens.store.read().credentials
            line.sandbox.updateSettings { settings in
                if signature == "a secret" { settings.auth0.idTokenAlgorithm = "HS256" }
                settings.auth0.hidesKey = signature != "a secret"
            }
            // Within the same second it would be the same token, which is verified already.
            line.sandbox.advanceClock(by: .seconds(2))
            // Another process, which knows no keys.
            let fresh = try Auth0(
                tenant: line.sandbox.url + "/auth0",
                client: line.auth0.client,
                tokens: line.auth0.tokens.store,
                configuration: Self.verifying
            )
            let error = await #expect(throws: RecoveryError.self) { try await fresh.refresh() }
            #expect(error?.outcome.code == "signature_mismatch" && error?.kind == .invalidRequest)
            let after = try await line.auth0.tokens.store.read().credentials
            #expect(after.idToken == before.idToken && after.accessToken == before.accessToken)
        }
    }

    /// From the password over a factor and a renewal to the profile all tokens are bound to one key, and the tenant's nonce
    /// costs one refusal.
    @Test func tokensAreBoundToAKey() async throws {
        var settings = SandboxAuth0Settings()
        settings.dpop = "required"
        let configuration = Auth0Configuration(clientID: "cli", dpop: DPoPAuthorization.Binding(DPoPProver()))
        let person = Auth0SandboxTests.user(factors: ["sms"])
        try await Auth0SandboxTests.run(person, settings: settings, configuration: configuration) { line in
            _ = try await line.clock.skippingWaits {
                try await line.auth0.signIn(
                    identifier: Auth0SandboxTests.name,
                    password: "right",
                    answering: Mailbox(line.sandbox, "+12015550100")
                )
            }
            #expect(try await line.auth0.tokens.store.read().credentials.tokenType == "DPoP")
            #expect(try await line.auth0.session()?.email == Auth0SandboxTests.name)
            _ = try await line.auth0.refresh()
            #expect(try await line.auth0.session()?.email == Auth0SandboxTests.name)
            // The nonce was refused once, and the password went out once for it.
            #expect(line.sandbox.requests().filter { $0.path == "/auth0/oauth/token" && $0.status == 400 }.count == 1)
            #expect(line.sandbox.auth0Presentations.values.allSatisfy { $0 == 1 })
            // Who has stolen the tokens, and not the key, has nothing.
            let held = try await line.auth0.tokens.store.read().credentials
            let thief = try Auth0(
                tenant: line.sandbox.url + "/auth0",
                client: line.auth0.client,
                tokens: InMemoryTokenStore(held),
                configuration: Auth0Configuration(clientID: "cli", dpop: DPoPAuthorization.Binding(DPoPProver()))
            )
            await #expect(throws: RecoveryError.self) { try await thief.refresh() }
            #expect(try await line.auth0.session() != nil)
        }
        // Without proofs there are no tokens.
        try await Auth0SandboxTests.run(settings: settings) { line in
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
            #expect(error?.outcome.code == "invalid_dpop_proof")
        }
    }

    /// An app without a secret proves itself with an assertion at each call, which is used once.
    @Test func anAppIsKnownByItsKey() async throws {
        var settings = SandboxAuth0Settings()
        settings.clientAuthentication = "private_key_jwt"
        let configuration = Auth0Configuration(
            clientID: "cli",
            authentication: PrivateKeyJWT(SigningKey.generate(), keyID: "k1", audience: .issuer)
        )
        let person = Auth0SandboxTests.user(factors: ["sms"])
        try await Auth0SandboxTests.run(person, settings: settings, configuration: configuration) { line in
            _ = try await line.clock.skippingWaits {
                try await line.auth0.signIn(
                    identifier: Auth0SandboxTests.name,
                    password: "right",
                    answering: Mailbox(line.sandbox, "+12015550100")
                )
            }
            _ = try await line.auth0.refresh()
            try await line.auth0.signOut()
            let assertions = line.sandbox.auth0Presentations.filter { $0.key.hasPrefix("client_assertion") }
            // Password, challenge, factor, renewal and revocation.
            #expect(assertions.count == 5 && assertions.values.allSatisfy { $0 == 1 })
        }
        // By a secret it is not known there.
        let other = Auth0Configuration(clientID: "cli", clientSecret: "s")
        try await Auth0SandboxTests.run(settings: settings, configuration: other) { line in
            let error = await #expect(throws: RecoveryError.self) { try await line.signIn() }
            #expect(error?.kind == .misconfigured && error?.outcome.code == "invalid_client")
        }
    }
}
#endif
