import HTTPRecovery

extension CurlTransport {
    /// Which connections go elsewhere than their URL says; the URL, the Host field and the name in the certificate stay
    /// what they are.
    ///
    /// It is for tests against a server that plays another, and for a canary in front of a load balancer:
    ///
    /// ```swift
    /// configuration.connectionOverrides = [.init(from: "api.example.com:443", to: "127.0.0.1:8443")]
    /// ```
    public struct ConnectionOverride: Sendable, Hashable {
        /// The host and port in the URL, such as `api.example.com:443`, or the host alone for any of its ports; empty
        /// for every origin.
        public var source: String

        /// The host and port to connect to, such as `127.0.0.1:8443` or `[::1]:8443`, or the host alone for the same
        /// port, or a port alone, `:8443`, for the same host.
        public var target: String

        /// Creates an override.
        ///
        /// A text that is no host and port ends every attempt as `misconfigured`, never sent.
        public init(from source: String, to target: String) {
            self.source = source
            self.target = target
        }

        /// libcurl's form: `HOST:PORT:HOST:PORT`, with nothing for what is to match or to stay; nil if it has none.
        var option: String? {
            guard let source = Self.split(source), let target = Self.split(target),
                !(target.host.isEmpty && target.port.isEmpty)
            else { return nil }
            return "\(source.host):\(source.port):\(target.host):\(target.port)"
        }

        private static func split(_ text: String) -> (host: Substring, port: Substring)? {
            guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return nil }
            var host = text[...]
            var port: Substring = ""
            // The colons of an IPv6 address stand in brackets.
            if let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), text.utf8.last != UInt8(ascii: "]") {
                host = text[..<colon]
                port = text[text.utf8.index(after: colon)...]
                guard UInt16(port) != nil else { return nil }
            }
            let hasBrackets = host.utf8.first == UInt8(ascii: "[") && host.utf8.last == UInt8(ascii: "]")
            guard hasBrackets || !host.utf8.contains(UInt8(ascii: ":")) else { return nil }
            return (host, port)
        }
    }
}
