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
        /// Interim responses and trailers are included. A single line is bounded by libcurl itself, at about 100 KB.
        public var maxHeaderBytes: Int

        /// The bytes of a response body that wait for their reader before the transport stops receiving; 256 KiB by
        /// default.
        public var maxBufferedBytes: Int

        /// The size of libcurl's receive buffer for large bodies; 256 KiB by default, at least 1 KiB, at most 10 MiB.
        ///
        /// Each running transfer has one. It is 16 KiB, unless one of the last responses of the origin was larger: a large
        /// one takes a third of the time with a large buffer, and any other is slower with it.
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
            bufferSize: Int = 262_144,
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
