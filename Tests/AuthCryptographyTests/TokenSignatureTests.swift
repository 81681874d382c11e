#if Cryptography
import AuthCryptography
import AuthRecovery
import HTTPRecovery
import Testing

/// Signatures of tokens against the keys of their issuer.
@Suite struct TokenSignatureTests {
    private let verifier = JSONWebKey.Verifier()

    private static func token(_ key: SigningKey) throws -> Secret {
        try DPoPProver(key: key).proof(SigningKeyTests.claims)
    }

    private static func keys(_ keys: JSONValue...) -> JSONValue { ["keys": .array(keys)] }

    private static func named(_ key: JSONWebKey, _ more: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object((key.json.members ?? []) + more.map { JSONValue.Member($0.key, $0.value) })
    }

    @Test(arguments: [
        (KeyFixture.p256, SignatureAlgorithm.es256), (.rsa, .rs256), (.rsa, .ps256), (.ed25519, .edDSA),
    ])
    func aTokenIsOfTheKeyThatHasSignedIt(fixture: KeyFixture, algorithm: SignatureAlgorithm) throws {
        let key = try SigningKey(pem: fixture.pem, algorithm: algorithm)
        let token = try Self.token(key)
        let other = SigningKey.generate().publicKey
        #expect(verifier.isSigned(token, withOneOf: Self.keys(other.json, key.publicKey.json)))
        #expect(!verifier.isSigned(token, withOneOf: Self.keys(other.json)))
        #expect(!verifier.isSigned(token, withOneOf: Self.keys()))
        // A key for something else, or for another algorithm, signs no tokens.
        let sealing = Self.named(key.publicKey, ["use": "enc"])
        #expect(!verifier.isSigned(token, withOneOf: Self.keys(sealing)))
        let foreign = Self.named(key.publicKey, ["alg": "HS256"])
        #expect(!verifier.isSigned(token, withOneOf: Self.keys(foreign)))
        let meant = Self.named(key.publicKey, ["use": "sig", "alg": .string(algorithm.rawValue), "kid": "k"])
        #expect(verifier.isSigned(token, withOneOf: Self.keys(meant)))
        var parts = token.reveal().split(separator: ".").map(String.init)
        parts[1] = Base64.encodeForURL(#"{"sub":"mallory"}"#.utf8)
        #expect(!verifier.isSigned(Secret(parts.joined(separator: ".")), withOneOf: Self.keys(key.publicKey.json)))
    }

    /// What a public key would be the secret of, what is not signed, what names another key, and what is no token.
    @Test(arguments: [
        #"{"alg":"none"}"#, #"{"alg":"HS256"}"#, #"{"alg":"ES256","kid":"another"}"#,
        #"{"alg":"ES256","crit":["b64"]}"#,
        "{}", "",
    ])
    func anythingElseIsRefused(header: String) throws {
        let key = try SigningKey(pem: KeyFixture.p256.pem)
        var parts = try Self.token(key).reveal().split(separator: ".").map(String.init)
        parts[0] = Base64.encodeForURL(header.utf8)
        let keys = Self.keys(Self.named(key.publicKey, ["kid": "k"]))
        for end in [parts[2], ""] {
            #expect(!verifier.isSigned(Secret("\(parts[0]).\(parts[1]).\(end)"), withOneOf: keys))
        }
        #expect(!verifier.isSigned("", withOneOf: keys) && !verifier.isSigned("a.b", withOneOf: "no keys"))
    }

    @Test func keysThatAreNoneAreRefused() throws {
        let token = try Self.token(SigningKey(pem: KeyFixture.rsa.pem))
        for key in [
            ["kty": "RSA", "n": "AQAB", "e": "AQAB"], ["kty": "RSA"],
            ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"],
            ["kty": 1], "RSA",
        ] as [JSONValue] {
            #expect(!verifier.isSigned(token, withOneOf: Self.keys(key)))
        }
    }
}
#endif
