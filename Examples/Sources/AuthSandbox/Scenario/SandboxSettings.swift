/// How the providers behave; every property has the provider's documented value as its default.
///
/// Except for `oauth`, `okta`, `forgerock` and `facebook`, all of it is Clerk's; the password policy is everybody's, and some of it
/// holds for Okta too, as ``SandboxOktaSettings`` tells.
///
/// In a scenario file these are the keys of `settings`, and `POST /_sandbox/settings` takes the same object to change
/// some of them while the sandbox runs. Durations are seconds in JSON and milliseconds here.
public struct SandboxSettings: Sendable, Equatable {
    /// `single_session`: a second sign-in on a client with an active session is refused.
    ///
    /// Default: true.
    public var isSingleSession = true
    /// `enumeration_protection`: a wrong identifier and a wrong password look the same.
    ///
    /// Default: false.
    public var protectsAgainstEnumeration = false
    /// `native_api`: false answers native requests with `native_api_disabled`.
    ///
    /// Default: true.
    public var isNativeAPIEnabled = true
    /// `lockout`: when an account is locked and for how long.
    ///
    /// Default: after 10 failures, for an hour.
    public var lockout = Lockout()
    /// `rate_limits`: `true`, `false`, or an object with `create_sign_in` and `attempt_sign_in`.
    ///
    /// Default: as published.
    public var rateLimits = RateLimits()
    /// `session_token_life_s`: the life of a session's JWT.
    ///
    /// Default: 60 s.
    public var sessionTokenLife: Int64 = 60_000
    /// `session_life_s`: how long a session lives.
    ///
    /// Default: 7 days.
    public var sessionLife: Int64 = 604_800_000
    /// `sign_in_life_s`: after this an unfinished sign-in is abandoned.
    ///
    /// Default: a day.
    public var signInLife: Int64 = 86_400_000
    /// `code_life_s`: how long a one-time code can be used.
    ///
    /// Default: 10 minutes.
    public var codeLife: Int64 = 600_000
    /// `code_attempts`: this many wrong codes make a verification fail.
    ///
    /// Default: 3.
    public var codeAttempts: Int64 = 3
    /// `resend_window_s`: a code is not sent again any sooner.
    ///
    /// Default: 30 s.
    public var resendWindow: Int64 = 30_000
    /// `totp_single_use`: a time-based code is taken once only.
    ///
    /// Default: false, so that a test can sign in twice.
    public var isTOTPSingleUse = false
    /// `ended_session`: the answer for a session that is over: `authentication_invalid` (401), `signed_out` (401),
    /// `resource_not_found` (404), or `session_status` (401 with a code such as `session_revoked`).
    ///
    /// Default: `authentication_invalid`.
    public var endedSessionCode = "authentication_invalid"
    /// `require_token_seed`: session tokens need the previous JWT (`missing_expired_token`).
    ///
    /// Default: false.
    public var requiresTokenSeed = false
    /// `client_in_errors`: error answers carry the client in their top-level `meta`.
    ///
    /// Default: false.
    public var showsClientInErrors = false
    /// `fresh_for_s`: how long after a factor was proved something sensitive may be done; after it, the answer is 403
    /// `session_reverification_required`.
    ///
    /// Default: 10 minutes.
    public var freshFor: Int64 = 600_000
    /// `required_fields`: what a sign-up must bring beside an e-mail address.
    ///
    /// Default: `password`.
    public var requiredFields = ["password"]
    /// `client_token_grace_s`: how long the client token before a rotation is still taken.
    ///
    /// Default: 0.
    public var clientTokenGrace: Int64 = 0
    /// `password_policy`: what a new password has to be.
    ///
    /// Default: 8 to 72 characters, not in the breach list.
    public var passwordPolicy = PasswordPolicy()

    /// `oauth`: how the OAuth provider behaves.
    ///
    /// Default: refresh tokens rotate, with a grace of 30 s.
    public var oauth = SandboxOAuthSettings()

    /// `okta`: how Okta behaves.
    ///
    /// Default: as documented, rate limits included.
    public var okta = SandboxOktaSettings()

    /// `forgerock`: how PingAM behaves.
    ///
    /// Default: locks with the fifth failure, steps that can be answered for 5 minutes.
    public var forgerock = SandboxForgeRockSettings()
    /// `facebook`: how Facebook behaves.
    ///
    /// Default: no limits, tokens that live for two hours.
    public var facebook = SandboxFacebookSettings()

    /// Creates the published behaviour.
    public init() {}

    /// When an account is locked and for how long.
    public struct Lockout: Sendable, Equatable {
        /// `threshold`: the failure with this number locks; 0 never locks.
        ///
        /// Default: 10.
        public var threshold: Int64 = 10
        /// `duration_s`: nil (`null`) locks until somebody unlocks.
        ///
        /// Default: an hour.
        public var duration: Int64? = 3_600_000
        /// `format`: how the time left is written: `number`, `string` or `absent`.
        ///
        /// Default: `number`.
        public var format = "number"
        /// `warnings`: with 2, 1 and 0 attempts left the answer has a second entry, `account_lockout_warning`, and the
        /// last failure is answered with it instead of with `user_locked`.
        ///
        /// Default: false.
        public var warns = false

