public import AuthRecovery
public import HTTPRecovery

/// A sign-in that is stored.
public struct FacebookSession: AuthSession, Hashable {
    /// Who is signed in, if that is known.
    public var user: FacebookUser?
    /// When the token ends; nil if it does not, or that is not known.
    public var expiresAt: Timestamp?
    /// When the app may not read the person's data any more, although the token lives on; nil if that is not limited, or
    /// not known.
    ///
    /// Only a sign-in extends it (``FacebookTokenInfo/dataAccessExpiresAt`` asks Facebook).
    public var dataAccessExpiresAt: Timestamp?

    /// What the person has said about each permission that the sign-in has asked for, as far as that is known.
    ///
    /// Where the sign-in does not tell, as a device login does not, Facebook was asked. ``Facebook/permissions()`` asks
    /// again.
    public var permissions: [FacebookPermission]

    /// Who has signed in, as Facebook has attested it; nil where the sign-in has brought no ID token.
    ///
    /// The login dialog gives one to an app without its secret, and to one that asks for `openid`. Its issuer, its audience,
    /// its end and its nonce were compared with what they have to be, and its signature with Facebook's keys if there is
    /// something that verifies signatures (``FacebookConfiguration/signatures``).
    public var idToken: OAuthClient.IDToken?

    /// The person and the end.
    public var summary: SessionSummary { SessionSummary(name: user?.id, expiresAt: expiresAt) }

    /// Creates a session.
    public init(
        user: FacebookUser? = nil,
        expiresAt: Timestamp? = nil,
        dataAccessExpiresAt: Timestamp? = nil,
        permissions: [FacebookPermission] = [],
        idToken: OAuthClient.IDToken? = nil
    ) {
        self.user = user
        self.expiresAt = expiresAt
        self.dataAccessExpiresAt = dataAccessExpiresAt
        self.permissions = permissions
        self.idToken = idToken
    }
}
