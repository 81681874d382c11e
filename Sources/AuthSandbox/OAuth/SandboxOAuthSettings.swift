import HTTPRecovery

/// How the OAuth provider behaves: the keys of `settings.oauth`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here. What a token may do is decided when it is
/// made; a later change holds for later tokens, except for the grace, the resources and DPoP.
public struct SandboxOAuthSettings: Sendable, Equatable {
    /// `rotation`: `rotating` (by default: each refresh token is replaced by its use) or `persistent`.
    public var rotation = "rotating"
    /// `grace_s`: how long a refresh token that was just replaced is still taken; after that its use is a violation,
    /// and the whole family is revoked.
    ///
    /// Default: 30 s; providers let one choose 0 to 60 s.
    public var grace: Int64 = 30_000
    /// `grace_answer`: what the use of a replaced token inside the grace is answered with: `successor` (by default) or
    /// `new`.
    ///
    /// `successor` is the family's newest refresh token again, so that a client whose answer was lost gets what it
    /// missed; `new` is yet another one, and the newest so far is replaced by it, with a grace of its own. The access
    /// token is new both times.
    public var graceAnswer = "successor"
    /// `returns_refresh_token`: whether the answer to a refresh carries a refresh token.
    ///
    /// Nil (`null`, the default): when it was rotated. True: the same one again in `persistent` rotation. False: never,
    /// and so none is replaced either.
    public var returnsRefreshToken: Bool?
    /// `access_lifetime_s`: an hour by default; told in whole seconds, rounded down, but at least 1.
    public var accessLifetime: Int64 = 3_600_000
    /// `refresh_lifetime_s`: counted from the sign-in, 90 days by default.
    public var refreshLifetime: Int64 = 7_776_000_000
    /// `refresh_idle_s`: a refresh token that was not used for so long is dead; nil (`null`, the default) for no limit.
    public var refreshIdle: Int64?
    /// `code_lifetime_s`: how long an authorization code can be used, by default 300 s.
    public var codeLifetime: Int64 = 300_000
    /// `device_lifetime_s`: how long a device code can be used, by default 10 minutes.
    public var deviceLifetime: Int64 = 600_000
    /// `device_interval_s`: how long a device has to wait between two polls at first, by default 5 s.
    public var deviceInterval: Int64 = 5000
    /// `jwt`: access tokens are JWTs with `exp` and `iat` instead of opaque texts; false by default.
    public var usesJWT = false
    /// `expires_in`: how a token's life is told: `number` (by default), `string` or `absent`.
    public var expiresIn = "number"
    /// `dpop`: `off` (by default), `optional` (a token asked for with a proof is bound to its key) or `required`.
    public var dpop = "off"
    /// `dpop_nonce`: proofs need the server's nonce; true by default.
    public var demandsNonce = true
    /// `dpop_nonce_lifetime_s`: after this, by default a day, a new nonce takes the place of the old one.
    public var nonceLifetime: Int64 = 86_400_000
    /// `id_token_algorithm`: how ID tokens are signed: `RS256` (by default) with the provider's key, which the key endpoints
    /// have, or `HS256` with the client's secret.
    public var idTokenAlgorithm = "RS256"
    /// `id_token_fault`: what is wrong with ID tokens: `none` (by default), `other_audience`, which is not the client's, or
    /// `other_nonce`, which is not the request's.
    public var idTokenFault = "none"
    /// `key_rotated`: whether the provider publishes another key than it signs with; false by default.
    public var hidesKey = false
    /// `offline_access_required`: only the scope `offline_access` gets a refresh token; false by default.
    public var requiresOfflineAccess = false
    /// `default_scope`: what a person's token is for when nothing was asked for, by default
    /// `openid profile email offline_access`.
    public var defaultScope = "openid profile email offline_access"
    /// `pkce_required`: a public client's authorization request needs a code challenge; true by default.
    public var requiresPKCE = true
    /// `auth_required`: false lets everybody read the resources; true by default.
    public var requiresAuthorization = true
    /// `resource_scope`: scopes that a token needs for the resources, or the answer is 403 `insufficient_scope`; nil
    /// (`null`, the default) for none.
    public var resourceScope: String?
    /// `step_up`: how strong and fresh an authentication the resources need; nil (`null`, the default) for any.
    public var stepUp: StepUp?
    /// `signed_in_user`: whose browser `/authorize` is, if there is no `login_hint`; nil (`null`, the default) for
    /// nobody's, which is answered with `login_required`.
    public var signedInUser: String?
    /// `authorize`: what the person at `/authorize` does: `approve` (by default) or `deny`.
    public var authorizeDecision = "approve"

