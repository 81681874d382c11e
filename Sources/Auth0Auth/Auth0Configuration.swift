public import AuthRecovery

/// What an app wants of an Auth0 tenant beside its address.
public struct Auth0Configuration: Sendable {
    /// The app's client id.
    public var clientID: String
    /// The app's secret; nil, as by default, for a public client.
    public var clientSecret: Secret?
    /// The database connection that people sign in with; nil, as by default, for the tenant's default directory.
    public var realm: String?
    /// The API that access tokens are for; nil, as by default, for the tenant's own.
    public var audience: String?
    /// What is asked for; default: `openid profile email offline_access`.
    public var scope: String
    /// How long after its first use a rotated refresh token may be presented again, as the tenant's "reuse interval" says;
    /// 0 to 60 s, default: 0, which presents none twice.
    public var rotationLeeway: Duration
    /// How long to wait between two questions whether a push was answered; at least 5 s, which is the default.
    public var pollInterval: Duration

    /// Creates a configuration.
    public init(
        clientID: String,
        clientSecret: Secret? = nil,
        realm: String? = nil,
        audience: String? = nil,
        scope: String = "openid profile email offline_access",
        rotationLeeway: Duration = .zero,
        pollInterval: Duration = .seconds(5)
    ) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.realm = realm
        self.audience = audience
        self.scope = scope
        self.rotationLeeway = min(max(rotationLeeway, .zero), .seconds(60))
        self.pollInterval = max(pollInterval, .seconds(5))
    }
}
