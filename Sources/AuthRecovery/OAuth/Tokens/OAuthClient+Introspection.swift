public import HTTPRecovery

extension OAuthClient {
    /// What an authorization server tells about a token (RFC 7662 section 2.2).
    public struct Introspection: Sendable, Hashable {
        /// All that the server told.
        public let claims: JSONValue

        /// Reads an answer.
        public init(claims: JSONValue) {
            self.claims = claims
        }

        /// Whether the token is good now; false if the server does not say so.
        public var isActive: Bool { claims["active"]?.bool ?? false }

        /// What the token allows.
        public var scope: String? { claims["scope"]?.string }

        /// The client that the token was issued to.
        public var clientID: String? { claims["client_id"]?.string }

        /// Whom the token speaks for, mostly as an identifier for machines.
        public var subject: String? { claims["sub"]?.string }

        /// When the token expires.
        public var expiresAt: Timestamp? { claims["exp"]?.lenientNumber.map { Timestamp(sinceEpoch: $0.seconds) } }
    }
}

extension OAuthClient.Introspection: Redacted {
    /// Whether the token is good, and nothing about whose it is.
    public var description: String { "OAuthClient.Introspection(active=\(isActive))" }
}
