import HTTPRecovery

/// How an Auth0 tenant behaves: the keys of `settings.auth0`.
public struct SandboxAuth0Settings: Sendable, Equatable {
    /// `client_id`.
    ///
    /// Default: `cli`.
    public var clientID = "cli"
    /// `client_secret`: nil (`null`) for a public client.
    ///
    /// Default: none.
    public var clientSecret: String?
    /// `threshold`: how many failed logins of one name from one address block the pair.
    ///
    /// Default: 10.
    public var threshold: Int64 = 10
    /// `rotation`: whether each use of a refresh token replaces it.
    ///
    /// Default: true.
    public var rotates = true
    /// `leeway_s`: how long the token that was just replaced is still taken; after that its use ends the whole family.
    ///
    /// Default: 0.
    public var leeway: Int64 = 0
    /// `access_lifetime_s`.
    ///
    /// Default: a day.
    public var accessLifetime: Int64 = 86_400_000
    /// `mfa_on_refresh`: a renewal is answered with `mfa_required`.
    ///
    /// Default: false.
    public var wantsFactorOnRefresh = false
    /// `requirements`: whether `mfa_required` tells which factors are wanted.
    ///
    /// Default: false, as most tenants.
    public var tellsRequirements = false
    /// `userinfo_limit`: how many questions for the profile a person's tokens have in a minute; nil (`null`) for any.
    ///
    /// Default: any.
    public var profileLimit: Int64?
    /// `connections`: the databases that a `realm` or a `connection` can name; everybody is in each.
    ///
    /// Default: `Username-Password-Authentication`.
    public var connections = ["Username-Password-Authentication"]
    /// `audiences`: the APIs that an `audience` can name.
    ///
    /// Default: `https://api.example.com`.
    public var audiences = ["https://api.example.com"]
    /// `permissions`: the scopes that these APIs know, beside those of OpenID Connect.
    ///
    /// Default: `read:things`.
    public var permissions = ["read:things"]
    /// `offline_access`: whether these APIs allow refresh tokens.
    ///
    /// Default: true.
    public var allowsOfflineAccess = true

    /// Creates the default behaviour.
    public init() {}
}

extension SandboxAuth0Settings: SandboxPart {
    static let key = "auth0"

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case clientSecret, threshold
        case rotates = "rotation"
        case leeway = "leeway_s"
        case accessLifetime = "access_lifetime_s"
        case wantsFactorOnRefresh = "mfa_on_refresh"
        case tellsRequirements = "requirements"
        case profileLimit = "userinfo_limit"
        case connections, audiences, permissions
        case allowsOfflineAccess = "offline_access"
    }
}

extension SandboxSettings {
    /// `auth0`: how the tenant behaves.
    public var auth0: SandboxAuth0Settings {
        get { parts[SandboxAuth0Settings.self] }
        set { parts[SandboxAuth0Settings.self] = newValue }
    }
}
