#if Cryptography
public import AuthRecovery
internal import Crypto
public import HTTPRecovery
internal import _CryptoExtras

/// A private key that signs assertions and proofs.
///
/// It cannot be printed. P-256 (ES256), RSA of 2048 bits or more (RS256, PS256) and Ed25519 (EdDSA) are supported.
///
/// ```swift
/// let key = try SigningKey(file: "/etc/app/client.pem")
/// ```
public struct SigningKey: Sendable {
    enum Material: Sendable {
        case p256(Immutable<P256.Signing.PrivateKey>)
        case rsa(_RSA.Signing.PrivateKey)
        case ed25519(Immutable<Curve25519.Signing.PrivateKey>)
    }

    /// How the key signs.
    public let algorithm: SignatureAlgorithm

    /// The public key that verifies what the key has signed.
    public let publicKey: JSONWebKey

    /// The thumbprint of the public key (RFC 7638).
    public let thumbprint: String

    let material: Material

    /// Creates a key from PEM text: PKCS #8, SEC 1 or PKCS #1, not encrypted.
    ///
    /// - Parameters:
    ///   - pem: The text; certificates and parameters beside the key are ignored, and `\n` may stand for the ends of
    ///     lines, as in environment variables.
    ///   - algorithm: How the key signs; nil, the default, takes what its type says, for RSA RS256.
    /// - Throws: ``SigningKeyError`` when there is no such key, or it cannot sign in this way.
    public init(pem: Secret, algorithm: SignatureAlgorithm? = nil) throws(SigningKeyError) {
        try self.init(try Self.material(inPEM: pem.reveal()), algorithm: algorithm)
    }

    /// Creates a key from a PEM file.
    ///
    /// - Parameters:
    ///   - path: The file's path; a link is followed.
    ///   - algorithm: How the key signs; nil, the default, takes what its type says, for RSA RS256.
    /// - Throws: ``SigningKeyError`` when the file cannot be read, belongs to another user than this one or root, gives
    ///   group or others any permission, or holds no such key.
    public init(file path: String, algorithm: SignatureAlgorithm? = nil) throws(SigningKeyError) {
        let content: [UInt8]
        do {
            content = try KeySource.privateFile(path)
        } catch {
            throw SigningKeyError(error.description)
        }
        do {
            try self.init(pem: Secret(String(decoding: content, as: UTF8.self)), algorithm: algorithm)
        } catch {
            throw SigningKeyError("\(error), in the file \(path)")
        }
    }

    /// Creates a key from the PEM text of an environment variable.
    ///
    /// - Parameters:
    ///   - variable: The variable's name.
    ///   - algorithm: How the key signs; nil, the default, takes what its type says, for RSA RS256.
    /// - Throws: ``SigningKeyError`` when the variable is not set or holds no such key.
    public init(environment variable: String, algorithm: SignatureAlgorithm? = nil) throws(SigningKeyError) {
        guard let pem = KeySource.environment(variable) else {
            throw SigningKeyError("the environment variable \(variable) with the signing key is not set")
        }
        do {
            try self.init(pem: pem, algorithm: algorithm)
        } catch {
            throw SigningKeyError("\(error), in the environment variable \(variable)")
        }
    }

    /// Creates a P-256 key from its private number of 32 bytes, the highest first.
    ///
    /// - Throws: ``SigningKeyError`` when the bytes are no such number.
    public init(p256 bytes: [UInt8]) throws(SigningKeyError) {
        guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
            throw SigningKeyError("the bytes are not a private key of the curve P-256")
        }
        try self.init(.p256(Immutable(key)), algorithm: nil)
    }

    /// Creates a new P-256 key from the system's random source.
    public static func generate() -> SigningKey {
        let key = P256.Signing.PrivateKey()
        let publicKey = JSONWebKey.p256(key.publicKey)
        return SigningKey(
            algorithm: .es256,
            publicKey: publicKey,
            thumbprint: publicKey.thumbprint ?? "",
            material: .p256(Immutable(key))
        )
    }

    /// The key as PEM text in PKCS #8, to be kept where secrets are kept; ``init(pem:algorithm:)`` reads it.
    public var pem: Secret {
        switch material {
        case .p256(let held): Secret(held.key.pemRepresentation)
        case .rsa(let key): Secret(key.pkcs8PEMRepresentation)
        case .ed25519(let held): Secret(PEMBlock(label: "PRIVATE KEY", bytes: held.key.pkcs8).text)
        }
    }

    /// The private number of a P-256 key, 32 bytes, which ``init(p256:)`` reads; nil for a key of another type.
    public func revealP256() -> [UInt8]? {
        if case .p256(let held) = material { Array(held.key.rawRepresentation) } else { nil }
    }

    /// The signature of the bytes, as JWS wants it: for ES256 both numbers one after the other (RFC 7518 section 3.4).
    func signature(for bytes: [UInt8]) throws -> [UInt8] {
        switch material {
        case .p256(let held): Array(try held.key.signature(for: bytes).rawRepresentation)
        case .ed25519(let held): Array(try held.key.signature(for: bytes))
        case .rsa(let key):
            try Array(
                key.signature(for: bytes, padding: algorithm == .ps256 ? .PSS : .insecurePKCS1v1_5).rawRepresentation
            )
        }
    }

    private init(algorithm: SignatureAlgorithm, publicKey: JSONWebKey, thumbprint: String, material: Material) {
        self.algorithm = algorithm
        self.publicKey = publicKey
        self.thumbprint = thumbprint
        self.material = material
    }

    private init(_ material: Material, algorithm: SignatureAlgorithm?) throws(SigningKeyError) {
        let allowed: [SignatureAlgorithm]
        let publicKey: JSONWebKey
        switch material {
        case .p256(let held):
            allowed = [.es256]
            publicKey = .p256(held.key.publicKey)
        case .ed25519(let held):
            allowed = [.edDSA]
            publicKey = .ed25519(held.key.publicKey)
        case .rsa(let key):
            allowed = [.rs256, .ps256]
            publicKey = try .rsa(key.publicKey)
        }
        let algorithm = algorithm ?? allowed[0]
        guard allowed.contains(algorithm), let thumbprint = publicKey.thumbprint else {
            throw SigningKeyError("the key cannot sign with \(algorithm.rawValue)")
        }
        self.init(algorithm: algorithm, publicKey: publicKey, thumbprint: thumbprint, material: material)
    }

    private static func material(inPEM text: String) throws(SigningKeyError) -> Material {
        let blocks = PEMBlock.blocks(in: text)
        guard let block = blocks.first(where: { $0.label.hasSuffix("PRIVATE KEY") }) else {
            let isEncrypted = text.holds("ENCRYPTED")
            throw SigningKeyError(isEncrypted ? encrypted : "the text holds no private key in PEM")
        }
        if block.label == "ENCRYPTED PRIVATE KEY" { throw SigningKeyError(encrypted) }
        if let key = Curve25519.Signing.PrivateKey(pkcs8: block.bytes) { return .ed25519(Immutable(key)) }
        if let key = try? P256.Signing.PrivateKey(pemRepresentation: block.text) { return .p256(Immutable(key)) }
        if let key = try? _RSA.Signing.PrivateKey(pemRepresentation: block.text) { return .rsa(key) }
        throw SigningKeyError("the private key is not one of P-256, Ed25519, or RSA of 2048 bits or more")
    }

    private static let encrypted = "the private key is encrypted; keep it decrypted, readable for its owner alone"
}

extension SigningKey: Redacted {
    /// Algorithm and thumbprint of the public key.
    public var description: String { "SigningKey(\(algorithm.rawValue), \(thumbprint))" }
}
#endif
