import HTTPRecovery
import HTTPRecoveryTesting

/// How PingAM behaves: the keys of `settings.forgerock`.
///
/// Durations are seconds in JSON (fractions allowed) and milliseconds here.
public struct SandboxForgeRockSettings: Sendable, Equatable {
    /// `realms`: those beside the root realm, as paths; everybody has an account in each of them.
    ///
    /// Default: `/alpha`, `/bravo` and `/alpha/customers`.
    public var realms = ["/alpha", "/bravo", "/alpha/customers"]
    /// `default_journey`: what a sign-in that names no journey begins with.
    ///
    /// Default: `Login`.
    public var defaultJourney = "Login"
    /// `step_up_journey`: what a transaction is confirmed with.
    ///
    /// Default: `StepUp`.
    public var stepUpJourney = "StepUp"
    /// `cookie_name`: the name of the session's cookie, and of the header that may stand for it.
    ///
    /// Default: `iPlanetDirectoryPro`.
    public var cookieName = "iPlanetDirectoryPro"
    /// `api_version_required`: a request to the REST API without `Accept-API-Version` is answered with 400.
    ///
    /// Default: true.
    public var requiresVersion = true
    /// `unknown_version_status`: the answer to a version that is not there: 404 or 406.
    ///
    /// Default: 404.
    public var unknownVersionStatus = 404
    /// `error_numbers`: errors of journeys carry their `detail.errorCode`.
    ///
    /// Default: false; that of a journey which is too old is told all the same.
    public var tellsNumbers = false
    /// `step_lifetime_s`: how long a step can be answered.
    ///
    /// Default: 300 s.
    public var stepLifetime: Int64 = 300_000
    /// `expired_form`: how a step that came too late is refused: `error_code` (401 with `errorCode` 110), `text_400` or
    /// `status_408`.
    ///
    /// Default: `error_code`.
    public var expiredForm = "error_code"
    /// `suspended_lifetime_s`: how long a link resumes a journey.
    ///
    /// Default: 300 s.
    public var suspendedLifetime: Int64 = 300_000
    /// `sticky`: a step without the load balancer's cookie finds no journey.
    ///
    /// Default: false.
    public var isSticky = false
    /// `lockout`: when an account is locked and for how long.
    ///
    /// Default: warnings from the third failure on, a lock with the fifth, until somebody unlocks.
    public var lockout = Lockout()
    /// `zero_page_login`: a name and a password in the headers of the first request answer the first page; else they are
    /// not looked at.
    ///
    /// Default: true.
    public var hasZeroPageLogin = true
    /// `name_prompt`: what the pages that want a name ask for.
    ///
    /// Default: `User Name`.
    public var namePrompt = "User Name"
    /// `login_attempts`: how often the journey `LoginLoop` asks for a password before it fails.
    ///
    /// Default: 3.
    public var loginAttempts: Int64 = 3
    /// `session_dialect`: how a dead session is told: `am` (401 `Access Denied`) or `openam` (200 `{"valid":false}`).
    ///
    /// Default: `am`.
    public var sessionDialect = "am"
    /// `session_idle_s`: a session that was not used for so long is dead.
    ///
    /// Default: 30 minutes.
    public var sessionIdle: Int64 = 1_800_000
    /// `session_life_s`: how long a session lives at most.
    ///
    /// Default: 2 hours.
    public var sessionLife: Int64 = 7_200_000
    /// `session_quota`: how many sessions a person may have; 0 is without limit.
    ///
    /// Default: 0.
    public var sessionQuota: Int64 = 0
    /// `failure_url`: where the answer of a journey that has failed sends to.
    ///
    /// Default: nowhere, an empty text.
    public var failureURL = ""
    /// `poll_count`: how often the journey `Polling` is asked before it goes on; a push that nobody has decided about is
    /// confirmed by then.
    ///
    /// Default: 3.
    public var pollCount: Int64 = 3
    /// `poll_wait_s`: how long to wait between two polls; one that comes sooner does not count.
    ///
    /// Default: 1 s.
    public var pollWait: Int64 = 1000
    /// `push_number`: what the journey `Push` has chosen on the phone; a push that is sent again has another one.
    ///
    /// Default: `42`.
    public var pushNumber = "42"
    /// `push_life_s`: how long a push, or the code that a phone is set up by, can be answered.
    ///
    /// Default: 2 minutes.
    public var pushLife: Int64 = 120_000
    /// `push_attempts`: with this many pushes that have run out the journey `PushRetry` fails.
    ///
    /// Default: 3.
    public var pushAttempts: Int64 = 3
    /// `code_lifetime_s`: how long a code by e-mail can be used.
    ///
    /// Default: 300 s.
    public var codeLifetime: Int64 = 300_000
    /// `code_attempts`: with this many wrong codes a journey fails.
    ///
    /// Default: 3.
    public var codeAttempts: Int64 = 3
    /// `fixed_code`: every code by e-mail is this one, for a test that has to know it beforehand; nil (`null`) for
    /// codes of their own.
    ///
    /// Default: none.
    public var fixedCode: String?
    /// `relying_party_id`: of WebAuthn ceremonies; empty leaves it to the client, whose origin is that of the server.
    ///
    /// Default: `example.com`.
    public var relyingPartyID = "example.com"
    /// `origins`: where ceremonies may come from beside `https://` and the relying party's id, and the server's own origin
    /// where it belongs to the relying party.
    ///
    /// Default: none.
    public var origins: [String] = []
    /// `webauthn_form`: how a ceremony is described: `metadata`, `old_metadata` (no `_type`, no underscores) or `script`.
    ///
    /// Default: `metadata`.
    public var webAuthnForm = "metadata"
    /// `json_outcome`: the outcome of a ceremony is wanted as JSON with the authenticator's attachment.
    ///
    /// Default: false.
    public var wantsJSONOutcome = false
    /// `webauthn_recovery`: the page that wants a proof of a credential has a button for a recovery code.
    ///
    /// Default: false.
    public var offersRecoveryCode = false
    /// `user_verification`: `required`, `preferred` or `discouraged`.
    ///
    /// Default: `preferred`.
    public var userVerification = "preferred"
    /// `webauthn_timeout_s`: how long a ceremony may take.
    ///
    /// Default: 60 s.
    public var webAuthnTimeout: Int64 = 60_000
    /// `captcha_form`: which captcha the journey `Captcha` wants: `plain` or `enterprise`.
    ///
    /// Default: `plain`.
    public var captchaForm = "plain"
    /// `captcha_proof`: what a captcha that was solved gives.
    ///
    /// Default: `a-person`.
    public var captchaProof = "a-person"
    /// `captcha_action`: what the proof of the enterprise form is solved for, which has to be told along with it; nil (`null`)
    /// if that is not looked at.
    ///
    /// Default: none.
    public var captchaAction: String?
    /// `own_questions`: people may set security questions of their own.
    ///
    /// Default: false, and then nothing is said about it.
    public var allowsOwnQuestions = false
    /// `redirect_uri`: where the identity provider sends people back to.
    ///
    /// Default: `http://127.0.0.1:8976/callback`.
    public var redirectURI = "http://127.0.0.1:8976/callback"
    /// `provider_user`: who is signed in at the identity provider, unless `login_hint` names somebody.
    ///
    /// Default: `ada`.
    public var providerUser = "ada"
    /// `provider_wants_user`: the provider of the journey `NativeSocial` tells who has come beside its token, as Apple does at a
    /// first visit, and the node wants both as JSON.
    ///
    /// Default: false.
    public var providerWantsUser = false
    /// `redirect_method`: how browsers are sent to the identity provider, `GET` or `POST`: with the request in the URL, or in
    /// a form.
    ///
    /// Default: `GET`.
    public var redirectMethod = "GET"
    /// `advice_carrier`: how `/ig/txn` tells its advice: `redirect`, `header` or `body`.
    ///
    /// Default: `redirect`.
    public var adviceCarrier = "redirect"
    /// `advice_encoding`: how a redirect carries the advice: `xml` or `base64`.
    ///
    /// Default: `xml`.
    public var adviceEncoding = "xml"
    /// `transaction_lifetime_s`: how long a transaction can be confirmed and used.
    ///
    /// Default: 180 s.
    public var transactionLifetime: Int64 = 180_000
    /// `refresh_grace_s`: how long a refresh token that was just replaced is still taken.
    ///
    /// Default: 0: each use of one is a violation, and the whole family is revoked.
    public var refreshGrace: Int64 = 0

