import CCurl

extension CurlTransport.TLS {
    /// A version of TLS.
    public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
        private let minor: Int

        /// TLS 1.2.
        public static let tls12 = Version(minor: 2)

        /// TLS 1.3.
        public static let tls13 = Version(minor: 3)

        /// Whether the left version is older.
        public static func < (left: Version, right: Version) -> Bool { left.minor < right.minor }

        /// libcurl's number for it; as the highest one it stands 16 bits further left.
        var option: Int { Int(self == .tls13 ? CURL_SSLVERSION_TLSv1_3 : CURL_SSLVERSION_TLSv1_2) }

        /// Such as `1.2`.
        public var description: String { "1.\(minor)" }
    }
}
