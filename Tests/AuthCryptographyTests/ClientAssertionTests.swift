#if Cryptography
import AuthCryptography
import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct ClientAssertionTests {
    private typealias Bench = OAuthServerBench

    @Test(arguments: [
        (KeyFixture.p256, SignatureAlgorithm.es256), (.rsa, .rs256), (.rsa, .ps256), (.ed25519, .edDSA),
    ])
    func aPrivateKeySignsWhatTheServerVerifies(fixture: KeyFixture, algorithm: SignatureAlgorithm) async throws {
        let key = try SigningKey(pem: fixture.pem, algorithm: algorithm)
        let bench = try Bench([Bench.tokens], authentication: PrivateKeyJWT(key, keyID: "k1"))
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(
            bench.forms[0]["client_assertion_type"]
                == "urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"
        )
        #expect(bench.forms[0]["client_id"] == "app")
        let jwt = try #require(bench.assertions[0])
        let header: JSONValue = ["alg": .string(algorithm.rawValue), "typ": "JWT", "kid": "k1"]
        #expect(jwt.header == header)
        #expect(try jwt.isSigned(by: key.publicKey.json))
        let claims: JSONValue = [
            "iss": "app", "sub": "app", "aud": "https://id.example.com/token", "jti": "kQot7IkCXMG-642hZY7sZw",
            "iat": 1_893_456_000, "exp": 1_893_456_060,
        ]
        #expect(jwt.claims == claims)
        let other = fixture == .p256 ? SigningKey.generate() : try SigningKey(pem: KeyFixture.p256.pem)
        #expect((try? jwt.isSigned(by: other.publicKey.json)) != true, "the check can fail")
    }

    /// Computed apart from this library: seed, claims and the keyed hash.
    @Test func aSecretSignsToTheLastByte() async throws {
        let bench = try Bench(
            [Bench.tokens],
            authentication: ClientSecretJWT("a secret of more than 32 bytes, really")
        )
        _ = try await bench.oauth.tokens(.clientCredentials())
        #expect(
            bench.forms[0]["client_assertion"]
                == "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJhcHAiLCJzdWIiOiJhcHAiLCJhdWQiOiJodHRwczovL2lkLmV4YW1wb"
                + "GUuY29tL3Rva2VuIiwianRpIjoia1FvdDdJa0NYTUctNjQyaFpZN3NadyIsImlhdCI6MTg5MzQ1NjAwMCwiZXhwIjoxODkzNDU2MD"
                + "YwfQ.DPgPaKbqhlxn3ii8b3aECnVOwhAzK-wX1y8G3iIlYzw"
        )
        #expect(!bench.transport.received[0].text.contains("really"), "the secret stays here")
        #expect(try #require(bench.assertions[0]).isSigned(with: "a secret of more than 32 bytes, really"))
    }

    @Test(arguments: [true, false])
    func anAssertionThatIsHeldUpUntilItExpiresIsMadeAnew(isSecret: Bool) async throws {
        let lifetime = Duration.seconds(10)
        let authentication: any ClientAuthentication =
            isSecret
            ? ClientSecretJWT("a secret of more than 32 bytes, really", lifetime: lifetime)
            : PrivateKeyJWT(SigningKey.generate(), lifetime: lifetime)
        let bench = try Bench(
            [Bench.tokens],
            authentication: authentication,
            holdUp: { clock, number in if number == 1 { clock.advance(by: lifetime) } }
        )
        _ = try await bench.skippingWaits { try await bench.oauth.tokens(.refreshToken("R1")) }
        #expect(bench.assertions.count == 1, "the expired one never left")
        let claims = try #require(bench.assertions[0]).claims
        #expect(try #require(claims["exp"]?.number?.seconds) > .seconds(1_893_456_010))
    }

    @Test func eachAttemptHasAnAssertionOfItsOwn() async throws {
        let key = SigningKey.generate()
        let bench = try Bench(
            [.status(503, ["retry-after": "2"]), .status(429, ["retry-after": "5"]), Bench.tokens],
            authentication: PrivateKeyJWT(key)
        )
        _ = try await bench.skippingWaits { try await bench.oauth.tokens(.refreshToken("R1")) }
        let assertions = bench.assertions.compactMap(\.self)
        #expect(assertions.count == 3)
        #expect(Set(assertions.map { $0.claims["jti"] }).count == 3)
        let times = assertions.compactMap { $0.claims["iat"]?.number?.saturatedInt }
        #expect(times[0] == 1_893_456_000 && times[1] >= times[0] + 2 && times[2] >= times[1] + 5)
        for jwt in assertions { #expect(try jwt.isSigned(by: key.publicKey.json)) }
        #expect(assertions[0].header["kid"] == nil)
    }

    @Test func theAudienceIsAsTheServerWantsIt() async throws {
        let cases: [(AssertionAudience, String)] = [
            (.tokenEndpoint, "https://id.example.com/token"), (.issuer, "https://id.example.com"), (.other("x"), "x"),
        ]
        for (audience, text) in cases {
            let bench = try Bench(
                [.status(200)],
                authentication: PrivateKeyJWT(.generate(), audience: audience)
            )
            try await bench.oauth.revoke("T")
            #expect(bench.assertions[0]?.claims["aud"]?.string == text)
        }
    }

    @Test func withoutAnIssuerOrASecretNothingIsSent() async throws {
        let cases: [(any ClientAuthentication, ClientAssertionError)] = [
            (PrivateKeyJWT(.generate(), audience: .issuer), .unknownIssuer),
            (ClientSecretJWT("x", audience: .issuer), .unknownIssuer), (ClientSecretJWT(""), .emptySecret),
        ]
        for (authentication, cause) in cases {
            let bench = try Bench([Bench.tokens], authentication: authentication, issuer: nil)
            let error = await #expect(throws: RecoveryError.self) {
                try await bench.oauth.tokens(.clientCredentials())
            }
            #expect(error?.kind == .misconfigured)
            #expect(error?.cause as? ClientAssertionError == cause)
            #expect(bench.transport.received.isEmpty)
        }
    }

    @Test(arguments: [(Duration.seconds(-5), 1), (.zero, 1), (.seconds(30), 30), (.seconds(86_400), 60)])
    func anAssertionLivesAMinuteAtMost(asked: Duration, seconds: Int) async throws {
        let bench = try Bench([Bench.tokens], authentication: PrivateKeyJWT(.generate(), lifetime: asked))
        _ = try await bench.oauth.tokens(.clientCredentials())
        let claims = try #require(bench.assertions[0]).claims
        let (start, end) = (claims["iat"]?.number?.saturatedInt, claims["exp"]?.number?.saturatedInt)
        #expect(try #require(end) - #require(start) == Int64(seconds))
    }

    @Test func itCarriesTheServersTimeWhereTheLocalClockIsWrong() async throws {
        let clocks = ServerClocks()
        let bench = try Bench(
            [.status(503, ["retry-after": "0", "date": "Mon, 31 Dec 2029 22:00:00 GMT"]), Bench.tokens],
            authentication: PrivateKeyJWT(.generate(), clocks: clocks),
            attemptLayers: [ServerClocks.Learning(clocks)]
        )
        _ = try await bench.skippingWaits { try await bench.oauth.tokens(.clientCredentials()) }
        let times = bench.assertions.compactMap { $0?.claims["iat"]?.number?.saturatedInt }
        #expect(times.count == 2)
        #expect((-7200 ... -7190).contains(times[1] - times[0]))
    }

    @Test func theThirdPartOfNoAssertionShowsUpInAnError() async throws {
        let bench = try Bench(
            [.status(401, body: #"{"error":"invalid_client"}"#)],
            authentication: PrivateKeyJWT(.generate())
        )
        let error = await #expect(throws: RecoveryError.self) { try await bench.oauth.tokens(.clientCredentials()) }
        #expect(error?.kind == .misconfigured)
        let assertion = try #require(bench.forms[0]["client_assertion"])
        #expect(error.map { "\($0)" + String(reflecting: $0.history) }?.contains(assertion.suffix(20)) == false)
    }
}
#endif
