import HTTPRecovery

/// How Facebook behaves: the keys of `settings.facebook`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here.
public struct SandboxFacebookSettings: Sendable, Equatable {
    /// `app_id`.
    ///
    /// Default: `123456789012345`.
    public var appID = "123456789012345"
    /// `app_secret`.
    ///
    /// Default: `app-secret-of-the-sandbox`.
    public var appSecret = "app-secret-of-the-sandbox"
    /// `client_token`: what the device login presents, after the app's id.
    ///
    /// Default: `client-token-of-the-sandbox`.
    public var clientToken = "client-token-of-the-sandbox"
    /// `require_proof`: calls of Graph need an `appsecret_proof`; one that is wrong is refused in any case.
    ///
    /// Default: false.
    public var requiresProof = false
    /// `token_life_s`: the life of a token that a sign-in issues.
    ///
    /// Default: 2 hours.
    public var tokenLife: Int64 = 7_200_000
    /// `long_token_life_s`: the life of a token that another one was exchanged for.
    ///
    /// Default: 60 days.
    public var longTokenLife: Int64 = 5_184_000_000
    /// `code_life_s`: how long a code of the login dialog can be exchanged.
    ///
    /// Default: 10 minutes.
    public var codeLife: Int64 = 600_000
    /// `redirect_uris`: where the login dialog may lead back to; for any other it shows a page.
    ///
    /// Default: none (`[]`), which allows all.
    public var redirectURIs: [String] = []
    /// `video_chunk`: how many bytes of a video are taken at once.
    ///
    /// Default: 1 MiB.
    public var videoChunk: Int64 = 1_048_576
    /// `media_s`: how long media are prepared before they can be published at Instagram.
    ///
    /// Default: 5 s.
    public var mediaTime: Int64 = 5000
    /// `media_per_day`: how many media an Instagram account can publish in 24 hours.
    ///
    /// Default: 50.
    public var mediaPerDay: Int64 = 50
    /// `pair_limit`: how many messages WhatsApp takes from one number to another: `{"count": 1, "per_s": 6}`; nil (`null`) is
    /// without limit.
    public var pairLimit: SandboxSettings.Limit?
    /// `device_life_s`: how long a device login lasts.
    ///
    /// Default: 7 minutes.
    public var deviceLife: Int64 = 420_000
    /// `device_interval_s`: how often a device may ask.
    ///
    /// Default: 5 s.
    public var deviceInterval: Int64 = 5000
    /// `device`: what becomes of a device login by itself: `{"polls": 2, "decision": "approve", "user": "…"}`.
    ///
    /// Nil (`null`): somebody decides.
    public var device: DeviceScript?
    /// `hide_subcodes`: a refused token is answered with 190 alone, and only the debugger tells why.
    ///
    /// Default: false.
    public var hidesSubcodes = false
    /// `string_codes`: codes are written as text.
    ///
    /// Default: false.
    public var writesCodesAsText = false
    /// `errors_in_200`: errors come with the status 200.
    ///
    /// Default: false.
    public var errorsInSuccess = false
    /// `challenge`: a refused token is answered with a challenge too, in Facebook's own syntax.
    ///
    /// Default: true.
    public var sendsChallenge = true
    /// `app_limit`: how many calls the app has: `{"count": 200, "per_s": 3600}`; nil (`null`) is without limit.
    public var appLimit: SandboxSettings.Limit?
    /// `limit_transient`: what `is_transient` says where a limit is reached; nil (`null`) leaves it out.
    ///
    /// Default: true.
    public var limitIsTransient: Bool? = true
    /// `limit_retry_after`: a refusal tells the time in `Retry-After`, as a proxy may.
    ///
    /// Default: false.
    public var limitStatesTime = false
    /// `early_call_s`: this much longer a block lasts for each call that comes while it lasts, but the first,
    /// which learns of it.
    ///
    /// Default: 60 s.
    public var earlyCallPenalty: Int64 = 60_000
    /// `app_usage`: what `X-App-Usage` says, in percent; nil (`null`) for the truth if there is an `app_limit`.
    public var appUsage: Int64?
    /// `login_fault`: what is wrong with the login dialog's answers: `none`; `unknown_error`, an error that no table knows;
    /// `other_state`, the state of another request; `other_nonce`, an ID token for another request; `other_issuer`,
    /// `other_audience`, one of somebody else or for another app; `ended_token`, one that has ended; `other_key`, one signed
    /// with a key that Facebook does not publish; `secret_key`, one signed with the app's secret; `no_scopes`, nothing
    /// about what was granted and declined.
    ///
    /// Default: `none`.
    public var loginFault = "none"
    /// `business_usage`: what `X-Business-Use-Case-Usage` says below `act_…`; nil (`null`) for no header.
    public var businessUsage: BusinessUsage?

