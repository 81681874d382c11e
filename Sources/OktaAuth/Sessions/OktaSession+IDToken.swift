public import AuthRecovery
public import HTTPRecovery

extension OktaSession {
    /// Who has signed in, and how, as the authorization server has attested it (OpenID Connect Core 1.0 section 2).
    ///
    /// When it was obtained, its issuer, its audience and its nonce were compared with the sign-in, and its signature with
    /// the server's keys if the app verifies signatures (``OktaApp/signatures``). One that came with renewed tokens was
    /// verified alike, and names the person that the one before has named.
    public struct IDToken: Sendable, Hashable {
        /// The token.
        public let token: Secret
        /// All that it claims.
        public let claims: JSONValue

        /// Reads a token; nil if it is no JWT.
        init?(_ token: Secret) {
            guard let jwt = UnverifiedJWT(token) else { return nil }
            self.token = token
            claims = jwt.claims
        }

        /// The person's id.
        public var subject: String? { claims["sub"]?.string }
        /// The person's name.
        public var name: String? { claims["name"]?.string }
        /// The person's login.
        public var login: String? { claims["preferred_username"]?.string }
        /// The person's e-mail address.
        public var email: String? { claims["email"]?.string }
        /// What the person has proved themselves with, such as `pwd` and `mfa`.
        public var methods: [String] { (claims["amr"]?.array ?? []).prefix(64).compactMap(\.string) }
        /// How strong that was, by the server's own word.
        public var level: String? { claims["acr"]?.string }
        /// When the person has proved themselves.
        public var authenticatedAt: Timestamp? { time("auth_time") }
        /// When it was issued.
        public var issuedAt: Timestamp? { time("iat") }
        /// When it expires.
        public var expiresAt: Timestamp? { time("exp") }

        private func time(_ name: String) -> Timestamp? {
            claims[name]?.lenientNumber.map { Timestamp(sinceEpoch: $0.seconds) }
        }
    }
}

// It names a person.
extension OktaSession.IDToken: Redacted {
    /// A placeholder.
    public var description: String { "OktaSession.IDToken" }
}
