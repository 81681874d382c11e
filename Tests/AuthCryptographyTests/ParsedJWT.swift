#if Cryptography
import AuthRecovery
import Crypto
import HTTPRecovery
import _CryptoExtras

/// A JWT taken apart, and its signature checked with a public key as a server would: from the key's JWK alone.
struct ParsedJWT {
    let header: JSONValue
    let claims: JSONValue
    private let input: [UInt8]
    let signature: [UInt8]

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.bytes(parts[0]), let claims = Self.bytes(parts[1]),
            let signature = Self.bytes(parts[2]), let headerJSON = try? JSONValue(parsing: header),
            let claimsJSON = try? JSONValue(parsing: claims)
        else { return nil }
        self.header = headerJSON
        self.claims = claimsJSON
        self.signature = signature
        self.input = Array("\(parts[0]).\(parts[1])".utf8)
    }

    /// Whether the signature is that of the key, by the algorithm of the header.
    func isSigned(by key: JSONValue) throws -> Bool {
        func number(_ name: String) -> [UInt8] { Self.bytes(key[name]?.string?[...] ?? "") ?? [] }
        switch header["alg"]?.string {
        case "ES256":
            let key = try P256.Signing.PublicKey(rawRepresentation: number("x") + number("y"))
            return key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: input)
        case "EdDSA":
            return try Curve25519.Signing.PublicKey(rawRepresentation: number("x"))
                .isValidSignature(signature, for: input)
        case "RS256", "PS256":
            let key = try _RSA.Signing.PublicKey(n: number("n"), e: number("e"))
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: input,
                padding: header["alg"] == "PS256" ? .PSS : .insecurePKCS1v1_5
            )
        default: return false
        }
    }

    /// Whether the signature is the keyed hash with the secret.
    func isSigned(with secret: String) -> Bool {
        HMAC<Crypto.SHA256>.isValidAuthenticationCode(
            signature,
            authenticating: input,
            using: SymmetricKey(data: Array(secret.utf8))
        )
    }

    /// Base64url without padding; nil where it is none.
    static func bytes(_ text: Substring) -> [UInt8]? {
        guard text.utf8.allSatisfy({ $0 != 0x2B && $0 != 0x2F && $0 != 0x3D }) else { return nil }
        return Base64.decode(text.utf8)
    }
}
#endif
