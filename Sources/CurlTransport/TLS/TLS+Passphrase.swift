public import HTTPRecovery

extension CurlTransport.TLS {
    /// What a private key is encrypted with; it cannot be printed, interpolated, dumped or encoded.
    public struct Passphrase: Sendable, Hashable, ExpressibleByStringLiteral, Redacted {
        let text: String

        /// Wraps a passphrase.
        public init(_ text: String) {
            self.text = text
        }

        /// Wraps a passphrase.
        public init(stringLiteral value: String) {
            self.init(value)
        }

        /// A placeholder.
        public var description: String { "[secret]" }
    }
}
