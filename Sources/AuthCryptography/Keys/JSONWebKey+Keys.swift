#if Cryptography
internal import Crypto
import HTTPRecovery
internal import _CryptoExtras

extension JSONWebKey {
    /// RFC 7518 section 6.2.
    static func p256(_ key: P256.Signing.PublicKey) -> JSONWebKey {
        let point = Array(key.rawRepresentation)
        return JSONWebKey([
            "kty": "EC", "crv": "P-256", "x": .base64url(point.prefix(32)), "y": .base64url(point.suffix(32)),
        ])
    }

    /// RFC 8037 section 2.
    static func ed25519(_ key: Curve25519.Signing.PublicKey) -> JSONWebKey {
        JSONWebKey(["kty": "OKP", "crv": "Ed25519", "x": .base64url(Array(key.rawRepresentation))])
    }

    /// RFC 7518 section 6.3: both numbers without leading zeros.
    static func rsa(_ key: _RSA.Signing.PublicKey) throws(SigningKeyError) -> JSONWebKey {
        guard let numbers = try? key.getKeyPrimitives() else {
            throw SigningKeyError("the public part of the RSA key cannot be read")
        }
        return JSONWebKey([
            "kty": "RSA", "n": .base64url(Array(numbers.modulus).drop { $0 == 0 }),
            "e": .base64url(Array(numbers.publicExponent).drop { $0 == 0 }),
        ])
    }
}

extension JSONValue {
    fileprivate static func base64url(_ bytes: some Sequence<UInt8>) -> JSONValue {
        .string(Base64.encodeForURL(bytes))
    }
}

extension Curve25519.Signing.PrivateKey {
    /// What a PKCS #8 key begins with (RFC 8410 section 7).
    ///
    /// Version, the algorithm 1.3.101.112, and the heads of an octet string in an octet string. Version 1 has the public
    /// key behind it.
    private static func head(length: UInt8, version: UInt8) -> [UInt8] {
        [0x30, length, 0x02, 0x01, version, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
    }

    /// Reads PKCS #8 in DER; nil if it is none of this type.
    init?(pkcs8 bytes: [UInt8]) {
        guard bytes.count >= 48, bytes[1] < 0x80, bytes.count == 2 + Int(bytes[1]), bytes[4] <= 1,
            bytes.starts(with: Self.head(length: bytes[1], version: bytes[4]))
        else { return nil }
        try? self.init(rawRepresentation: bytes[16..<48])
    }

    /// PKCS #8 in DER.
    var pkcs8: [UInt8] {
        Self.head(length: 46, version: 0) + Array(rawRepresentation)
    }
}
#endif
