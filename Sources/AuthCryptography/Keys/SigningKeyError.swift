#if Cryptography
/// Why a signing key cannot be used; it never holds a part of a key.
public struct SigningKeyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong and what to do.
    public let description: String

    /// Creates an error.
    public init(_ description: String) {
        self.description = description
    }
}
#endif
