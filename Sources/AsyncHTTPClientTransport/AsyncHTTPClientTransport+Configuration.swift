#if AsyncHTTPClient
import HTTPRecovery
public import NIOCore

extension AsyncHTTPClientTransport {
    /// What a transport is set up with.
    public struct Configuration: Sendable {
        /// The event loops to run on; nil, the default, is SwiftNIO's own group, which the whole program shares.
        ///
        /// All requests to one origin run on one loop of it. The group is not shut down with the transport.
        public var eventLoopGroup: (any EventLoopGroup)?

        /// The most HTTP/1.1 connections to one origin; 64 by default.
        ///
        /// Further requests wait in the order of arrival. A response whose body is still unread holds its place. Values
        /// below 1 count as 1. Over HTTP/2 the server says how many requests share the one connection.
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

        /// Whether to ask for compressed responses (gzip and deflate) and decompress them; true by default.
        ///
        /// A request that has an Accept-Encoding or Range field of its own is left alone. If a response was
        /// decompressed, its Content-Encoding and Content-Length fields are removed.
        public var decompresses: Bool

        /// The time that waiting for a connection may take; 10 seconds by default.
        ///
        /// It covers name lookup, connection and TLS handshake, and, other than with libcurl, the wait for one of the
        /// ``maxConnectionsPerOrigin`` to become free.
        public var connectTimeout: Duration

        /// The most bytes of header sections a response may have; 64 KiB by default.
        ///
        /// Interim responses are included. The client's own parser accepts no more than 80 KiB in one section, and 16 KiB
        /// over HTTP/2.
        public var maxHeaderBytes: Int

        /// The bytes of a response body that wait for their reader before the transport stops receiving; 256 KiB by
        /// default.
        ///
        /// One more reading of the socket may be buffered by the client itself.
        public var maxBufferedBytes: Int

        /// The time an unused connection is kept; 50 seconds by default, less than what common servers keep them.
        public var maxIdleTime: Duration

        /// Whether responses and errors tell what the transport has measured (`metrics`); false by default.
        ///
        /// The times of name lookup, connection and TLS handshake, and of the wait for a place, are not among it: the
        /// client does not tell them. All others count from the moment the attempt was handed to the transport.
        public var reportsMetrics = false

        /// Creates a configuration.
        public init(
            eventLoopGroup: (any EventLoopGroup)? = nil,
            maxConnectionsPerOrigin: Int = 64,
            httpVersion: HTTPVersion = .automatic,
            proxy: Proxy = .none,
            caFile: String? = nil,
            isCertificateVerificationDisabled: Bool = false,
            decompresses: Bool = true,
            connectTimeout: Duration = .seconds(10),
            maxHeaderBytes: Int = 65_536,
            maxBufferedBytes: Int = 262_144,
            maxIdleTime: Duration = .seconds(50)
        ) {
            self.eventLoopGroup = eventLoopGroup
            self.maxConnectionsPerOrigin = maxConnectionsPerOrigin
            self.httpVersion = httpVersion
            self.proxy = proxy
            self.caFile = caFile
            self.isCertificateVerificationDisabled = isCertificateVerificationDisabled
            self.decompresses = decompresses
            self.connectTimeout = connectTimeout
            self.maxHeaderBytes = maxHeaderBytes
            self.maxBufferedBytes = maxBufferedBytes
            self.maxIdleTime = maxIdleTime
        }

        /// The same with every number within its range.
        func normalized() -> Configuration {
            var copy = self
            copy.maxConnectionsPerOrigin = max(1, maxConnectionsPerOrigin)
            copy.maxHeaderBytes = max(0, maxHeaderBytes)
            copy.maxBufferedBytes = max(1, maxBufferedBytes)
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
        }

        private let choice: Choice

        /// HTTP/2 over TLS if the server speaks it, HTTP/1.1 otherwise; over plain text always HTTP/1.1.
        public static let automatic = HTTPVersion(choice: .automatic)

        /// HTTP/1.1 alone.
        public static let http1 = HTTPVersion(choice: .http1)

        var mayUseHTTP2: Bool { choice == .automatic }
    }
}
#endif
