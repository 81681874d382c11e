extension TransportUnderTest {
    /// How a check wants its transport.
    ///
    /// Limits on time that are not named here have to be so long that no busy machine meets them (a day), but for those
    /// of whole attempts, which come with each request.
    public struct Options: Sendable, Hashable {
        /// Whether the requests go out over HTTP/2, in the way that ``TransportUnderTest/http2`` says; false is HTTP/1.1.
        public var speaksHTTP2 = false
        /// The path of a file of PEM certificates to trust instead of the system's; nil for the system's.
        public var caFile: String?
        /// The most connections to an origin; nil for the transport's own limit.
        ///
        /// A transport without a limit ignores it.
        public var maxConnectionsPerOrigin: Int?
        /// The time that connecting may take, TLS included.
        public var connectTimeout: Duration = .seconds(86_400)
        /// The time that an unused connection is kept.
        public var idleTimeout: Duration = .seconds(86_400)

        /// Creates options: HTTP/1.1, the system's certificates, times of a day.
        public init() {}
    }

    /// What a check wants in front of its plain server.
    public struct TLSRequest: Sendable, Hashable {
        /// The port of the plain server on 127.0.0.1.
        public var port: Int
        /// What is offered by ALPN, such as `http/1.1` or `h2`.
        public var protocols: [String]
        /// The subject's alternative name in the certificate, as OpenSSL writes it: `IP:127.0.0.1`, `DNS:elsewhere.example`.
        public var subject: String
    }

    /// Something that ends TLS and passes on what it gets to a plain server.
    public struct TLSEndpoint: Sendable {
        /// Its port on 127.0.0.1.
        public var port: Int
        /// The path of a file with the certificate, which is its own authority.
        public var caFile: String
        /// Kept until the check has ended: what stops the endpoint when it is let go.
        public var owner: any Sendable

        /// Describes an endpoint.
        public init(port: Int, caFile: String, owner: any Sendable) {
            self.port = port
            self.caFile = caFile
            self.owner = owner
        }
    }
}
