#if Cryptography
import AuthCryptography
import AuthRecovery
import Crypto
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Tokens that are bound to a key, from the token endpoint to the resource, with real signatures.
@Suite struct DPoPTests {
    private typealias Bench = OAuthServerBench

    /// RFC 9449 section 4.3: what a server checks of a proof by itself.
    private func check(_ proof: ParsedJWT?, key: DPoPProver, _ method: String, _ url: String) throws {
        let proof = try #require(proof)
        #expect(proof.header["typ"] == "dpop+jwt")
        #expect(proof.header["alg"] == "ES256")
        let key = try #require(proof.header["jwk"])
        #expect(key["d"] == nil, "no private part")
        #expect(key.members?.map(\.key) == ["kty", "crv", "x", "y"])
        #expect(try proof.isSigned(by: key))
        #expect(proof.claims["htm"]?.string == method)
        #expect(proof.claims["htu"]?.string == url)
        #expect(proof.claims["iat"]?.number?.text == "1893456000")
    }

    @Test func aRefreshTokenStaysBoundAcrossProcesses() async throws {
        let kept = DPoPProver().pem
        let prover = try DPoPProver(pem: kept)
        #expect(try DPoPProver(pem: kept).thumbprint == prover.thumbprint)
        #expect(try DPoPProver(p256: try #require(prover.revealP256())).publicKey == prover.publicKey)
        #expect(throws: SigningKeyError.self) { try DPoPProver(pem: "s3cret") }
    }

