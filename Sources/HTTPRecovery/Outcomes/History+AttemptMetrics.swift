extension History {
    /// When the phases of an attempt were over, and on what connection it was.
    ///
    /// Times count from the moment at which the transport had a free place for the attempt and began; a phase that did
    /// not happen, or is not over, is nil.
    public struct AttemptMetrics: Sendable, Hashable {
        /// The wait for a free place, which came before all that is counted here.
        public var waited: Duration?

        /// When the host's name had an address; nil on a connection that was there already.
        public var nameLookup: Duration?

        /// When the connection stood; nil on one that was there already.
        public var connect: Duration?

        /// When the TLS handshake was over; nil without TLS and on a connection that was there already.
        public var tlsHandshake: Duration?

        /// When the request was about to be written.
        public var requestStart: Duration?

        /// When the first byte of the answer came.
        public var firstByte: Duration?

        /// When the body had ended; nil before.
        public var total: Duration?

        /// How many connections were opened for the attempt; 0 if one was there already.
        public var connectionsOpened: Int?

        /// How often the request went out; more than once only with a transport that resends by itself.
        public var wireAttempts: Int?

        /// The bytes of the body that were received until now, before they were decompressed.
        public var bodyBytesReceived: Int?

        /// The bytes of the request's body that were sent until now.
        public var bodyBytesSent: Int?

        /// The version of HTTP in use, such as `1.1` or `2`.
        public var httpVersion: String?

        /// This side's address; nil on a unix-domain socket.
        public var localAddress: String?

        /// This side's port.
        public var localPort: Int?

        /// The address of the server, or of the proxy in front of it; nil on a unix-domain socket.
        public var remoteAddress: String?

        /// The port at that address.
        public var remotePort: Int?

        /// Creates a measurement of nothing.
        public init() {}

        /// Whether the attempt was made on a connection that had served another; nil if that is not known, and if it was made
        /// on none.
        public var isConnectionReused: Bool? { wireAttempts == 0 ? nil : connectionsOpened.map { $0 == 0 } }
    }
}
