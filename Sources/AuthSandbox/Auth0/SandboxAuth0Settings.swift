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
    /// `client_authentication`: how the app proves itself: `secret`, by its secret if it has one, or `private_key_jwt`, by an
    /// assertion that its own key has signed, for the tenant and for five minutes at most.
    ///
    /// Default: `secret`.
    public var clientAuthentication = "secret"
    /// `threshold`: how many failed logins of one name from one address block the pair.
    ///
    /// Default: 10.
    public var threshold: Int64 = 10
    /// `ip_threshold`: how many failed logins from one address, whoever's, hold it back; one more is let pass every 864 s.
    ///
    /// Default: 100.
    public var addressThreshold: Int64 = 100
    /// `bot_detection`: password logins are answered with `requires_verification`, which no API call can do anything about.
    ///
    /// Default: false.
    public var detectsBots = false
    /// `grants`: what the app may ask for tokens with, such as `password-realm`, `passwordless/otp` or `mfa-oob`; nil
    /// (`null`) for all.
    ///
    /// Default: all.
    public var grants: [String]?
    /// `passwordless`: the connections that send codes and links, `email` and `sms`.
    ///
    /// Default: both.
    public var passwordless = ["email", "sms"]
    /// `callbacks`: where the app may be called back; at a loopback address the port does not matter.
    ///
    /// Default: `http://127.0.0.1/callback` and `https://app.example.com/callback`.
    public var callbacks = ["http://127.0.0.1/callback", "https://app.example.com/callback"]
    /// `logout_urls`: where a browser may go after `/oidc/logout` and `/v2/logout` that name the app; after those that name
    /// none it may go nowhere.
    ///
    /// Default: `https://app.example.com/` and `http://127.0.0.1/`, the port of which does not matter.
    public var logoutURLs = ["https://app.example.com/", "http://127.0.0.1/"]
    /// `device_life_s`: how long a device login lasts.
    ///
    /// Default: 900 s.
    public var deviceLifetime: Int64 = 900_000
    /// `device_interval_s`: the least time between two polls of a device login.
    ///
    /// Default: 5 s.
    public var deviceInterval: Int64 = 5000
    /// `token_limit`: how many refresh tokens a person may have; the oldest is dropped for one more.
    ///
    /// Default: 200.
    public var tokenLimit: Int64 = 200
    /// `refresh_lifetime_s`: how long a sign-in's refresh tokens are good at all, however often they are replaced.
    ///
    /// Default: 30 days.
    public var refreshLifetime: Int64 = 2_592_000_000
    /// `refresh_idle_s`: how long they are good without being used; nil (`null`) for as long as they last.
    ///
    /// Default: as long as they last.
    public var refreshIdle: Int64?
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
    /// `request_limit`: how many requests a minute the tenant takes, as each answer tells then; nil (`null`) for any, of which
    /// no answer tells.
    ///
    /// Default: any.
    public var requestLimit: Int64?
    /// `send_limits`: whether codes and mails have the limits that Auth0 publishes: 10 text messages of a person's second
    /// factor and then one an hour, 20 mails and then one a minute; 50 codes or links in place of a password in an hour for one
    /// address of the network; 10 mails to set a new password and then one a minute; and logins and new accounts theirs: 20 of a
    /// name from one address and then 10 a minute (`too_many_logins`), 50 new accounts from one and then one each 1.2 s.
    ///
    /// Default: true.
    public var limitsSending = true
    /// `push_rejection_status`: the status of the answer that a push was refused: 400, or 200 as older tenants have it.
    ///
    /// Default: 400.
    public var pushRejectionStatus: Int64 = 400
    /// `connections`: the databases that a `realm` or a `connection` can name; everybody is in each.
    ///
    /// Default: `Username-Password-Authentication`.
    public var connections = ["Username-Password-Authentication"]
    /// `signup`: whether people may make accounts for themselves.
    ///
    /// Default: true.
    public var allowsSignUp = true
    /// `password_length`: how long a password has to be at least; one that begins with `AUTH0-TEST-` has been leaked.
    ///
    /// Default: 8.
    public var shortestPassword: Int64 = 8
    /// `password_types`: how many of four types of characters a password needs: lower case, upper case, numbers, others.
    ///
    /// Default: 0.
    public var passwordTypes: Int64 = 0
    /// `password_history`: how many of a person's last passwords cannot be set again, the present one included.
    ///
    /// Default: 0.
    public var passwordHistory: Int64 = 0
    /// `audiences`: the APIs that an `audience` can name.
    ///
    /// Default: `https://api.example.com`.
    public var audiences = ["https://api.example.com"]
    /// `permissions`: the scopes that these APIs know, beside those of OpenID Connect.
    ///
    /// Default: `read:things`.
    public var permissions = ["read:things"]
    /// `id_token_algorithm`: how ID tokens are signed: `RS256` with the tenant's key, which `/.well-known/jwks.json` has, or
    /// `HS256` with the app's secret.
    ///
    /// Default: `RS256`.
    public var idTokenAlgorithm = "RS256"
    /// `session_life_s`: how long a session lasts at all, as its ID tokens say (`session_expiry`); nil (`null`) for any time.
    ///
    /// Default: any.
    public var sessionLife: Int64?
    /// `key_rotated`: whether the tenant has another key than it signs with, so that no signature can be verified.
    ///
    /// Default: false.
    public var hidesKey = false
    /// `dpop`: `off` (by default), `optional` (a token asked for with a proof is bound to its key) or `required`.
    public var dpop = "off"
    /// `dpop_nonce`: proofs at the token endpoint need the tenant's nonce.
    ///
    /// Default: true.
    public var demandsNonce = true
    /// `offline_access`: whether these APIs allow refresh tokens.
    ///
    /// Default: true.
    public var allowsOfflineAccess = true

    /// Creates the default behaviour.
    public init() {}
}

