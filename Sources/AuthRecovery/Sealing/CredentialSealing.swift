/// Encrypts and authenticates what a token store writes, and opens it again.
///
/// A store hands over whole credentials and writes what comes back; `AESGCMSealing` of the module `AuthCryptography` is
/// one implementation, a key service of a cloud may be another. It must be safe to call from several tasks at once.
public protocol CredentialSealing: Sendable {
    /// Encrypts the bytes and binds them to their place.
    ///
    /// - Parameters:
    ///   - plaintext: What is to be kept secret.
    ///   - place: Where it is stored, as text: not secret, not part of the result, but ``open(_:at:)`` must refuse what
    ///     was sealed for another place, so that one identity's credentials cannot be put in the place of another's.
    /// - Returns: The sealed bytes; different ones each time.
    /// - Throws: ``Credentials/SealingError``; another error is reported without its text.
    func seal(_ plaintext: [UInt8], at place: String) throws -> [UInt8]

    /// Opens what was sealed for this place.
    ///
    /// - Throws: ``Credentials/SealingError`` when a byte of it was changed, or it was sealed for another place or with a key that is
    ///   not at hand; another error is reported without its text.
    func open(_ sealed: [UInt8], at place: String) throws -> [UInt8]
}
