import CCurl

extension CurlTransport {
    /// The versions of HTTP that a transport offers to servers.
    public struct HTTPVersion: Sendable, Hashable {
        private enum Choice {
            case automatic
            case http1
            case http2
            case http3
        }

        private let choice: Choice

        /// HTTP/2 over TLS if the libcurl in use handles it well, HTTP/1.1 otherwise.
        ///
        /// Before version 8.12.1 libcurl loses early answers to requests with bodies, or waits for their end for ever;
        /// there this is HTTP/1.1.
        ///
        /// A request that is given up has its stream reset. libcurl before 8.15 does not send that by itself: where no other
        /// request is on the connection, it is closed with the stream.
        public static let automatic = HTTPVersion(choice: .automatic)

        /// HTTP/1.1 alone.
        public static let http1 = HTTPVersion(choice: .http1)

        /// HTTP/2 offered over TLS with every libcurl, HTTP/1.1 if the server wants that, and over plain text.
        public static let http2 = HTTPVersion(choice: .http2)

        /// HTTP/3 over QUIC for requests over TLS, and HTTP/2 or HTTP/1.1 where a server has no QUIC or none comes
        /// through; over plain text HTTP/1.1.
        ///
        /// Few builds of libcurl have it; with another one every request ends as `misconfigured`, and nothing is sent.
        /// Ask ``isAvailable`` first if another version will do.
        public static let http3 = HTTPVersion(choice: .http3)

        /// Whether the libcurl in use can offer it; true of ``automatic`` and ``http1``.
        public var isAvailable: Bool {
            switch choice {
            case .automatic, .http1: true
            case .http2: Libcurl.hasHTTP2
            case .http3: Libcurl.hasHTTP3
            }
        }

        /// HTTP/2 goes back to HTTP/1.1 by itself; a program that asks for HTTP/3 is told.
        var mayBeAskedFor: Bool { choice != .http3 || isAvailable }

        var mayUseHTTP2: Bool {
            switch choice {
            case .automatic: Self.isTrusted
            case .http1: false
            case .http2, .http3: true
            }
        }

        func option(isTLS: Bool) -> Int {
            if !isTLS || !mayUseHTTP2 { return Int(CURL_HTTP_VERSION_1_1) }
            return Int(choice == .http3 ? CURL_HTTP_VERSION_3 : CURL_HTTP_VERSION_2TLS)
        }

        private static let isTrusted: Bool = {
            Libcurl.number >= 0x080c01 && Libcurl.hasHTTP2
        }()
    }
}
