public import AuthRecovery
public import HTTPRecovery

/// A session of an org, or an app's tokens for one.
public struct OktaSession: AuthSession, Hashable {
    /// The id of the org's session, which opens it like a cookie does; nil if tokens were obtained instead.
    public var id: Secret?
    /// The person's id, if the server tells it.
    public var userID: String?
    /// The person's login, if the server tells it.
    public var login: String?
    /// Okta's word for how it stands, such as `ACTIVE`; nil if it is not said.
    public var status: String?
    /// When it ends, or its access token does; nil if that is not known.
    public var expiresAt: Timestamp?
    /// Where the person's browser goes on, after a step-up of the session that it holds; nil otherwise.
    public var redirect: String?
    /// Who has signed in, as the authorization server has attested it; nil without one: its scope is `openid`.
    ///
    /// When it was obtained, its issuer, its audience and its nonce were compared with the sign-in, and its signature with
    /// the server's keys if the app verifies signatures (``OktaApp/signatures``). One that came with renewed tokens was
    /// verified alike, and names the person that the one before has named.
    public var idToken: OAuthClient.IDToken?

    /// Creates a session.
    public init(
        id: Secret? = nil,
        userID: String? = nil,
        login: String? = nil,
        status: String? = nil,
        expiresAt: Timestamp? = nil,
        redirect: String? = nil,
        idToken: OAuthClient.IDToken? = nil
    ) {
        self.id = id
        self.userID = userID
        self.login = login
        self.status = status
        self.expiresAt = expiresAt
        self.redirect = redirect
        self.idToken = idToken
    }

    /// The person, the status and the end: the session's own id opens it like a password.
    public var summary: SessionSummary {
        SessionSummary(name: userID ?? login, status: status ?? "ACTIVE", expiresAt: expiresAt)
    }

    /// Reads an org's session; nil if the value has no id.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string?.nonEmpty else { return nil }
        self.init(
            id: Secret(id),
            userID: json["userId"]?.string?.nonEmpty,
            login: json["login"]?.string?.nonEmpty,
            status: json["status"]?.string?.nonEmpty?.bounded(to: 64),
            expiresAt: json["expiresAt"]?.string.flatMap { Timestamp(rfc3339: $0) }
        )
    }
}
