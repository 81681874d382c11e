public import HTTPRecovery

extension OAuthClient {
    /// Who has signed in, and how, as their provider has attested it (OpenID Connect Core 1.0 section 2).
    ///
    /// What was compared and verified, who hands it out says; claims that a provider does not make are nil.
    public struct IDToken: Sendable, Hashable {
        /// The token.
        public let token: Secret
        private let jwt: UnverifiedJWT

        /// Reads a token; nil if it is no JWT.
        package init?(_ token: Secret) {
            guard let jwt = UnverifiedJWT(token) else { return nil }
            self.token = token
            self.jwt = jwt
        }

        /// All that it claims.
        public var claims: JSONValue { jwt.claims }
        /// The person's id.
        public var subject: String? { jwt.subject }
        /// The person's name.
        public var name: String? { claims["name"]?.string }
        /// The person's login.
        public var login: String? { claims["preferred_username"]?.string }
        /// The person's e-mail address.
        public var email: String? { claims["email"]?.string }
        /// Where a picture of the person is.
        public var picture: String? { claims["picture"]?.string }
        /// What the person has proved themselves with, such as `pwd` and `mfa`.
        public var methods: [String] { (claims["amr"]?.array ?? []).prefix(64).compactMap(\.string) }
        /// How strong that was, by the server's own word.
        public var level: String? { claims["acr"]?.string }
        /// When the person has proved themselves.
        public var authenticatedAt: Timestamp? { jwt.time("auth_time") }
        /// When it was issued.
        public var issuedAt: Timestamp? { jwt.issuedAt }
        /// When it expires.
        public var expiresAt: Timestamp? { jwt.expiresAt }
    }
}

// It names a person.
extension OAuthClient.IDToken: Redacted {
    /// A placeholder.
    public var description: String { "OAuthClient.IDToken" }
}
