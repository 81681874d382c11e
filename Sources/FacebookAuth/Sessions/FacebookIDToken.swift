public import AuthRecovery
public import HTTPRecovery

/// Who has signed in, as Facebook has attested it (OpenID Connect Core 1.0 section 2): by the login dialog, or to an app by
/// Limited Login.
///
/// Its issuer, its audience, its end and its nonce were compared with what they have to be, and its signature with Facebook's
/// keys if there is something that verifies signatures (``FacebookConfiguration/signatures``).
public struct FacebookIDToken: Sendable, Hashable {
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

    /// The person's id at Facebook, for the app.
    public var subject: String? { claims["sub"]?.string }
    /// The person's name, if they let the app know it.
    public var name: String? { claims["name"]?.string }
    /// The person's e-mail address, if they let the app know it.
    public var email: String? { claims["email"]?.string }
    /// Where a picture of the person is, if they let the app know it.
    public var picture: String? { claims["picture"]?.string }
    /// When it was issued.
    public var issuedAt: Timestamp? { time("iat") }
    /// When it ends.
    public var expiresAt: Timestamp? { time("exp") }

    private func time(_ name: String) -> Timestamp? {
        claims[name]?.lenientNumber.map { Timestamp(sinceEpoch: $0.seconds) }
    }
}

// It names a person.
extension FacebookIDToken: Redacted {
    /// A placeholder.
    public var description: String { "FacebookIDToken" }
}
