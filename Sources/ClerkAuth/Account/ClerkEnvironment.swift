public import HTTPRecovery

/// How an instance is set up, as far as a client has to know.
public struct ClerkEnvironment: Sendable, Hashable {
    /// Who may sign up, by Clerk's word: `public`, `restricted` or `waitlist`; nil if the instance does not say.
    public var signUpMode: String?
    /// Whether a sign-up has to bring the consent to the terms.
    public var wantsLegalConsent: Bool
    /// Whether a client has one session at most.
    public var isSingleSession: Bool
    /// Whether native clients are served.
    public var servesNativeClients: Bool
    /// The providers to sign in with that are switched on, by their strategies, such as `oauth_google`.
    public var socialStrategies: [String]
    /// What people can set up as a second factor, by Clerk's strategies: `totp`, `phone_code`, `backup_code`; nil if the
    /// instance does not say.
    public var secondFactors: [String]?
    /// After how many failures an account is locked; nil if none is.
    public var lockoutThreshold: Int?
    /// How long an account stays locked; nil if that has no end, or is not said.
    public var lockoutDuration: Duration?
    /// How captchas are shown; nil if the instance says nothing of any.
    public var captcha: ClerkEnvironment.Captcha?
    /// Whether Clerk is being maintained.
    public var isInMaintenance: Bool
    /// The whole, as Clerk sends it.
    public var json: JSONValue

    init(_ json: JSONValue) {
        self.json = json
        let (settings, auth) = (json["user_settings"], json["auth_config"])
        signUpMode = settings?["sign_up"]?["mode"]?.string?.nonEmpty
        wantsLegalConsent = settings?["sign_up"]?["legal_consent_enabled"]?.bool == true
        isSingleSession = auth?["single_session_mode"]?.bool == true
        servesNativeClients = auth?["native_settings"]?["api_enabled"]?.bool != false
        socialStrategies = (settings?["social"]?.members ?? []).prefix(200)
            .filter { $0.value["enabled"]?.bool == true && $0.value["authenticatable"]?.bool != false }
            .map { $0.value["strategy"]?.string?.nonEmpty ?? $0.key }
        secondFactors = Self.secondFactors(settings?["attributes"])
        let lockout = settings?["attack_protection"]?["user_lockout"]
        let isLocking = lockout?["enabled"]?.bool == true
        lockoutThreshold = isLocking ? lockout?["max_attempts"]?.number.map { Int(clamping: $0.saturatedInt) } : nil
        lockoutDuration =
            isLocking
            ? lockout?["duration_in_minutes"]?.number.map { .seconds(min(max($0.saturatedInt, 0), 1 << 40) * 60) }
            : nil
        captcha = ClerkEnvironment.Captcha(json)
        isInMaintenance = json["maintenance_mode"]?.bool == true
    }

    /// The second factors of the attributes that are switched on for that.
    private static func secondFactors(_ attributes: JSONValue?) -> [String]? {
        guard let members = attributes?.members?.prefix(64), !members.isEmpty else { return nil }
        return members.flatMap { attribute -> [String] in
            guard attribute.value["enabled"]?.bool == true, attribute.value["used_for_second_factor"]?.bool == true
            else { return [] }
            return (attribute.value["second_factors"]?.array ?? []).prefix(16).compactMap { $0.string?.nonEmpty }
        }
    }
}
