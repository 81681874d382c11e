import CCurl

extension CurlTransport {
    /// The versions of HTTP that a transport offers to servers.
    public struct HTTPVersion: Sendable, Hashable {
        private enum Choice {
            case automatic
            case http1
            case http2
        }

        private let choice: Choice

        /// HTTP/2 over TLS if the libcurl in use handles it well, HTTP/1.1 otherwise.
        ///
        /// Before version 8.9 libcurl opens a connection for each request past the server's stream limit, loses early
        /// answers to requests with bodies, and can stall paused streams; there this is HTTP/1.1.
        public static let automatic = HTTPVersion(choice: .automatic)

        /// HTTP/1.1 alone.
        public static let http1 = HTTPVersion(choice: .http1)

        /// HTTP/2 offered over TLS with every libcurl, HTTP/1.1 if the server wants that, and over plain text.
        public static let http2 = HTTPVersion(choice: .http2)

        var mayUseHTTP2: Bool {
            switch choice {
            case .automatic: Self.isTrusted
            case .http1: false
            case .http2: true
            }
        }

        func option(isTLS: Bool) -> Int {
            let version = mayUseHTTP2 && isTLS ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
            return Int(version)
        }

        private static let isTrusted: Bool = {
            ccurl_version_number() >= 0x080900 && ccurl_has_http2()
        }()
    }
}
