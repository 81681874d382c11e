#if Cryptography
/// How something is signed (RFC 7518 section 3.1, RFC 8037 section 3.1).
@nonexhaustive public enum SignatureAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// ECDSA on the curve P-256 with SHA-256.
    case es256 = "ES256"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PSS with SHA-256.
    case ps256 = "PS256"
    /// EdDSA on the curve Ed25519.
    case edDSA = "EdDSA"
}
#endif