    /// Creates the default behaviour.
    public init() {}

    /// When an account is locked and for how long.
    public struct Lockout: Sendable, Equatable {
        /// `threshold`: the failure with this number locks; 0 never locks.
        ///
        /// Default: 5.
        public var threshold: Int64 = 5
        /// `warn_at`: from this failure on the answer warns; 0 never warns.
        ///
        /// Default: 3.
        public var warnAt: Int64 = 3
        /// `duration_s`: nil (`null`) locks until somebody unlocks.
        ///
        /// Default: nil.
        public var duration: Int64?
        /// `states_time`: the text of a lock that ends by itself says when.
        ///
        /// Default: false, as the server's own text.
        public var statesTime = false

        /// Creates the default behaviour.
        public init() {}
    }
}

extension SandboxForgeRockSettings: SandboxPart {
    static let key = "forgerock"
    static let words = [
        "default_journey": ForgeRockTree.all.keys.sorted(), "step_up_journey": ForgeRockTree.all.keys.sorted(),
        "expired_form": ["error_code", "text_400", "status_408"], "session_dialect": ["am", "openam"],
        "webauthn_form": ["metadata", "old_metadata", "script"],
        "user_verification": ["required", "preferred", "discouraged"],
        "captcha_form": ["plain", "enterprise"], "advice_carrier": ["redirect", "header", "body"],
        "advice_encoding": ["xml", "base64"], "redirect_method": ["GET", "POST"],
    ]
    static let ranges: [String: ClosedRange<Int64>] = [
        "unknown_version_status": 404...406, "login_attempts": 1...1_000_000, "session_quota": 0...1_000_000,
        "poll_count": 0...1_000_000, "code_attempts": 1...1_000_000, "push_attempts": 1...1_000_000,
    ]

