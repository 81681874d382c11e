/// How the OAuth provider behaves: the keys of `settings.oauth`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here. What a token may do is decided when it is
/// made; a later change holds for later tokens, except for the grace, the resources and DPoP.
public struct SandboxOAuthSettings: Sendable, Equatable {
    /// `rotation`: `rotating` (each refresh token is replaced by its use) or `persistent`.
    ///
    /// Default: `rotating`.
    public var rotation = "rotating"
    /// `grace_s`: how long a refresh token that was just replaced is still taken; after that its use is a violation,
    /// and the whole family is revoked.
    ///
    /// Default: 30 s; providers let one choose 0 to 60 s.
    public var grace: Int64 = 30_000
    /// `grace_answer`: what the use of a replaced token inside the grace is answered with: `successor` or `new`.
    ///
    /// `successor` is the family's newest refresh token again, so that a client whose answer was lost gets what it
    /// missed; `new` is yet another one, and the newest so far is replaced by it, with a grace of its own. The access
    /// token is new both times.
    ///
    /// Default: `successor`.
    public var graceAnswer = "successor"
    /// `returns_refresh_token`: whether the answer to a refresh carries a refresh token.
    ///
    /// Nil (`null`): when it was rotated. True: the same one again in `persistent` rotation. False: never, and so none
    /// is replaced either.
    public var returnsRefreshToken: Bool?
    /// `access_lifetime_s`.
    ///
    /// Default: an hour. `expires_in` is told in whole seconds, rounded down, but at least 1.
    public var accessLifetime: Int64 = 3_600_000
    /// `refresh_lifetime_s`: counted from the sign-in.
    ///
    /// Default: 90 days.
    public var refreshLifetime: Int64 = 7_776_000_000
    /// `refresh_idle_s`: a refresh token that was not used for so long is dead; nil (`null`) for no such limit.
    ///
    /// Default: none.
    public var refreshIdle: Int64?
    /// `code_lifetime_s`: how long an authorization code can be used.
    ///
    /// Default: 300 s.
    public var codeLifetime: Int64 = 300_000
    /// `device_lifetime_s`: how long a device code can be used.
    ///
    /// Default: 10 minutes.
    public var deviceLifetime: Int64 = 600_000
    /// `device_interval_s`: how long a device has to wait between two polls, at first.
    ///
    /// Default: 5 s.
    public var deviceInterval: Int64 = 5000
    /// `jwt`: access tokens are JWTs with `exp` and `iat` instead of opaque texts.
    ///
    /// Default: false.
    public var usesJWT = false
    /// `expires_in`: how a token's life is told: `number`, `string` or `absent`.
    ///
    /// Default: `number`.
    public var expiresIn = "number"
    /// `dpop`: `off`, `optional` (a token asked for with a proof is bound to its key) or `required`.
    ///
    /// Default: `off`.
    public var dpop = "off"
    /// `dpop_nonce`: proofs need the server's nonce.
    ///
    /// Default: true.
    public var demandsNonce = true
    /// `dpop_nonce_lifetime_s`: after this a new nonce takes the place of the old one.
    ///
    /// Default: a day.
    public var nonceLifetime: Int64 = 86_400_000
    /// `offline_access_required`: only the scope `offline_access` gets a refresh token.
    ///
    /// Default: false.
    public var requiresOfflineAccess = false
    /// `default_scope`: what a person's token is for when nothing was asked for.
    ///
    /// Default: `openid profile email offline_access`.
    public var defaultScope = "openid profile email offline_access"
    /// `pkce_required`: a public client's authorization request needs a code challenge.
    ///
    /// Default: true.
    public var requiresPKCE = true
    /// `auth_required`: false lets everybody read the resources.
    ///
    /// Default: true.
    public var requiresAuthorization = true
    /// `resource_scope`: scopes that a token needs for the resources, or the answer is 403 `insufficient_scope`; nil
    /// (`null`) for none.
    ///
    /// Default: none.
    public var resourceScope: String?
    /// `step_up`: how strong and fresh an authentication the resources need; nil (`null`) for any.
    ///
    /// Default: any.
    public var stepUp: StepUp?
    /// `signed_in_user`: whose browser `/authorize` is, where there is no `login_hint`; nil (`null`) for nobody's.
    ///
    /// Default: nobody's, which is answered with `login_required`.
    public var signedInUser: String?
    /// `authorize`: what the person at `/authorize` does: `approve` or `deny`.
    ///
    /// Default: `approve`.
    public var authorizeDecision = "approve"

    /// Creates the default behaviour.
    public init() {}

