#if Cryptography
public import AuthRecovery
internal import Crypto

/// Seals credentials with AES-256 in Galois/counter mode (NIST SP 800-38D).
///
/// It seals with one key and opens with any it has, so that keys are rotated without a moment at which nothing can be
/// read: give every process the new key as an older one, then make it the one that seals, and drop the old one when all
/// is sealed anew. Each sealing takes a fresh random nonce of 96 bits; one key is good for 2^32 sealings.
///
/// ```swift
/// let sealing = AESGCMSealing(try SealingKey(environment: "APP_SEALING_KEY"))
/// let tokens = FileTokenStore(path: path, identity: "alice", sealing: sealing)
/// ```
public struct AESGCMSealing: CredentialSealing {
    /// What the sealed bytes begin with: the version of the format.
    private static let version: UInt8 = 1
    private static let nonceLength = 12
    private static let tagLength = 16

    private let key: SealingKey
    private let keys: [SealingKey]

    /// Creates a sealing.
    ///
    /// - Parameters:
    ///   - key: The key that seals, and opens what it has sealed.
    ///   - older: Further keys that open.
    public init(_ key: SealingKey, older: [SealingKey] = []) {
        self.key = key
        self.keys = [key] + older
    }

    /// Encrypts the bytes, and authenticates them together with the place and the key's name.
    ///
    /// The result is the format's version, the length of the key's name, the name, the nonce, the ciphertext and the
    /// tag of 16 bytes.
    public func seal(_ plaintext: [UInt8], at place: String) throws(Credentials.SealingError) -> [UInt8] {
        let header = [Self.version, UInt8(clamping: key.id.utf8.count)] + Array(key.id.utf8)
        do {
            let box = try AES.GCM.seal(
                plaintext,
                using: key.key,
                nonce: AES.GCM.Nonce(),
                authenticating: header + Array(place.utf8)
            )
            return header + Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
        } catch {
            throw Credentials.SealingError(.failed, "the cipher has failed")
        }
    }

    /// Opens what any of the keys has sealed for this place.
    public func open(_ sealed: [UInt8], at place: String) throws(Credentials.SealingError) -> [UInt8] {
        guard sealed.count >= 2, sealed[0] == Self.version else {
            throw Credentials.SealingError(.malformed, "it is not in the format of this version")
        }
        let header = sealed.prefix(2 + Int(sealed[1]))
        let box = sealed.dropFirst(header.count)
        guard header.count == 2 + Int(sealed[1]), box.count >= Self.nonceLength + Self.tagLength else {
            throw Credentials.SealingError(.malformed, "it was cut off")
        }
        let candidates = keys.filter { $0.id.utf8.elementsEqual(header.dropFirst(2)) }
        guard !candidates.isEmpty else {
            throw Credentials.SealingError(.unknownKey, "it was sealed with another key than those at hand")
        }
        for candidate in candidates {
            if let plaintext = Self.open(box, with: candidate, authenticating: Array(header) + Array(place.utf8)) {
                return plaintext
            }
        }
        throw Credentials.SealingError(
            .notAuthentic,
            "it was changed, sealed for another name, or sealed with another key"
        )
    }

    private static func open(
        _ box: ArraySlice<UInt8>,
        with key: SealingKey,
        authenticating data: [UInt8]
    ) -> [UInt8]? {
        guard let nonce = try? AES.GCM.Nonce(data: box.prefix(nonceLength)),
            let sealed = try? AES.GCM.SealedBox(
                nonce: nonce,
                ciphertext: box.dropFirst(nonceLength).dropLast(tagLength),
                tag: box.suffix(tagLength)
            ),
            let plaintext = try? AES.GCM.open(sealed, using: key.key, authenticating: data)
        else { return nil }
        return Array(plaintext)
    }
}
#endif
