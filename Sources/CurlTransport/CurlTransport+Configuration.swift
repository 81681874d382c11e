import CCurl

extension CurlTransport {
    /// What a transport is set up with.
    public struct Configuration: Sendable {
        /// The number of event loops, each one thread; 1 by default.
        ///
        /// One is enough for tens of thousands of requests a second. All requests to one origin run on one loop. Values below 1 count as 1.
        public var loops: Int

        /// The most transfers at a time to one origin; 64 by default.
        ///
        /// Further ones wait in the order of arrival. A response whose body is still unread holds its place. Values below 1 count as 1.
        public var maxConnectionsPerOrigin: Int

        /// The versions of HTTP that are offered; ``HTTPVersion/automatic`` by default.
        public var httpVersion: HTTPVersion

        /// The proxy to use; ``Proxy/none`` by default.
        public var proxy: Proxy

        /// The path of a file of PEM certificates to trust instead of the system's; nil by default.
        public var caFile: String?

        /// Whether any server certificate is accepted; false by default.
        ///
        /// > Warning: With true, anyone on the path can read and change everything, credentials included. It is for
        /// > tests on one's own machine.
        public var isCertificateVerificationDisabled: Bool

        /// Whether to ask for compressed responses (gzip, brotli, zstd: what libcurl was built with) and decompress
        /// them; true by default.
        ///
        /// A request that has an Accept-Encoding or Range field of its own is left alone. If a response was
        /// decompressed, its Content-Encoding and Content-Length fields are removed.
        public var decompresses: Bool

        /// The time that name lookup, connection and TLS handshake may take; 10 seconds by default.
        public var connectTimeout: Duration

        /// The most bytes of header sections a response may have; 64 KiB by default.
        ///
        /// Interim responses and trailers are included. libcurl itself bounds a single line, at about 100 KB, and from
        /// version 8.3 on all of them together, at 300 KiB.
        public var maxHeaderBytes: Int

        /// The bytes of a response body that wait for their reader before the transport stops receiving; 256 KiB by
        /// default.
        public var maxBufferedBytes: Int

        /// The size of libcurl's receive buffer; 120 KiB by default, at least 1 KiB, at most 10 MiB.
        ///
        /// Each running transfer has one.
        public var bufferSize: Int

        /// The time an unused connection is kept; 50 seconds by default, less than what common servers keep them.
        public var maxIdleTime: Duration

        /// Whether plain-text HTTP/2 is spoken without negotiation, for tests against servers of raw frames.
        package var speaksHTTP2WithPriorKnowledge = false

        /// Creates a configuration.
        public init(
            loops: Int = 1,
            maxConnectionsPerOrigin: Int = 64,
            httpVersion: HTTPVersion = .automatic,
            proxy: Proxy = .none,
            caFile: String? = nil,
            isCertificateVerificationDisabled: Bool = false,
            decompresses: Bool = true,
            connectTimeout: Duration = .seconds(10),
            maxHeaderBytes: Int = 65_536,
            maxBufferedBytes: Int = 262_144,
            bufferSize: Int = 122_880,
            maxIdleTime: Duration = .seconds(50)
        ) {
            self.loops = loops
            self.maxConnectionsPerOrigin = maxConnectionsPerOrigin
            self.httpVersion = httpVersion
            self.proxy = proxy
            self.caFile = caFile
            self.isCertificateVerificationDisabled = isCertificateVerificationDisabled
            self.decompresses = decompresses
            self.connectTimeout = connectTimeout
            self.maxHeaderBytes = maxHeaderBytes
            self.maxBufferedBytes = maxBufferedBytes
            self.bufferSize = bufferSize
            self.maxIdleTime = maxIdleTime
        }

        /// The same with every number within its range.
        func normalized() -> Configuration {
            var copy = self
            copy.loops = max(1, min(loops, 256))
            copy.maxConnectionsPerOrigin = max(1, maxConnectionsPerOrigin)
            copy.maxHeaderBytes = max(0, maxHeaderBytes)
            copy.maxBufferedBytes = max(1, maxBufferedBytes)
            copy.bufferSize = max(1024, min(bufferSize, 10 << 20))
            copy.maxIdleTime = max(.seconds(1), min(maxIdleTime, .seconds(86_400)))
            copy.connectTimeout = max(.milliseconds(1), min(connectTimeout, .seconds(86_400)))
            return copy
        }
    }

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