    /// Creates the default behaviour.
    public init() {}

    /// `{"acr_values": "urn:mfa", "max_age_s": 300, "form": "rfc9470"}`: one of the first two at least.
    public struct StepUp: Sendable, Equatable {
        /// `acr_values`: one of these, separated by spaces, has to be the token's; nil for any.
        public var acrValues: String?
        /// `max_age_s`: how long ago the person may have signed in; nil for any time.
        public var maximumAge: Int64?
        /// `form`: `rfc9470` (by default: 401 `insufficient_user_authentication`) or `okta` (403
        /// `insufficient_authentication_context`).
        public var form = "rfc9470"

        /// Creates a demand.
        ///
        /// - Parameters:
        ///   - acrValues: One of these, separated by spaces, has to be the token's; nil for any.
        ///   - maximumAge: How many milliseconds ago the person may have signed in; nil for any.
        public init(acrValues: String? = nil, maximumAge: Int64? = nil) {
            self.acrValues = acrValues
            self.maximumAge = maximumAge
        }
    }
}

extension SandboxOAuthSettings: SandboxPart {
    static let key = "oauth"
    static let words = [
        "rotation": ["rotating", "persistent"], "grace_answer": ["successor", "new"],
        "expires_in": ["number", "string", "absent"], "dpop": ["off", "optional", "required"],
        "authorize": ["approve", "deny"], "id_token_algorithm": ["RS256", "HS256"],
        "id_token_fault": ["none", "other_audience", "other_nonce"],
    ]

    enum CodingKeys: String, CodingKey {
        case rotation
        case grace = "grace_s"
        case graceAnswer, returnsRefreshToken
        case accessLifetime = "access_lifetime_s"
        case refreshLifetime = "refresh_lifetime_s"
        case refreshIdle = "refresh_idle_s"
        case codeLifetime = "code_lifetime_s"
        case deviceLifetime = "device_lifetime_s"
        case deviceInterval = "device_interval_s"
        case usesJWT = "jwt"
        case expiresIn, dpop
        case demandsNonce = "dpop_nonce"
        case nonceLifetime = "dpop_nonce_lifetime_s"
        case idTokenAlgorithm = "id_token_algorithm"
        case idTokenFault = "id_token_fault"
        case hidesKey = "key_rotated"
        case requiresOfflineAccess = "offline_access_required"
        case defaultScope
        case requiresPKCE = "pkce_required"
        case requiresAuthorization = "auth_required"
        case resourceScope, stepUp, signedInUser
        case authorizeDecision = "authorize"
    }

    /// Until when a refresh token is good that is given out or used now.
    func refreshEnd(startedAt: Int64, now: Int64) -> Int64 {
        min(startedAt + refreshLifetime, now + (refreshIdle ?? .max / 4))
    }
}

extension SandboxOAuthSettings.StepUp: Described {
    static let blank = Self()
    static let words = ["form": ["rfc9470", "okta"]]

    enum CodingKeys: String, CodingKey {
        case acrValues
        case maximumAge = "max_age_s"
        case form
    }

    func check(path: String) throws(SandboxError) {
        if acrValues == nil, maximumAge == nil {
            throw SandboxError(.invalidInput, "\(path) needs acr_values or max_age_s")
        }
    }
}

extension SandboxSettings {
    /// `oauth`: how the OAuth provider behaves; by default refresh tokens rotate, with a grace of 30 s.
    public var oauth: SandboxOAuthSettings {
        get { parts[SandboxOAuthSettings.self] }
        set { parts[SandboxOAuthSettings.self] = newValue }
    }
}
