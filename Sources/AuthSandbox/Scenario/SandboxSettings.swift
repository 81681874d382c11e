import HTTPRecovery

/// How the providers behave; every property has the provider's documented value as its default.
///
/// What is here is Clerk's, and each other provider adds its own under its name; the password policy is everybody's, and some of it
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
    /// `sign_up_mode`: `public`, `restricted` (by invitation alone) or `waitlist`.
    ///
    /// Default: `public`.
    public var signUpMode = "public"
    /// `social_strategies`: the providers that the instance has, by their strategies; any other is refused.
    ///
    /// Default: `oauth_google`. Their ID tokens (`oauth_token_google`, `google_one_tap`) are taken too.
    public var socialStrategies = ["oauth_google"]
    /// `redirect_urls`: where a visit to another provider may lead back to with the nonce that a native client needs; none
    /// allows all.
    ///
    /// Default: none.
    public var redirectURLs: [String] = []
    /// `second_factor_attributes`: what people can set up as a second factor: `authenticator_app`, `phone_number`,
    /// `backup_code`.
    ///
    /// Default: all.
    public var secondFactorAttributes = ["authenticator_app", "phone_number", "backup_code"]
    /// `sms_delay_s`: how long a message with a code takes to leave for a phone: whoever presents the code sooner is refused with
    /// `sms_verification_not_yet_sent`, and nothing is counted.
    ///
    /// Default: 0.
    public var smsDelay: Int64 = 0
    /// `captcha`: what a captcha is wanted for: `off`, `sign_up` (its creation brings the token, else
    /// `captcha_missing_token`), or 401 `requires_captcha` until the client has solved one at `/v1/client/verify`: for `always`
    /// before anything begins, for `account` before somebody proves themselves again or changes something below `/v1/me`.
    ///
    /// A token is good once, and one that begins with `wrong` never. The environment says how it is shown. Default: `off`.
    public var captcha = "off"
    /// `protects`: what wants a proof against abuse: `sign_in` and `sign_up` refuse the creation with
    /// `requires_protect_check` unless it brings one; `sign_up_flow` holds the sign-up up until one is brought to it.
    ///
    /// A proof is the check's token behind `proof-of-`. Default: none.
    public var protects: [String] = []
    /// `trusted_device_apps`: the identifiers of the apps whose devices may enroll a key.
    ///
    /// Default: `com.example.cli`.
    public var trustedDeviceApps = ["com.example.cli"]
    /// `client_token_grace_s`: how long the client token before a rotation is still taken.
    ///
    /// Default: 0.
    public var clientTokenGrace: Int64 = 0
    /// `password_policy`: what a new password has to be.
    ///
    /// Default: 8 to 72 characters, not in the breach list.
    public var passwordPolicy = PasswordPolicy()
    /// How the other providers behave.
    var parts = SandboxParts<InSettings>()

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
    public struct Limit: Switchable, Sendable, Equatable {
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

extension SandboxSettings: Described {
    static var blank: SandboxSettings { SandboxSettings() }
    static var words: [String: [String]] {
        [
            "ended_session": ["authentication_invalid", "signed_out", "resource_not_found", "session_status"],
            "sign_up_mode": ["public", "restricted", "waitlist"],
            "second_factor_attributes": ["authenticator_app", "phone_number", "backup_code"],
            "captcha": ["off", "sign_up", "always", "account"], "protects": ["sign_in", "sign_up", "sign_up_flow"],
        ]
    }
    static var ranges: [String: ClosedRange<Int64>] { ["code_attempts": 1...1_000_000] }

    enum CodingKeys: String, CodingKey {
        case isSingleSession = "single_session"
        case protectsAgainstEnumeration = "enumeration_protection"
        case isNativeAPIEnabled = "native_api"
        case lockout, rateLimits
        case sessionTokenLife = "session_token_life_s"
        case sessionLife = "session_life_s"
        case signInLife = "sign_in_life_s"
        case codeLife = "code_life_s"
        case codeAttempts
        case resendWindow = "resend_window_s"
        case smsDelay = "sms_delay_s"
        case isTOTPSingleUse = "totp_single_use"
        case endedSessionCode = "ended_session"
        case requiresTokenSeed = "require_token_seed"
        case showsClientInErrors = "client_in_errors"
        case freshFor = "fresh_for_s"
        case requiredFields, signUpMode, socialStrategies
        case redirectURLs = "redirect_urls"
        case secondFactorAttributes, captcha, protects, trustedDeviceApps
        case clientTokenGrace = "client_token_grace_s"
        case passwordPolicy, parts
    }
}

extension SandboxSettings.Lockout: Described {
    static var blank: Self { Self() }
    static var words: [String: [String]] { ["format": ["number", "string", "absent"]] }
    static var ranges: [String: ClosedRange<Int64>] { ["threshold": 0...1_000_000] }

    enum CodingKeys: String, CodingKey {
        case threshold
        case duration = "duration_s"
        case format
        case warns = "warnings"
    }
}

extension SandboxSettings.RateLimits: Described {
    static var blank: Self { Self() }

    enum CodingKeys: CodingKey {
        case createSignIn, attemptSignIn, createSignUp, attemptSignUp
    }

    /// Reads the limits that an object has; `true` stands for the published ones, `false` for none.
    public init(from decoder: any Decoder) throws {
        if let isOn = try? decoder.singleValueContainer().decode(Bool.self) {
            self = isOn ? Self() : .none
            return
        }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        createSignIn = try container.decodeIfPresent(SandboxSettings.Limit.self, forKey: .createSignIn)
        attemptSignIn = try container.decodeIfPresent(SandboxSettings.Limit.self, forKey: .attemptSignIn)
        createSignUp = try container.decodeIfPresent(SandboxSettings.Limit.self, forKey: .createSignUp)
        attemptSignUp = try container.decodeIfPresent(SandboxSettings.Limit.self, forKey: .attemptSignUp)
    }
}

extension SandboxSettings.Limit: SandboxInput {
    static var ranges: [String: ClosedRange<Int64>] { ["count": 1...1_000_000] }

    enum CodingKeys: String, CodingKey {
        case count
        case per = "per_s"
    }
}

extension SandboxSettings.PasswordPolicy: Described {
    static var blank: Self { Self() }
    static var ranges: [String: ClosedRange<Int64>] { ["min_length": 1...72] }

    enum CodingKeys: String, CodingKey {
        case minimumLength = "min_length"
        case requiresNumber = "require_number"
        case requiresUppercase = "require_uppercase"
        case requiresSpecial = "require_special"
        case breached
    }
}
