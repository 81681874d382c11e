public import AuthRecovery

/// How a session is exchanged for tokens, as the client is registered with the server.
public struct OAuthSettings: Sendable {
    /// The client's identifier.
    public var clientID: String
    /// A redirect URI of the client; nothing is ever sent there.
    public var redirectURI: String
    /// What is asked for.
    public var scope: String?
    /// How the client proves itself.
    public var authentication: any ClientAuthentication
    /// What the server does with refresh tokens.
    public var reuse: RefreshTokenGrant.Reuse
    /// When tokens are renewed, and how often at most.
    public var renewal: TokenManager.RenewalOptions

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - clientID: The client's identifier.
    ///   - redirectURI: A redirect URI of the client.
    ///   - scope: What is asked for. Default: `openid`.
    ///   - authentication: How the client proves itself; by default it is a public client.
    ///   - reuse: What the server does with refresh tokens. Default: nothing is known.
    ///   - renewal: When tokens are renewed, and how often at most.
    public init(
        clientID: String,
        redirectURI: String,
        scope: String? = "openid",
        authentication: any ClientAuthentication = .none,
        reuse: RefreshTokenGrant.Reuse = .undeclared,
        renewal: TokenManager.RenewalOptions = TokenManager.RenewalOptions()
    ) {
        self.clientID = clientID
        self.redirectURI = redirectURI
        self.scope = scope
        self.authentication = authentication
        self.reuse = reuse
        self.renewal = renewal
    }
}