    enum CodingKeys: String, CodingKey {
        case realms, defaultJourney, stepUpJourney, cookieName
        case requiresVersion = "api_version_required"
        case unknownVersionStatus
        case tellsNumbers = "error_numbers"
        case stepLifetime = "step_lifetime_s"
        case expiredForm
        case suspendedLifetime = "suspended_lifetime_s"
        case isSticky = "sticky"
        case hasZeroPageLogin = "zero_page_login"
        case namePrompt, lockout, loginAttempts, sessionDialect
        case sessionIdle = "session_idle_s"
        case sessionLife = "session_life_s"
        case sessionQuota, pollCount, pushNumber, pushAttempts
        case pushLife = "push_life_s"
        case failureURL = "failure_url"
        case pollWait = "poll_wait_s"
        case codeLifetime = "code_lifetime_s"
        case codeAttempts, fixedCode
        case relyingPartyID = "relying_party_id"
        case origins
        case webAuthnForm = "webauthn_form"
        case wantsJSONOutcome = "json_outcome"
        case userVerification
        case offersRecoveryCode = "webauthn_recovery"
        case captchaForm, captchaProof, captchaAction
        case allowsOwnQuestions = "own_questions"
        case webAuthnTimeout = "webauthn_timeout_s"
        case redirectURI = "redirect_uri"
        case providerUser, providerWantsUser, redirectMethod, adviceCarrier, adviceEncoding
        case transactionLifetime = "transaction_lifetime_s"
        case refreshGrace = "refresh_grace_s"
    }

    /// Whether there is a realm, such as `/alpha`.
    func hasRealm(_ realm: String) -> Bool {
        realm == "/" || realms.contains { ForgeRockRoute.plain(realm: $0) == realm }
    }

    func check(path: String) throws(SandboxError) {
        let isName = (1...64).contains(cookieName.utf8.count) && cookieName.utf8.allSatisfy(HeaderLine.isTokenByte)
        guard isName else { throw SandboxError(.invalidInput, "\(path).cookie_name must be the name of a cookie") }
    }
}

extension SandboxForgeRockSettings.Lockout: Described {
    static let blank = Self()
    static let ranges: [String: ClosedRange<Int64>] = ["threshold": 0...1_000_000, "warn_at": 0...1_000_000]

    enum CodingKeys: String, CodingKey {
        case threshold, warnAt
        case duration = "duration_s"
        case statesTime
    }
}

extension SandboxSettings {
    /// `forgerock`: how PingAM behaves.
    ///
    /// Default: locks with the fifth failure, steps that can be answered for 5 minutes.
    public var forgerock: SandboxForgeRockSettings {
        get { parts[SandboxForgeRockSettings.self] }
        set { parts[SandboxForgeRockSettings.self] = newValue }
    }
}
