public import AuthRecovery
public import HTTPRecovery

/// A sign-in at an Auth0 tenant that is stored.
public struct Auth0Session: AuthSession, Hashable {
    /// The person's id, if it is known.
    public var subject: String?
    /// The person's e-mail address, if the tenant tells it.
    public var email: String?
    /// When the access token ends; nil if that is not known.
    public var expiresAt: Timestamp?
    /// The recovery code that has taken the place of one that was used: show it to the person, who has to write it down,
    /// since it is told this once; if the session could not be stored, by ``Auth0UnkeptRecoveryCode``.
    public var recoveryCode: Secret?
    /// What the ID token tells; nil without the scope `openid`.
    ///
    /// At the sign-in its issuer and its audience were compared, and its signature with the tenant's keys if the configuration
    /// verifies signatures (``Auth0Configuration/signatures``). One that a renewal has brought in its place came from the
    /// tenant over a connection that was checked.
    public var identity: UnverifiedJWT?

    /// Creates a session.
    public init(
        subject: String? = nil,
        email: String? = nil,
        expiresAt: Timestamp? = nil,
        recoveryCode: Secret? = nil,
        identity: UnverifiedJWT? = nil
    ) {
        self.subject = subject
        self.email = email
        self.expiresAt = expiresAt
        self.recoveryCode = recoveryCode
        self.identity = identity
    }

    /// What tokens tell by themselves.
    init(_ answer: OAuthClient.TokenAnswer, recoveryCode: Secret?) {
        let claims = answer.idToken.flatMap { UnverifiedJWT($0) }
        self.init(
            subject: claims?.subject,
            email: claims?.claims["email"]?.string,
            expiresAt: answer.expiresAt,
            recoveryCode: recoveryCode,
            identity: claims
        )
    }

    /// The person and the end.
    public var summary: SessionSummary { SessionSummary(name: subject ?? email, expiresAt: expiresAt) }
}
