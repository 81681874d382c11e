#if Cryptography
public import AuthRecovery
internal import Crypto
public import HTTPRecovery

/// A 256-bit key that seals credentials, with the name by which it is found again.
///
/// It cannot be printed, and the library makes no copy of it outside the process.
public struct SealingKey: Sendable {
    /// The length of a key in bytes.
    public static let length = 32

    /// The name that what it seals carries, so that the key is found after a rotation; at most 255 bytes, not secret.
    public let id: String

    private let held: Immutable<SymmetricKey>

    /// Creates a key from its bytes.
    ///
    /// - Parameters:
    ///   - bytes: 32 bytes from a good random source; not a password.
    ///   - id: The key's name; nil, the default, derives one from the key, without telling anything else about it.
    /// - Throws: `Credentials.SealingError` when the length is another or the name is too long.
    public init(bytes: [UInt8], id: String? = nil) throws(Credentials.SealingError) {
        guard bytes.count == Self.length else {
            throw Credentials.SealingError(.unusableKey, "a sealing key has \(Self.length) bytes, not \(bytes.count)")
        }
        // Whoever meant a text of 32 digits as 16 bytes would get half of the strength without knowing.
        guard !bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Credentials.SealingError(
                .unusableKey,
                "the sealing key is 32 characters of text; make one of 32 random bytes, in Base64 or hexadecimal"
            )
        }
        let key = SymmetricKey(data: bytes)
        self.id = id ?? Self.name(of: key)
        held = Immutable(key)
        guard (1...255).contains(self.id.utf8.count) else {
            throw Credentials.SealingError(.unusableKey, "the name of a sealing key has between 1 and 255 bytes")
        }
    }

    /// Creates a key from text: 32 bytes in Base64, in either alphabet, or in hexadecimal.
    ///
    /// - Parameters:
    ///   - text: The key; white space around it is ignored.
    ///   - id: The key's name; nil, the default, derives one from the key.
    /// - Throws: `Credentials.SealingError` when it is no such text.
    public init(text: Secret, id: String? = nil) throws(Credentials.SealingError) {
        guard let bytes = Self.bytes(ofText: Array(text.reveal().utf8)) else {
            throw Credentials.SealingError(.unusableKey, "the sealing key is not 32 bytes in Base64 or hexadecimal")
        }
        try self.init(bytes: bytes, id: id)
    }

    /// Creates a key from the text of an environment variable: 32 bytes in Base64 or in hexadecimal.
    ///
    /// - Parameters:
    ///   - variable: The variable's name.
    ///   - id: The key's name; nil, the default, derives one from the key.
    /// - Throws: `Credentials.SealingError` when the variable is not set or is no such text.
    public init(environment variable: String, id: String? = nil) throws(Credentials.SealingError) {
        guard let text = KeySource.environment(variable) else {
            throw Credentials.SealingError(
                .unusableKey,
                "the environment variable \(variable) with the sealing key is not set"
            )
        }
        do {
            try self.init(text: text, id: id)
        } catch {
            throw Credentials.SealingError(error.code, "\(error), in the environment variable \(variable)")
        }
    }

    /// Creates a key from a file: 32 raw bytes, or their Base64 or hexadecimal text.
    ///
    /// - Parameters:
    ///   - path: The file's path; a link is followed.
    ///   - id: The key's name; nil, the default, derives one from the key.
    /// - Throws: `Credentials.SealingError` when the file cannot be read, is no regular file, belongs to another user
    ///   than this one or root, gives group or others any permission, or holds no key.
    public init(file path: String, id: String? = nil) throws(Credentials.SealingError) {
        let content: [UInt8]
        do {
            content = try KeySource.privateFile(path)
        } catch {
            throw Credentials.SealingError(.unusableKey, error.description)
        }
        do {
            try self.init(bytes: Self.bytes(ofText: content) ?? content, id: id)
        } catch {
            throw Credentials.SealingError(error.code, "\(error), in the file \(path)")
        }
    }

    /// Creates a new key from the system's random source.
    public static func generate() -> SealingKey {
        let key = SymmetricKey(size: .bits256)
        return SealingKey(key: key, id: name(of: key))
    }

    /// The key as text, in Base64, to be kept where secrets are kept.
    public var text: Secret {
        Secret(Base64.encode(bytes))
    }

    private init(key: SymmetricKey, id: String) {
        held = Immutable(key)
        self.id = id
    }

    var key: SymmetricKey { held.key }

    private var bytes: [UInt8] {
        unsafe key.withUnsafeBytes { unsafe Array($0) }
    }

    /// A name that the key alone determines: a keyed hash of a constant, which tells nothing about the key.
    private static func name(of key: SymmetricKey) -> String {
        let code = HMAC<Crypto.SHA256>.authenticationCode(for: Array("sealing key name".utf8), using: key)
        return Base64.encodeForURL(Array(code).prefix(6))
    }

    private static func bytes(ofText text: [UInt8]) -> [UInt8]? {
        let text = text.trimming(\.isWhitespace)
        let bytes = text.count == 2 * length ? Hexadecimal.decode(text) : Base64.decode(text)
        return bytes?.count == length ? bytes : nil
    }
}

extension SealingKey: Redacted {
    /// The key's name.
    public var description: String { "SealingKey(\(id))" }
}
#endif
