#if Cryptography
import AuthCryptography
import AuthRecovery
import HTTPRecovery
import ProcessSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct SigningKeyTests {
    /// RFC 7638 section 3.1.
    @Test func theThumbprintOfRFC7638() {
        let key = JSONWebKey([
            "kty": "RSA",
            "n": .string(
                "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiF"
                    + "V4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZg"
                    + "nYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBni"
                    + "Iqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
            ),
            "e": "AQAB", "alg": "RS256", "kid": "2011-04-29",
        ])
        #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    /// RFC 8037 appendix A.3, and the key of RFC 9449's examples with its `jkt` (section 6.1).
    @Test func theThumbprintsOfOtherTypes() {
        let okp = JSONWebKey(["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"])
        #expect(okp.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
        let ec = JSONWebKey([
            "kty": "EC", "x": "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
            "y": "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA", "crv": "P-256",
        ])
        #expect(ec.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }

    @Test(
        arguments: [
            [:], ["kty": "EC", "crv": "P-256", "x": "AA"], ["kty": "XYZ", "x": "AA"], ["kty": 1], "EC",
            ["kty": "RSA", "n": 1, "e": "AQAB"],
        ] as [JSONValue]
    )
    func whatLacksAMemberHasNoThumbprint(json: JSONValue) {
        #expect(JSONWebKey(json).thumbprint == nil)
    }

    @Test(arguments: [
        (KeyFixture.p256, SignatureAlgorithm?.none, SignatureAlgorithm.es256),
        (KeyFixture.p256WithParameters, nil, .es256), (KeyFixture.p256, .es256, .es256),
        (KeyFixture.rsa, nil, .rs256), (KeyFixture.rsaPKCS1, nil, .rs256), (KeyFixture.rsa, .ps256, .ps256),
        (KeyFixture.ed25519, nil, .edDSA), (KeyFixture.ed25519WithPublicKey, nil, .edDSA),
    ])
    func pemIsReadAndWhatIsSignedIsVerified(
        fixture: KeyFixture,
        asked: SignatureAlgorithm?,
        is algorithm: SignatureAlgorithm
    )
        throws
    {
        let key = try SigningKey(pem: fixture.pem, algorithm: asked)
        #expect(key.algorithm == algorithm)
        let jwt = try #require(ParsedJWT(try DPoPProver(key: key).proof(Self.claims).reveal()))
        #expect(jwt.header["alg"]?.string == algorithm.rawValue)
        #expect(try jwt.isSigned(by: key.publicKey.json))
        let other = try SigningKey(pem: fixture.pem, algorithm: asked).publicKey
        #expect(other == key.publicKey)
    }

    static let claims = DPoPAuthorization.Claims(
        id: "1",
        method: "GET",
        url: "https://api.example.com/",
        issuedAt: Timestamp(secondsSinceEpoch: 1)
    )

    @Test func theFormsOfAKeyAreTheSameKey() throws {
        let p256 = try [KeyFixture.p256, KeyFixture.p256WithParameters].map {
            try SigningKey(pem: $0.pem).thumbprint
        }
        let rsa = try [KeyFixture.rsa, KeyFixture.rsaPKCS1].map { try SigningKey(pem: $0.pem).thumbprint }
        let ed25519 = try [KeyFixture.ed25519, KeyFixture.ed25519WithPublicKey].map {
            try SigningKey(pem: $0.pem).publicKey.json["x"]
        }
        #expect(p256[0] == p256[1])
        #expect(rsa[0] == rsa[1])
        // The public key that RFC 8410 section 10.1 states.
        #expect(
            ed25519 == ["Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE", "Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"]
        )
    }

    @Test func aKeyThatWasExportedIsTheSame() throws {
        for fixture in [KeyFixture.p256, .rsa, .ed25519] {
            let key = try SigningKey(pem: fixture.pem)
            #expect(try SigningKey(pem: key.pem).publicKey == key.publicKey)
        }
        let key = SigningKey.generate()
        #expect(key.thumbprint.utf8.count == 43)
        #expect(SigningKey.generate().thumbprint != key.thumbprint)
        let number = try #require(key.revealP256())
        #expect(try SigningKey(p256: number).thumbprint == key.thumbprint)
        #expect(try SigningKey(pem: KeyFixture.rsa.pem).revealP256() == nil)
    }

    /// RFC 7515 appendix A.3: the number and its public key.
    @Test func aNumberIsTheKeyThatItIs() throws {
        let number = try #require(ParsedJWT.bytes("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"))
        let json = try SigningKey(p256: number).publicKey.json
        #expect(json["x"] == "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
        #expect(json["y"] == "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        for wrong in [
            [], Array(number.dropLast()), number + [0], [UInt8](repeating: 0, count: 32),
            [UInt8](repeating: 255, count: 32),
        ] {
            #expect(throws: SigningKeyError.self) { try SigningKey(p256: wrong) }
        }
    }

    @Test(arguments: [
        ("-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----", "P-256"), ("s3cret", "no private key"),
        ("", "no private key"), ("-----BEGIN PRIVATE KEY-----\n", "no private key"),
        ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "no private key"),
        ("-----BEGIN PRIVATE KEY-----\nMC4C\n-----END OTHER KEY-----", "no private key"),
    ])
    func whatIsNoUsableKeyIsRefusedWithoutBeingShown(pem: String, word: String) {
        let error = #expect(throws: SigningKeyError.self) { try SigningKey(pem: Secret(pem)) }
        #expect(error?.description.contains(word) == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test(arguments: [
        (KeyFixture.shortRSA, "2048"), (.p384, "P-256"), (.encrypted, "encrypted"),
    ])
    func aKeyThatCannotBeUsedIsRefused(fixture: KeyFixture, word: String) {
        let error = #expect(throws: SigningKeyError.self) { try SigningKey(pem: fixture.pem) }
        #expect(error?.description.contains(word) == true)
    }

    @Test(arguments: [
        (KeyFixture.p256, SignatureAlgorithm.rs256), (KeyFixture.rsa, .es256), (KeyFixture.ed25519, .es256),
        (KeyFixture.p256, .edDSA), (KeyFixture.ed25519, .ps256),
    ])
    func aKeyDoesNotSignInAWayThatIsNotItsOwn(fixture: KeyFixture, algorithm: SignatureAlgorithm) {
        #expect(throws: SigningKeyError.self) { try SigningKey(pem: fixture.pem, algorithm: algorithm) }
    }

    @Test func itIsReadFromAFileOfItsOwnerAlone() throws {
        let directory = TemporaryDirectory()
        TemporaryDirectory.write(KeyFixture.p256.pem.reveal(), to: directory.file("key"), mode: 0o400)
        let thumbprint = try SigningKey(pem: KeyFixture.p256.pem).thumbprint
        #expect(try SigningKey(file: directory.file("key")).thumbprint == thumbprint)
        TemporaryDirectory.write(KeyFixture.p256.pem.reveal(), to: directory.file("key"), mode: 0o644)
        let error = #expect(throws: SigningKeyError.self) { try SigningKey(file: directory.file("key")) }
        #expect(error?.description.contains("0600") == true)
    }

    // In a process of its own: another thread may read the environment at any time, and it must not change then.
    @Test(arguments: ["\n", "\\n", "\r\n"]) func itIsReadFromTheEnvironment(lineEnd: String) async {
        await #expect(processExitsWith: .success) { [lineEnd] in
            let name = "HTTP_RECOVERY_TEST_SIGNING_KEY"
            #expect(throws: SigningKeyError.self) { try SigningKey(environment: name) }
            let lines = KeyFixture.p256.pem.reveal().split(separator: "\n")
            unsafe setenv(name, lines.joined(separator: lineEnd), 1)
            let thumbprint = try SigningKey(pem: KeyFixture.p256.pem).thumbprint
            #expect(try SigningKey(environment: name).thumbprint == thumbprint)
        }
    }

    @Test func itCannotBePrinted() throws {
        let key = try SigningKey(pem: KeyFixture.p256.pem)
        var dumped = ""
        dump(key, to: &dumped)
        dump(DPoPProver(key: key), to: &dumped)
        #expect("\(key)" == "SigningKey(ES256, \(key.thumbprint))")
        #expect(!dumped.contains("material"))
        #expect(Mirror(reflecting: DPoPProver(key: key)).children.isEmpty)
    }
}
#endif
