import HTTPRecovery

/// How Okta behaves: the keys of `settings.okta`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here. When an account is locked is told by
/// ``SandboxSettings/lockout``, what a new password has to be by ``SandboxSettings/passwordPolicy``, and whether a
/// time-based code is taken once by ``SandboxSettings/isTOTPSingleUse``: they hold here too.
public struct SandboxOktaSettings: Sendable, Equatable {
    /// `rate_limit`: how many requests each of the APIs takes: `{"count": 600, "per_s": 60}`; nil (`null` or `false`)
    /// refuses nothing, and the headers tell of the default.
    ///
    /// Default: 600 in a minute.
    public var rateLimit: SandboxSettings.Limit? = defaultLimit
    /// `name_limit`: how many sign-ins the Authentication API takes for one name, as Okta takes 4 in a second; nil (`null` or
    /// `false`) for any number.
    ///
    /// Its refusal leaves something of the org's own limit. Default: nil.
    public var nameLimit: SandboxSettings.Limit?
    /// `remaining`: what `x-rate-limit-remaining` says, whatever is left; nil (`null`) for the truth.
    public var remaining: Int64?
    /// `resets_s`: in how many seconds the limits are reset, one header line each; nil (`null`) for the truth.
    public var resets: [Int64]?
    /// `concurrency`: a 429 is about requests at the same time: the limit and what is left of it are 0.
    ///
    /// Default: false.
    public var isConcurrencyLimit = false
    /// `rate_headers`: whether answers tell of the limits.
    ///
    /// Default: true.
    public var sendsRateHeaders = true
    /// `header_case`: how the names of Okta's own headers are written: `lower`, `title` or `upper`.
    ///
    /// Default: `lower`.
    public var headerCase = "lower"
    /// `clock_skew_s`: how far the server's clock is ahead of the sandbox's, or behind it, in `Date` and in all times
    /// that it tells.
    ///
    /// Default: 0.
    public var clockSkew: Int64 = 0
    /// `transaction_life_s`: how long a transaction lives after each request.
    ///
    /// Default: 5 minutes.
    public var transactionLife: Int64 = 300_000
    /// `session_token_life_s`.
    ///
    /// Default: 5 minutes.
    public var sessionTokenLife: Int64 = 300_000
    /// `session_life_s`: how long a session lives after its beginning and after each refresh.
    ///
    /// Default: 2 hours.
    public var sessionLife: Int64 = 7_200_000
    /// `code_life_s`: how long a code that was sent can be used.
    ///
    /// Default: 5 minutes.
    public var codeLife: Int64 = 300_000
    /// `factor_attempts`: this many wrong codes and answers lock the account, in whichever sign-ins they are given; in the
    /// flows of the identity engine they suspend the factor, as long as a lockout lasts.
    ///
    /// Default: 5.
    public var factorAttempts: Int64 = 5
    /// `sms_window_s`: a text message or a call is not made again any sooner.
    ///
    /// Default: 30 s.
    public var phoneWindow: Int64 = 30_000
    /// `email_window_s`: an e-mail is not sent again any sooner.
    ///
    /// Default: 5 s.
    public var emailWindow: Int64 = 5000
    /// `push_life_s`: after this a push that nobody has answered is over.
    ///
    /// Default: 5 minutes.
    public var pushLife: Int64 = 300_000
    /// `lockout_shown`: a locked account is told of with the status `LOCKED_OUT`; otherwise it looks like a wrong
    /// password.
    ///
    /// Default: false.
    public var showsLockout = false
    /// `quiet_resend`: an answer to a resend tells nothing of the transaction.
    ///
    /// Default: false.
    public var isResendQuiet = false
    /// `policy_as_text`: the truth value in a password policy is written as text.
    ///
    /// Default: false.
    public var writesPolicyAsText = false
    /// `authorize_failure`: what a session token that is not good is answered with at `/authorize`: `login_required`
    /// (a redirection) or `page` (a login page).
    ///
    /// Default: `login_required`.
    public var authorizeFailure = "login_required"
    /// `app_requires_mfa`: the apps of the authorization servers want more than a password: a session token or a session
    /// without a second factor is answered with `login_required` at `/authorize`.
    ///
    /// Default: false.
    public var appRequiresMFA = false

    /// `identity_engine`: whether the org runs on the identity engine, and says so.
    ///
    /// The Authentication API answers all the same. Default: false.
    public var isIdentityEngine = false
    /// `interaction_code`: whether apps may use the identity engine's flow.
    ///
    /// Default: true.
    public var allowsInteractionCode = true
    /// `app_grants`: the grants of the identity engine that apps are registered for, a text or a list; another one is refused with
    /// `unauthorized_client`, which lists them.
    ///
    /// Default: none are named, and all may be used.
    public var appGrants: [String] = []
    /// `identify_with_password`: whether the identity engine asks for name and password in one form.
    ///
    /// Default: false: the name first.
    public var identifiesWithPassword = false