    /// Creates the documented behaviour.
    public init() {}

    /// What becomes of a device login by itself.
    public struct DeviceScript: Sendable, Equatable {
        /// `polls`: after this many polls that were answered with "not yet".
        public var polls: Int64
        /// `decision`: `approve` or `deny`.
        public var decision: String
        /// `user`: who approves.
        public var user: String

        /// Creates a script.
        public init(polls: Int64, decision: String = "approve", user: String = "ada@example.com") {
            (self.polls, self.decision, self.user) = (polls, decision, user)
        }
    }

    /// `{"type": "ads_insights", "percent": 90, "regain_min": 0}`.
    public struct BusinessUsage: Sendable, Equatable {
        /// `type`.
        public var type: String
        /// `percent`.
        public var percent: Int64
        /// `regain_min`: the minutes until access is regained.
        public var regain: Int64

        /// Creates what the header says.
        public init(type: String, percent: Int64, regain: Int64 = 0) {
            (self.type, self.percent, self.regain) = (type, percent, regain)
        }
    }
}

extension SandboxFacebookSettings: SandboxPart {
    static let key = "facebook"
    static let words = [
        "login_fault": [
            "none", "unknown_error", "other_state", "other_nonce", "other_issuer", "other_audience", "ended_token",
            "other_key", "secret_key", "no_scopes",
        ]
    ]
    static let ranges: [String: ClosedRange<Int64>] = ["app_usage": 0...100_000, "video_chunk": 1...16_777_216]

    enum CodingKeys: String, CodingKey {
        case appID = "app_id"
        case appSecret, clientToken
        case requiresProof = "require_proof"
        case tokenLife = "token_life_s"
        case longTokenLife = "long_token_life_s"
        case codeLife = "code_life_s"
        case redirectURIs = "redirect_uris"
        case videoChunk
        case mediaTime = "media_s"
        case mediaPerDay, pairLimit
        case deviceLife = "device_life_s"
        case deviceInterval = "device_interval_s"
        case device
        case hidesSubcodes = "hide_subcodes"
        case writesCodesAsText = "string_codes"
        case errorsInSuccess = "errors_in_200"
        case sendsChallenge = "challenge"
        case appLimit
        case limitIsTransient = "limit_transient"
        case limitStatesTime = "limit_retry_after"
        case earlyCallPenalty = "early_call_s"
        case appUsage, businessUsage, loginFault
    }

    func check(path: String) throws(SandboxError) {
        guard FacebookRoute.isID(appID), !appID.contains("_") else {
            throw SandboxError(.invalidInput, "\(path).app_id must be digits")
        }
    }
}

extension SandboxFacebookSettings.DeviceScript: Described {
    static let blank = Self(polls: 0)
    static let words = ["decision": ["approve", "deny"]]
    static let ranges: [String: ClosedRange<Int64>] = ["polls": 0...1_000_000]
}

extension SandboxFacebookSettings.BusinessUsage: Described {
    static let blank = Self(type: "ads_insights", percent: 0)
    static let ranges: [String: ClosedRange<Int64>] = ["percent": 0...100_000, "regain_min": 0...1_000_000]

    enum CodingKeys: String, CodingKey {
        case type, percent
        case regain = "regain_min"
    }
}

extension SandboxSettings {
    /// `facebook`: how Facebook behaves.
    ///
    /// Default: no limits, tokens that live for two hours.
    public var facebook: SandboxFacebookSettings {
        get { parts[SandboxFacebookSettings.self] }
        set { parts[SandboxFacebookSettings.self] = newValue }
    }
}
