extension OAuthClient {
    /// A token to be exchanged, and its sort (RFC 8693 section 2.1).
    public struct ExchangeToken: Sendable, Hashable {
        /// The token.
        public var token: Secret
        /// Its sort.
        public var type: OAuthClient.TokenType

        /// Creates a token to be exchanged.
        public init(_ token: Secret, type: OAuthClient.TokenType) {
            self.token = token
            self.type = type
        }
    }
}
