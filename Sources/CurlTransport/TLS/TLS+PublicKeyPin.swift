import HTTPRecovery

extension CurlTransport.TLS {
    /// The SHA-256 digest of a server's public key (RFC 7469, section 2.4).
    ///
    /// The key outlives the certificate if the server renews it with the same one. The text for a server's key comes
    /// from this command:
    ///
    ///     openssl x509 -in cert.pem -pubkey -noout | openssl pkey -pubin -outform der \
    ///         | openssl dgst -sha256 -binary | openssl base64
    public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
        /// The digest: 32 bytes.
        public let digest: [UInt8]

        /// Takes a digest; nil if it does not have 32 bytes.
        public init?(sha256 digest: [UInt8]) {
            guard digest.count == 32 else { return nil }
            self.digest = digest
        }

        /// Reads a digest in Base64, with or without curl's `sha256//` in front; nil if it is none.
        public init?(_ text: String) {
            let prefix = "sha256//"
            let encoded = text.utf8.starts(with: prefix.utf8) ? text.utf8.dropFirst(prefix.utf8.count) : text.utf8[...]
            guard let digest = Base64.decode(encoded) else { return nil }
            self.init(sha256: digest)
        }

        /// The text that curl takes: `sha256//` and the digest in Base64.
        public var description: String { "sha256//\(Base64.encode(digest))" }
    }
}