    /// `device_probe`: whether a flow of the identity engine begins by looking for Okta Verify on the device, as a page in a
    /// browser would; a client that has none says so, and goes on.
    ///
    /// Default: false.
    public var probesDevice = false
    /// `consent`: whether the identity engine asks the person for their consent to the scopes before it ends.
    ///
    /// Default: false.
    public var asksConsent = false
    /// `granular_consent`: whether the person may give each scope but `openid` by itself, where they are asked (`consent`).
    ///
    /// Default: false.
    public var isConsentGranular = false
    /// `identity_provider`: whether the identity engine offers another provider (`redirect-idp`): `off`, `beside` the name, or as
    /// the `only` way.
    ///
    /// Its page sends the browser back at once: with the code that the sign-in ends with, or with `interaction_required` if
    /// the person has factors to prove. Default: `off`.
    public var identityProvider = "off"
    /// `provider_type`: what sort of provider that is, such as `GOOGLE`, `FACEBOOK`, `OIDC`, or `X509` for a smart card.
    ///
    /// Default: `OIDC`.
    public var providerType = "OIDC"
    /// `provider_user`: who comes back from it, if its address names nobody (`login_hint`); nil (`null`, the default) for
    /// somebody who is not known, which is answered with `access_denied`.
    public var providerUser: String?
    /// `captcha`: whether the name at the identity engine is taken only with the proof of a captcha: any text that does not
    /// begin with `wrong`, once.
    ///
    /// Default: false.
    public var wantsCaptcha = false
    /// `email_link`: what the identity engine's mails hold: `off`, the code alone; `own`, a link to the app with the code and
    /// the state of the sign-in; `other_state`, a link with a state that is not the sign-in's.
    ///
    /// Default: `off`.
    public var emailLink = "off"
    /// `email_poll`: whether the identity engine lets a client look, while it asks for the code of a mail, whether its
    /// link was opened elsewhere (`POST /_sandbox/okta/open_link`).
    ///
    /// Default: true.
    public var pollsEmail = true
    /// `verify_channels`: how the identity engine lets Okta Verify be set up: `qrcode`, `email`, `sms`, a text or a list.
    ///
    /// With a picture it begins with that one; otherwise the person chooses first. Default: all of them.
    public var verifyChannels = ["qrcode", "email", "sms"]
    /// `registration`: whether people may make an account for themselves at the identity engine.
    ///
    /// Default: false.
    public var allowsRegistration = false
    /// `passwordless`: whether the Authentication API lets another factor stand in the place of the password, for people
    /// who have one.
    ///
    /// Default: false.
    public var allowsPasswordless = false

    static let defaultLimit = SandboxSettings.Limit(count: 600, per: 60_000)

    /// Creates the documented behaviour.
    public init() {}
}

extension SandboxOktaSettings: SandboxPart {
    static let key = "okta"
    static let words = [
        "header_case": ["lower", "title", "upper"], "authorize_failure": ["login_required", "page"],
        "identity_provider": ["off", "beside", "only"], "email_link": ["off", "own", "other_state"],
    ]
    static let ranges: [String: ClosedRange<Int64>] = [
        "clock_skew_s": -3_155_760_000...3_155_760_000, "factor_attempts": 1...1_000_000,
    ]

    enum CodingKeys: String, CodingKey {
        case rateLimit, nameLimit, remaining
        case resets = "resets_s"
        case isConcurrencyLimit = "concurrency"
        case sendsRateHeaders = "rate_headers"
        case headerCase
        case clockSkew = "clock_skew_s"
        case transactionLife = "transaction_life_s"
        case sessionTokenLife = "session_token_life_s"
        case sessionLife = "session_life_s"
        case codeLife = "code_life_s"
        case factorAttempts
        case phoneWindow = "sms_window_s"
        case emailWindow = "email_window_s"
        case pushLife = "push_life_s"
        case showsLockout = "lockout_shown"
        case isResendQuiet = "quiet_resend"
        case writesPolicyAsText = "policy_as_text"
        case authorizeFailure
        case appRequiresMFA = "app_requires_mfa"
        case isIdentityEngine = "identity_engine"
        case allowsInteractionCode = "interaction_code"
        case appGrants
        case identifiesWithPassword = "identify_with_password"
        case probesDevice = "device_probe"
        case asksConsent = "consent"
        case isConsentGranular = "granular_consent"
        case identityProvider, providerType, providerUser
        case wantsCaptcha = "captcha"
        case emailLink
        case pollsEmail = "email_poll"
        case verifyChannels
        case allowsRegistration = "registration"
        case allowsPasswordless = "passwordless"
    }
}

extension SandboxSettings {
    /// `okta`: how Okta behaves.
    ///
    /// Default: as documented, rate limits included.
    public var okta: SandboxOktaSettings {
        get { parts[SandboxOktaSettings.self] }
        set { parts[SandboxOktaSettings.self] = newValue }
    }
}