extension SandboxAuth0Settings: SandboxPart {
    static let key = "auth0"
    static let words = [
        "passwordless": ["email", "sms"], "id_token_algorithm": ["RS256", "HS256"],
        "client_authentication": ["secret", "private_key_jwt"], "dpop": ["off", "optional", "required"],
    ]
    static let ranges: [String: ClosedRange<Int64>] = [
        "threshold": 0...1_000_000, "ip_threshold": 0...1_000_000, "token_limit": 0...1_000_000,
        "userinfo_limit": 0...1_000_000, "request_limit": 0...1_000_000, "push_rejection_status": 200...599,
        "password_length": 0...10_000, "password_types": 0...4, "password_history": 0...24,
    ]

    enum CodingKeys: String, CodingKey {
        case clientID = "client_id"
        case clientSecret, clientAuthentication, threshold
        case addressThreshold = "ip_threshold"
        case detectsBots = "bot_detection"
        case grants, passwordless, callbacks
        case logoutURLs = "logout_urls"
        case deviceLifetime = "device_life_s"
        case deviceInterval = "device_interval_s"
        case tokenLimit
        case refreshLifetime = "refresh_lifetime_s"
        case refreshIdle = "refresh_idle_s"
        case rotates = "rotation"
        case leeway = "leeway_s"
        case accessLifetime = "access_lifetime_s"
        case wantsFactorOnRefresh = "mfa_on_refresh"
        case tellsRequirements = "requirements"
        case profileLimit = "userinfo_limit"
        case requestLimit
        case limitsSending = "send_limits"
        case pushRejectionStatus
        case allowsSignUp = "signup"
        case shortestPassword = "password_length"
        case passwordTypes, passwordHistory
        case connections, audiences, permissions
        case idTokenAlgorithm = "id_token_algorithm"
        case sessionLife = "session_life_s"
        case hidesKey = "key_rotated"
        case dpop
        case demandsNonce = "dpop_nonce"
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
