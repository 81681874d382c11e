extension Credentials {
    /// Why something could not be sealed or opened; it never holds a key or what was sealed.
    public struct SealingError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What went wrong.
        public enum Code: String, Sendable, Hashable {
            /// The bytes are none that the sealing has made: cut, or of another format.
            case malformed
            /// It was sealed with a key that is not at hand.
            case unknownKey = "unknown_key"
            /// The bytes were changed, or sealed for another place, or with another key of the same name.
            case notAuthentic = "not_authentic"
            /// The key cannot be used: of a wrong length, missing, or readable for others.
            case unusableKey = "unusable_key"
            /// The sealing itself failed.
            case failed
        }

        /// What went wrong.
        public var code: Code

        /// What went wrong in words, and what to do, without a secret.
        public let description: String

        /// Creates an error.
        public init(_ code: Code, _ description: String) {
            self.code = code
            self.description = description
        }
    }
}