    /// `{"acr_values": "urn:mfa", "max_age_s": 300, "form": "rfc9470"}`: one of the first two at least.
    public struct StepUp: Sendable, Equatable {
        /// `acr_values`: one of these, separated by spaces, has to be the token's; nil for any.
        public var acrValues: String?
        /// `max_age_s`: how long ago the person may have signed in; nil for any time.
        public var maximumAge: Int64?
        /// `form`: `rfc9470` (401 `insufficient_user_authentication`) or `okta` (403
        /// `insufficient_authentication_context`).
        ///
        /// Default: `rfc9470`.
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

extension SandboxOAuthSettings {
    /// Takes over the keys that the object has and leaves the others.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        rotation = try reader.word("rotation", of: ["rotating", "persistent"]) ?? rotation
        grace = try reader.seconds("grace_s") ?? grace
        graceAnswer = try reader.word("grace_answer", of: ["successor", "new"]) ?? graceAnswer
        if let value = reader.value("returns_refresh_token") {
            guard value == .null || value.bool != nil else {
                throw reader.wrong("returns_refresh_token", "true, false or null")
            }
            returnsRefreshToken = value.bool
        }
        accessLifetime = try reader.seconds("access_lifetime_s") ?? accessLifetime
        refreshLifetime = try reader.seconds("refresh_lifetime_s") ?? refreshLifetime
        if let value = reader.value("refresh_idle_s") {
            refreshIdle = value == .null ? nil : try ObjectReader.milliseconds(value, what: "\(path).refresh_idle_s")
        }
        codeLifetime = try reader.seconds("code_lifetime_s") ?? codeLifetime
        deviceLifetime = try reader.seconds("device_lifetime_s") ?? deviceLifetime
        deviceInterval = try reader.seconds("device_interval_s") ?? deviceInterval
        usesJWT = try reader.bool("jwt") ?? usesJWT
        expiresIn = try reader.word("expires_in", of: ["number", "string", "absent"]) ?? expiresIn
        dpop = try reader.word("dpop", of: ["off", "optional", "required"]) ?? dpop
        demandsNonce = try reader.bool("dpop_nonce") ?? demandsNonce
        nonceLifetime = try reader.seconds("dpop_nonce_lifetime_s") ?? nonceLifetime
        requiresOfflineAccess = try reader.bool("offline_access_required") ?? requiresOfflineAccess
        defaultScope = try reader.string("default_scope") ?? defaultScope
        requiresPKCE = try reader.bool("pkce_required") ?? requiresPKCE
        requiresAuthorization = try reader.bool("auth_required") ?? requiresAuthorization
        if let value = reader.value("resource_scope") {
            resourceScope = try Self.text(value, reader.wrong("resource_scope", "a string or null"))
        }
        if let value = reader.value("step_up") {
            stepUp = value == .null ? nil : try StepUp(value, path: "\(path).step_up")
        }
        if let value = reader.value("signed_in_user") {
            signedInUser = try Self.text(value, reader.wrong("signed_in_user", "a string or null"))
        }
        authorizeDecision = try reader.word("authorize", of: ["approve", "deny"]) ?? authorizeDecision
        try reader.finish()
    }

    private static func text(_ value: JSONValue, _ error: SandboxError) throws(SandboxError) -> String? {
        if value == .null { return nil }
        guard let text = value.string else { throw error }
        return text
    }

    /// The settings as `GET /_sandbox/settings` shows them.
    var json: JSONValue {
        [
            "rotation": .string(rotation),
            "grace_s": .seconds(grace),
            "grace_answer": .string(graceAnswer),
            "returns_refresh_token": returnsRefreshToken.map(JSONValue.bool) ?? .null,
            "access_lifetime_s": .seconds(accessLifetime),
            "refresh_lifetime_s": .seconds(refreshLifetime),
            "refresh_idle_s": refreshIdle.map(JSONValue.seconds) ?? .null,
            "code_lifetime_s": .seconds(codeLifetime),
            "device_lifetime_s": .seconds(deviceLifetime),
            "device_interval_s": .seconds(deviceInterval),
            "jwt": .bool(usesJWT),
            "expires_in": .string(expiresIn),
            "dpop": .string(dpop),
            "dpop_nonce": .bool(demandsNonce),
            "dpop_nonce_lifetime_s": .seconds(nonceLifetime),
            "offline_access_required": .bool(requiresOfflineAccess),
            "default_scope": .string(defaultScope),
            "pkce_required": .bool(requiresPKCE),
            "auth_required": .bool(requiresAuthorization),
            "resource_scope": .optional(resourceScope),
            "step_up": stepUp?.json ?? .null,
            "signed_in_user": .optional(signedInUser),
            "authorize": .string(authorizeDecision),
        ]
    }
}

extension SandboxOAuthSettings.StepUp {
    fileprivate init(_ value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        acrValues = try reader.string("acr_values")
        maximumAge = try reader.seconds("max_age_s")
        form = try reader.word("form", of: ["rfc9470", "okta"]) ?? form
        try reader.finish()
        if acrValues == nil, maximumAge == nil {
            throw SandboxError(.invalidInput, "\(path) needs acr_values or max_age_s")
        }
    }

    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let acrValues { members.append(.init(key: "acr_values", value: .string(acrValues))) }
        if let maximumAge { members.append(.init(key: "max_age_s", value: .seconds(maximumAge))) }
        members.append(.init(key: "form", value: .string(form)))
        return .object(members)
    }
}
