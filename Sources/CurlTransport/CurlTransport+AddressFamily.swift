import CCurl

extension CurlTransport {
    /// The kind of addresses that connections are made to.
    public struct AddressFamily: Sendable, Hashable {
        /// libcurl's number for it.
        let option: Int

        /// Whatever a name has, IPv6 and IPv4 side by side (RFC 8305).
        public static let any = AddressFamily(option: Int(CURL_IPRESOLVE_WHATEVER))

        /// IPv4 alone.
        public static let ipv4 = AddressFamily(option: Int(CURL_IPRESOLVE_V4))

        /// IPv6 alone.
        public static let ipv6 = AddressFamily(option: Int(CURL_IPRESOLVE_V6))
    }
}
