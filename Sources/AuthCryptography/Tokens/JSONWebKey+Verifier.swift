#if Cryptography
public import AuthRecovery
internal import Crypto
public import HTTPRecovery
internal import _CryptoExtras

extension JSONWebKey {
    /// Verifies signatures of tokens with the public keys of their issuer: ES256, RS256, PS256 and EdDSA.
    ///
    /// What is signed with a secret (`HS256`) or not at all (`none`) is refused: a public key is no secret.
    public struct Verifier: OAuthClient.SignatureVerifier {
        /// Creates the verifier.
        public init() {}

        /// Whether a token's signature is that of one of the keys.
        public func isSigned(_ token: Secret, withOneOf keys: JSONValue) -> Bool {
            let parts = token.reveal().split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 3, let header = UnverifiedJWT(token)?.header,
                let algorithm = header["alg"]?.string.flatMap({ SignatureAlgorithm(rawValue: $0) }),
                header["crit"] == nil, let signature = Base64.decode(parts[2].utf8)
            else { return false }
            let name = header["kid"]?.string
            let input = Array("\(parts[0]).\(parts[1])".utf8)
            return (keys["keys"]?.array ?? []).prefix(64).contains { key in
                let isMeant = name == nil || key["kid"]?.string == name
                let isForSignatures = key["use"]?.string.map { $0 == "sig" } ?? true
                let isOfAlgorithm = key["alg"]?.string.map { $0 == algorithm.rawValue } ?? true
                return isMeant && isForSignatures && isOfAlgorithm
                    && JSONWebKey(key).isSignature(signature, of: input, by: algorithm)
            }
        }
    }

    /// Whether a signature was made with the private part of the key.
    func isSignature(_ signature: [UInt8], of input: [UInt8], by algorithm: SignatureAlgorithm) -> Bool {
        func number(_ name: String) -> [UInt8]? { json[name]?.string.flatMap { Base64.decode($0.utf8) } }
        switch (json["kty"]?.string, algorithm) {
        case ("EC", .es256):
            guard json["crv"]?.string == "P-256", let x = number("x"), let y = number("y"),
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y),
                let value = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
            else { return false }
            return key.isValidSignature(value, for: input)
        case ("OKP", .edDSA):
            guard json["crv"]?.string == "Ed25519", let x = number("x"),
                let key = try? Curve25519.Signing.PublicKey(rawRepresentation: x)
            else { return false }
            return key.isValidSignature(signature, for: input)
        case ("RSA", .rs256), ("RSA", .ps256):
            guard let n = number("n"), n.count >= 256, n.count <= 1024, let e = number("e"), e.count <= 8,
                let key = try? _RSA.Signing.PublicKey(n: n, e: e)
            else { return false }
            return key.isValidSignature(
                _RSA.Signing.RSASignature(rawRepresentation: signature),
                for: Crypto.SHA256.hash(data: input),
                padding: algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5
            )
        default: return false
        }
    }
}
#endif