        /// Creates the published behaviour.
        public init() {}
    }

    /// How many requests of a class one address may send; nil (`null` or `false`) is without limit.
    public struct RateLimits: Sendable, Equatable {
        /// `create_sign_in`.
        ///
        /// Default: 5 in 10 s.
        public var createSignIn: Limit? = Limit(count: 5, per: 10_000)
        /// `attempt_sign_in`, first and second factors together.
        ///
        /// Default: 3 in 10 s.
        public var attemptSignIn: Limit? = Limit(count: 3, per: 10_000)

        /// `create_sign_up`.
        ///
        /// Default: 5 in 10 s.
        public var createSignUp: Limit? = Limit(count: 5, per: 10_000)
        /// `attempt_sign_up`.
        ///
        /// Default: 3 in 10 s.
        public var attemptSignUp: Limit? = Limit(count: 3, per: 10_000)

        /// Creates the published limits.
        public init() {}

        /// No limits.
        public static var none: RateLimits {
            var limits = RateLimits()
            limits.createSignIn = nil
            limits.attemptSignIn = nil
            limits.createSignUp = nil
            limits.attemptSignUp = nil
            return limits
        }
    }

    /// `{"count": 5, "per_s": 10}`.
    public struct Limit: Sendable, Equatable {
        /// `count`: how many requests.
        public var count: Int64
        /// `per_s`: in how long.
        public var per: Int64

        /// Creates a limit.
        ///
        /// - Parameters:
        ///   - count: How many requests.
        ///   - per: In how many milliseconds.
        public init(count: Int64, per: Int64) {
            self.count = count
            self.per = per
        }
    }

    /// What a new password has to be.
    public struct PasswordPolicy: Sendable, Equatable {
        /// `min_length`.
        ///
        /// Default: 8.
        public var minimumLength: Int64 = 8
        /// `require_number`.
        ///
        /// Default: false.
        public var requiresNumber = false
        /// `require_uppercase`.
        ///
        /// Default: false.
        public var requiresUppercase = false
        /// `require_special`.
        ///
        /// Default: false.
        public var requiresSpecial = false
        /// `breached`: passwords that count as published.
        ///
        /// Default: `password`, `password1`, `12345678`, `qwertyuiop`.
        public var breached = ["password", "password1", "12345678", "qwertyuiop"]

        /// Creates the default policy.
        public init() {}
    }
}

extension SandboxSettings {
    /// Takes over the keys that the object has and leaves the others.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        isSingleSession = try reader.bool("single_session") ?? isSingleSession
        protectsAgainstEnumeration = try reader.bool("enumeration_protection") ?? protectsAgainstEnumeration
        isNativeAPIEnabled = try reader.bool("native_api") ?? isNativeAPIEnabled
        if let value = reader.value("lockout") { try lockout.update(from: value, path: "\(path).lockout") }
        if let value = reader.value("rate_limits") { try rateLimits.update(from: value, path: "\(path).rate_limits") }
        sessionTokenLife = try reader.seconds("session_token_life_s") ?? sessionTokenLife
        sessionLife = try reader.seconds("session_life_s") ?? sessionLife
        signInLife = try reader.seconds("sign_in_life_s") ?? signInLife
        codeLife = try reader.seconds("code_life_s") ?? codeLife
        codeAttempts = try reader.int("code_attempts", 1...1_000_000) ?? codeAttempts
        resendWindow = try reader.seconds("resend_window_s") ?? resendWindow
        isTOTPSingleUse = try reader.bool("totp_single_use") ?? isTOTPSingleUse
        let endings = ["authentication_invalid", "signed_out", "resource_not_found", "session_status"]
        endedSessionCode = try reader.word("ended_session", of: endings) ?? endedSessionCode
        requiresTokenSeed = try reader.bool("require_token_seed") ?? requiresTokenSeed
        showsClientInErrors = try reader.bool("client_in_errors") ?? showsClientInErrors
        freshFor = try reader.seconds("fresh_for_s") ?? freshFor
        requiredFields = try reader.strings("required_fields") ?? requiredFields
        clientTokenGrace = try reader.seconds("client_token_grace_s") ?? clientTokenGrace
        if let value = reader.value("password_policy") {
            try passwordPolicy.update(from: value, path: "\(path).password_policy")
        }
        if let value = reader.value("oauth") { try oauth.update(from: value, path: "\(path).oauth") }
        if let value = reader.value("okta") { try okta.update(from: value, path: "\(path).okta") }
        if let value = reader.value("forgerock") { try forgerock.update(from: value, path: "\(path).forgerock") }
        if let value = reader.value("facebook") { try facebook.update(from: value, path: "\(path).facebook") }
        try reader.finish()
    }

    /// The settings as `GET /_sandbox/settings` shows them.
    var json: JSONValue {
        [
            "single_session": .bool(isSingleSession),
            "enumeration_protection": .bool(protectsAgainstEnumeration),
            "native_api": .bool(isNativeAPIEnabled),
            "lockout": lockout.json,
            "rate_limits": [
                "create_sign_in": rateLimits.createSignIn?.json ?? .null,
                "attempt_sign_in": rateLimits.attemptSignIn?.json ?? .null,
                "create_sign_up": rateLimits.createSignUp?.json ?? .null,
                "attempt_sign_up": rateLimits.attemptSignUp?.json ?? .null,
            ],
            "session_token_life_s": .seconds(sessionTokenLife),
            "session_life_s": .seconds(sessionLife),
            "sign_in_life_s": .seconds(signInLife),
            "code_life_s": .seconds(codeLife),
            "code_attempts": .int(codeAttempts),
            "resend_window_s": .seconds(resendWindow),
            "totp_single_use": .bool(isTOTPSingleUse),
            "ended_session": .string(endedSessionCode),
            "require_token_seed": .bool(requiresTokenSeed),
            "client_in_errors": .bool(showsClientInErrors),
            "fresh_for_s": .seconds(freshFor),
            "required_fields": .array(requiredFields.map(JSONValue.string)),
            "client_token_grace_s": .seconds(clientTokenGrace),
            "password_policy": [
                "min_length": .int(passwordPolicy.minimumLength),
                "require_number": .bool(passwordPolicy.requiresNumber),
                "require_uppercase": .bool(passwordPolicy.requiresUppercase),
                "require_special": .bool(passwordPolicy.requiresSpecial),
                "breached": .array(passwordPolicy.breached.map(JSONValue.string)),
            ],
            "oauth": oauth.json,
            "okta": okta.json,
            "forgerock": forgerock.json,
            "facebook": facebook.json,
        ]
    }
}

