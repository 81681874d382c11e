extension OAuthClient {
    /// A sort of token (RFC 8693 section 3).
    public struct TokenType: RawRepresentable, Sendable, Hashable {
        /// The identifier, a URI.
        public let rawValue: String

        /// Creates an identifier.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An access token.
        public static let accessToken = OAuthClient.TokenType(rawValue: "urn:ietf:params:oauth:token-type:access_token")
        /// A refresh token.
        public static let refreshToken = OAuthClient.TokenType(
            rawValue: "urn:ietf:params:oauth:token-type:refresh_token"
        )
        /// An ID token.
        public static let idToken = OAuthClient.TokenType(rawValue: "urn:ietf:params:oauth:token-type:id_token")
        /// A JWT.
        public static let jwt = OAuthClient.TokenType(rawValue: "urn:ietf:params:oauth:token-type:jwt")
        /// A SAML 1.1 assertion.
        public static let saml1 = OAuthClient.TokenType(rawValue: "urn:ietf:params:oauth:token-type:saml1")
        /// A SAML 2.0 assertion.
        public static let saml2 = OAuthClient.TokenType(rawValue: "urn:ietf:params:oauth:token-type:saml2")
    }
}
