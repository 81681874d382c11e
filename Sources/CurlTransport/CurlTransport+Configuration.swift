import HTTPRecovery

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

        /// How connections to `https` origins are protected.
        public var tls: TLS

        /// The path of a unix-domain socket that every connection is made to, whatever host a request names; nil by
        /// default.
        ///
        /// The proxy is not used then. At most 107 bytes; another path ends every attempt as `misconfigured`.
        public var unixSocketPath: String? = nil

        /// Which connections go elsewhere than their URL says; empty by default.
        ///
        /// The first that fits counts.
        public var connectionOverrides: [ConnectionOverride] = []

        /// The kind of addresses that connections are made to; ``AddressFamily/any`` by default.
        ///
        /// A name without such an address ends an attempt as `cannotResolve`.
        public var addressFamily = AddressFamily.any

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
        /// Interim responses and trailers are included. libcurl itself bounds a single line, at about 100 KB, and one of
        /// trailers at about 4 KiB; from version 8.3 on also all of them together, at 300 KiB.
        public var maxHeaderBytes: Int

        /// The bytes of a response body that wait for their reader before the transport stops receiving; 256 KiB by
        /// default.
        ///
        /// Of a body that a client reads at once (`RequestOptions.buffering`) more may wait, as far as the client is going to
        /// read: an equal share of 4 MiB for each transfer that runs.
        public var maxBufferedBytes: Int

        /// The most bytes that a compressed body may expand to; 64 MiB by default.
        ///
        /// Larger ones pass if they expand to less than a hundred times what came over the network. What goes beyond ends
        /// as `body_too_large`, and so does a single receive buffer that expands to more than 64 MiB before its reader
        /// has taken it, whatever stands here. How much a caller takes into memory is bounded by `collect(upTo:)` and the
        /// client's buffering.
        public var maxDecompressedBytes = 67_108_864

        /// Whether attempts are measured, for `TransportResponse.metrics`; false by default.
        ///
        /// It costs a few microseconds and two allocations per attempt.
        public var reportsMetrics = false

        /// The size of libcurl's receive buffer for large bodies; 256 KiB by default, at least 1 KiB, at most 10 MiB.
        ///
        /// Each running transfer has one. It is 16 KiB, unless one of the last responses of the origin was larger: a large
        /// one takes a third of the time with a large buffer, and any other is slower with it. Beside hundreds of others
        /// over HTTP/1.1 it is 1 KiB, unless one of the last bodies had more than 512 bytes: for who waits for an answer,
        /// that is a sixth less memory.
        public var bufferSize: Int

        /// How long an unused connection may be used again; 50 seconds by default, less than what common servers keep them.
        ///
        /// At least one second, at most a day. Then those are closed that a burst has opened: each loop has connections in
        /// groups of 64 requests at a time, and a group that no request has used for so long is closed. Of the first group,
        /// which the next requests use, old ones are closed when one is looked for.
        public var maxIdleTime: Duration

        /// Whether plain-text HTTP/2 is spoken without negotiation, for tests against servers of raw frames.
        package var speaksHTTP2WithPriorKnowledge = false

        /// Creates a configuration.
        ///
        /// `caFile` is short for ``TLS/Authorities/file(_:)`` in ``TLS/authorities``, and
        /// `isCertificateVerificationDisabled` for ``TLS/isVerificationDisabled``.
        public init(
            loops: Int = 1,
            maxConnectionsPerOrigin: Int = 64,
            httpVersion: HTTPVersion = .automatic,
            proxy: Proxy = .none,
            tls: TLS = TLS(),
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
            self.tls = tls
            if let caFile { self.tls.authorities = .file(caFile) }
            if isCertificateVerificationDisabled { self.tls.isVerificationDisabled = true }
            self.decompresses = decompresses
            self.connectTimeout = connectTimeout
            self.maxHeaderBytes = maxHeaderBytes
            self.maxBufferedBytes = maxBufferedBytes
            self.bufferSize = bufferSize
            self.maxIdleTime = maxIdleTime
        }

        /// The path of a file of PEM certificates to trust instead of the system's; nil if others are.
        ///
        /// It is short for ``TLS/authorities``.
        public var caFile: String? {
            get { if case .file(let path) = tls.authorities.choice { path } else { nil } }
            set { tls.authorities = newValue.map { .file($0) } ?? .system }
        }

        /// Whether any server certificate is accepted; false by default.
        ///
        /// It is short for ``TLS/isVerificationDisabled``.
        public var isCertificateVerificationDisabled: Bool {
            get { tls.isVerificationDisabled }
            set { tls.isVerificationDisabled = newValue }
        }

        /// Why nothing can be sent with it, as a sentence; nil if nothing stands against it.
        ///
        /// Files are not looked at: they may come and go. A transport that is made all the same ends every attempt as
        /// `misconfigured`.
        public var problem: String? { SharedOptions.problem(of: normalized())?.message }

        /// The same with every number within its range.
        func normalized() -> Configuration {
            var copy = self
            copy.loops = max(1, min(loops, 256))
            copy.maxConnectionsPerOrigin = max(1, maxConnectionsPerOrigin)
            copy.maxHeaderBytes = max(0, maxHeaderBytes)
            copy.maxBufferedBytes = max(1, maxBufferedBytes)
            copy.maxDecompressedBytes = max(1, maxDecompressedBytes)
            copy.bufferSize = max(1024, min(bufferSize, 10 << 20))
            copy.maxIdleTime = max(.seconds(1), min(maxIdleTime, .seconds(86_400)))
            copy.connectTimeout = max(.milliseconds(1), min(connectTimeout, .seconds(86_400)))
            return copy
        }
    }
}