extension SandboxSettings.Lockout {
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        threshold = try reader.int("threshold", 0...1_000_000) ?? threshold
        if let value = reader.value("duration_s") {
            duration = value == .null ? nil : try ObjectReader.milliseconds(value, what: "\(path).duration_s")
        }
        format = try reader.word("format", of: ["number", "string", "absent"]) ?? format
        warns = try reader.bool("warnings") ?? warns
        try reader.finish()
    }

    fileprivate var json: JSONValue {
        [
            "threshold": .int(threshold),
            "duration_s": duration.map(JSONValue.seconds) ?? .null,
            "format": .string(format),
            "warnings": .bool(warns),
        ]
    }
}

extension SandboxSettings.RateLimits {
    fileprivate mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        if let isOn = value.bool {
            self = isOn ? SandboxSettings.RateLimits() : .none
            return
        }
        var reader = try ObjectReader(value, path: path)
        if let value = reader.value("create_sign_in") {
            createSignIn = try SandboxSettings.Limit(value, path: "\(path).create_sign_in")
        }
        if let value = reader.value("attempt_sign_in") {
            attemptSignIn = try SandboxSettings.Limit(value, path: "\(path).attempt_sign_in")
        }
        if let value = reader.value("create_sign_up") {
            createSignUp = try SandboxSettings.Limit(value, path: "\(path).create_sign_up")
        }
        if let value = reader.value("attempt_sign_up") {
            attemptSignUp = try SandboxSettings.Limit(value, path: "\(path).attempt_sign_up")
        }
        try reader.finish()
    }
}

extension SandboxSettings.Limit {
    init?(_ value: JSONValue, path: String) throws(SandboxError) {
        if value == .null || value == .bool(false) { return nil }
        var reader = try ObjectReader(value, path: path)
        guard let count = try reader.int("count", 1...1_000_000), let per = try reader.seconds("per_s") else {
            throw SandboxError(.invalidInput, "\(path) needs count and per_s")
        }
        try reader.finish()
        self.init(count: count, per: per)
    }

    fileprivate var json: JSONValue { ["count": .int(count), "per_s": .seconds(per)] }
}

extension SandboxSettings.PasswordPolicy {
    fileprivate mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        minimumLength = try reader.int("min_length", 1...72) ?? minimumLength
        requiresNumber = try reader.bool("require_number") ?? requiresNumber
        requiresUppercase = try reader.bool("require_uppercase") ?? requiresUppercase
        requiresSpecial = try reader.bool("require_special") ?? requiresSpecial
        breached = try reader.strings("breached") ?? breached
        try reader.finish()
    }
}

extension JSONValue {
    /// Milliseconds as a number of seconds.
    static func seconds(_ milliseconds: Int64) -> JSONValue {
        milliseconds % 1000 == 0 ? .int(milliseconds / 1000) : .double(Double(milliseconds) / 1000)
    }
}
