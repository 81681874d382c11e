#if Cryptography
public import AuthRecovery
public import HTTPRecovery

/// Signs proofs of possession with a key in memory (RFC 9449 section 4.2).
///
/// Tokens are bound to the key: keep it as long as a refresh token that was issued for it, or the token is lost.
///
/// ```swift
/// let prover = DPoPProver()
/// let kept: Secret = prover.pem  // where secrets are kept
/// let later = try DPoPProver(pem: kept)
/// ```
public struct DPoPProver: DPoPAuthorization.Prover {
    private let key: SigningKey

    /// Creates a prover with a new P-256 key.
    public init() {
        key = .generate()
    }

    /// Creates a prover with a key that is there: mostly P-256, which all servers know; others as the server says in
    /// `dpop_signing_alg_values_supported`.
    public init(key: SigningKey) {
        self.key = key
    }

    /// Creates a prover with a key that was kept as PEM text.
    ///
    /// - Throws: ``SigningKeyError`` when the text holds no private key that can sign.
    public init(pem: Secret) throws(SigningKeyError) {
        key = try SigningKey(pem: pem)
    }

    /// Creates a prover with a P-256 key that was kept as its private number of 32 bytes.
    ///
    /// - Throws: ``SigningKeyError`` when the bytes are no such number.
    public init(p256 bytes: [UInt8]) throws(SigningKeyError) {
        key = try SigningKey(p256: bytes)
    }

    /// The key as PEM text in PKCS #8, to be kept where secrets are kept.
    public var pem: Secret { key.pem }

    /// The private number of a P-256 key, 32 bytes, which ``init(p256:)`` reads; nil for a key of another type.
    public func revealP256() -> [UInt8]? { key.revealP256() }

    /// The public key, as it stands in every proof.
    public var publicKey: JSONWebKey { key.publicKey }

    /// The thumbprint of the public key (RFC 7638): the `jkt` of the tokens, and the parameter `dpop_jkt` of an
    /// authorization request (RFC 9449 section 10).
    public var thumbprint: String { key.thumbprint }

    /// Signs one proof.
    public func proof(_ claims: DPoPAuthorization.Claims) throws -> Secret {
        try SignedJWT.make(
            header: [
                JSONValue.Member("typ", "dpop+jwt"),
                JSONValue.Member("alg", .string(key.algorithm.rawValue)),
                JSONValue.Member("jwk", key.publicKey.json),
            ],
            claims: claims.json,
            sign: key.signature
        )
    }
}

extension DPoPProver: Redacted {
    /// The thumbprint of the public key.
    public var description: String { "DPoPProver(\(thumbprint))" }
}
#endif
