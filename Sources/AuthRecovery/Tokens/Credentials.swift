public import HTTPRecovery

/// All that one identity holds to prove itself.
public struct Credentials: Sendable, Hashable {
    /// The access token.
    public var accessToken: Secret?
    /// The refresh token.
    public var refreshToken: Secret?
    /// When the access token expires.
    public var expiresAt: Timestamp?
    /// The client token (Clerk).
    public var clientToken: Secret?
    /// The id of the session that is used.
    public var sessionID: String?
    /// The single-sign-on token (ForgeRock, PingAM).
    public var ssoToken: Secret?
    /// Members of the stored form that this version of the library does not know; they are kept.
    public var others: [JSONValue.Member]

    /// Creates credentials.
    public init(
        accessToken: Secret? = nil,
        refreshToken: Secret? = nil,
        expiresAt: Timestamp? = nil,
        clientToken: Secret? = nil,
        sessionID: String? = nil,
        ssoToken: Secret? = nil,
        others: [JSONValue.Member] = []
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
        self.clientToken = clientToken
        self.sessionID = sessionID
        self.ssoToken = ssoToken
        self.others = others
    }

    /// The credential of a sort, where it is held.
    public subscript(kind: Outcome.CredentialKind) -> Secret? {
        switch kind {
        case .access: accessToken
        case .refresh: refreshToken
        case .client: clientToken
        case .session: ssoToken ?? sessionID.map { Secret($0) }
        case .code, .device, .id, .state: nil
        }
    }

    /// Removes the credential of a sort, with what is only known of it.
    ///
    /// With a client token goes the session that hangs on it; with a session goes its access token.
    public mutating func remove(_ kind: Outcome.CredentialKind) {
        switch kind {
        case .access:
            accessToken = nil
            expiresAt = nil
        case .refresh: refreshToken = nil
        case .client:
            clientToken = nil
            remove(.session)
        case .session:
            ssoToken = nil
            sessionID = nil
            accessToken = nil
            expiresAt = nil
        case .code, .device, .id, .state: break
        }
    }
}