    @Test func fromTheRenewalToTheResource() async throws {
        let prover = DPoPProver()
        let nonces = DPoPAuthorization.Nonces()
        let bench = try Bench(
            [
                // The access token has expired: it is renewed first.
                Bench.wantsNonce("as-1"), Bench.tokens,
                .status(401, ["www-authenticate": "DPoP error=\"use_dpop_nonce\"", "dpop-nonce": "rs-1"]),
                .status(200, ["dpop-nonce": "rs-2"], body: "it"),
            ],
            authentication: PrivateKeyJWT(.generate()),
            attemptLayers: [DPoPAuthorization(prover: prover, nonces: nonces, audience: [Bench.origin])]
        )
        let store = InMemoryTokenStore(
            Credentials(refreshToken: "R1", expiresAt: Timestamp(secondsSinceEpoch: 1), tokenType: "DPoP")
        )
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: bench.oauth))
        let client = RecoveringClient(transport: bench.transport, runtime: bench.client.runtime) {
            Recovery {
                DPoPAuthorization.NonceRetry()
                SessionRenewal(tokens)
            }
            DPoPAuthorization(tokens, prover: prover, nonces: nonces, audience: [Bench.api])
        }
        let response = try await client.send(HTTPRequest(url: "https://api.example.com/orders?id=1"))
        #expect(response.status == .ok)

        let proofs = bench.proofs
        #expect(proofs.count == 4)
        for proof in proofs.prefix(2) { try check(proof, key: prover, "POST", "https://id.example.com/token") }
        for proof in proofs.suffix(2) { try check(proof, key: prover, "GET", "https://api.example.com/orders") }
        #expect(proofs.map { $0?.claims["nonce"]?.string } == [nil, "as-1", nil, "rs-1"])
        #expect(Set(proofs.map { $0?.claims["jti"]?.string }).count == 4)
        let hash = Base64.encodeForURL(Array(Crypto.SHA256.hash(data: Array("A".utf8))))
        #expect(proofs.map { $0?.claims["ath"]?.string } == [nil, nil, hash, hash])
        for proof in proofs { #expect(JSONWebKey(proof?.header["jwk"] ?? nil).thumbprint == prover.thumbprint) }

        #expect(Set(bench.assertions.prefix(2).map { $0?.claims["jti"]?.string }).count == 2, "a fresh one each")
        #expect(bench.forms.prefix(2).map { $0["refresh_token"] } == ["R1", "R1"], "a nonce spends no refresh token")
        let presented = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(presented == [nil, nil, "DPoP A", "DPoP A"])
        #expect(nonces[Bench.origin] == "as-1")
        #expect(nonces[Bench.api] == "rs-2")
        let stored = await store.read().credentials
        #expect(stored.tokenType == "DPoP")
        #expect(stored.refreshToken == "R2")
    }

    @Test func aTokenEndpointThatAsksForeverIsAskedTwice() async throws {
        let bench = try Bench(
            [Bench.wantsNonce("1"), Bench.wantsNonce("2"), Bench.wantsNonce("3")],
            authentication: .none,
            attemptLayers: [DPoPAuthorization(prover: DPoPProver(), audience: [Bench.origin])]
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.oauth.tokens(.refreshToken("R1")) }
        #expect(error?.kind == .nonceRequired)
        #expect(error?.reason == .alreadyRepaired)
        #expect(bench.transport.received.count == 2)
    }

    @Test func aNonceAndARenewalAreOneRepairEach() async throws {
        let prover = DPoPProver()
        let bench = try Bench(
            [
                .status(401, ["www-authenticate": "DPoP error=\"use_dpop_nonce\"", "dpop-nonce": "1"]),
                .status(401, ["www-authenticate": "DPoP error=\"invalid_token\"", "dpop-nonce": "2"]),
                Bench.tokens, .status(200),
            ],
            authentication: .none,
            attemptLayers: [DPoPAuthorization(prover: prover, audience: [Bench.origin])]
        )
        let store = InMemoryTokenStore(Credentials(accessToken: "old", refreshToken: "R1", tokenType: "DPoP"))
        let tokens = TokenManager(store: store, renewer: RefreshTokenGrant(client: bench.oauth))
        let client = RecoveringClient(transport: bench.transport, runtime: bench.client.runtime) {
            Recovery {
                DPoPAuthorization.NonceRetry()
                SessionRenewal(tokens)
            }
            DPoPAuthorization(tokens, prover: prover, audience: [Bench.api])
        }
        _ = try await client.send(HTTPRequest(url: "https://api.example.com/orders"))
        let presented = bench.transport.received.map { $0.request.headerFields[.authorization] }
        #expect(presented == ["DPoP old", "DPoP old", nil, "DPoP A"])
        #expect(bench.proofs.map { $0?.claims["nonce"]?.string } == [nil, "1", nil, "2"])
    }

    @Test func aServerThatAnswersWithABearerTokenHasNotBoundIt() async throws {
        let bearer = ScriptedTransport.Step.status(200, body: #"{"access_token":"A","token_type":"Bearer"}"#)
        let bench = try Bench([bearer], authentication: .none)
        let answer = try await bench.oauth.tokens(.refreshToken("R1"))
        let bound = Credentials(accessToken: "old", refreshToken: "R1", tokenType: "DPoP")
        #expect(answer.merged(into: bound).tokenType == "Bearer")
        #expect(answer.merged(into: Credentials(refreshToken: "R1")).tokenType == nil, "what no type means")
        let store = InMemoryTokenStore(answer.merged(into: bound))
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport, runtime: .manual()) {
            DPoPAuthorization(store, prover: DPoPProver(), audience: [Bench.api])
        }
        let error = await #expect(throws: RecoveryError.self) {
            try await client.send(HTTPRequest(url: "https://api.example.com/orders"))
        }
        #expect(error?.cause as? DPoPAuthorization.BindingError == .notBound)
        #expect(transport.received.isEmpty)
    }

    @Test func aRedirectToAnotherOriginTakesNeitherTokenNorProof() async throws {
        let transport = ScriptedTransport([.status(307, ["location": "https://evil.example.com/orders"]), .status(200)])
        let store = InMemoryTokenStore(Credentials(accessToken: "A", tokenType: "DPoP"))
        let client = RecoveringClient(transport: transport, runtime: .manual()) {
            Redirects()
            Recovery { DPoPAuthorization.NonceRetry() }
            DPoPAuthorization(store, prover: DPoPProver(), audience: [Bench.api])
        }
        _ = try await client.send(HTTPRequest(url: "https://api.example.com/orders"))
        let last = try #require(transport.received.last?.request)
        #expect(transport.received.count == 2)
        #expect(last.authority == "evil.example.com")
        #expect(last.headerFields[.dpop] == nil)
        #expect(last.headerFields[.authorization] == nil)
    }
}
#endif
