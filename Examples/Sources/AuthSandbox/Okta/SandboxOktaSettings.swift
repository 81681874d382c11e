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
    /// `factor_attempts`: this many wrong codes and answers lock the account.
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

    static let defaultLimit = SandboxSettings.Limit(count: 600, per: 60_000)

    /// Creates the documented behaviour.
    public init() {}
}

extension SandboxOktaSettings {
    /// Takes over the keys that the object has and leaves the others.
    mutating func update(from value: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(value, path: path)
        if let value = reader.value("rate_limit") {
            rateLimit = value == .bool(true) ? Self.defaultLimit : try .init(value, path: "\(path).rate_limit")
        }
        if let value = reader.value("remaining") {
            guard value == .null || value.int != nil else { throw reader.wrong("remaining", "a whole number or null") }
            remaining = value.int
        }
        if let value = reader.value("resets_s") { resets = try Self.numbers(value, reader) }
        isConcurrencyLimit = try reader.bool("concurrency") ?? isConcurrencyLimit
        sendsRateHeaders = try reader.bool("rate_headers") ?? sendsRateHeaders
        headerCase = try reader.word("header_case", of: ["lower", "title", "upper"]) ?? headerCase
        if let value = reader.value("clock_skew_s") {
            guard let seconds = value.number, abs(seconds) <= 3_155_760_000 else {
                throw reader.wrong("clock_skew_s", "a number of seconds")
            }
            clockSkew = Int64(seconds * 1000)
        }
        transactionLife = try reader.seconds("transaction_life_s") ?? transactionLife
        sessionTokenLife = try reader.seconds("session_token_life_s") ?? sessionTokenLife
        sessionLife = try reader.seconds("session_life_s") ?? sessionLife
        codeLife = try reader.seconds("code_life_s") ?? codeLife
        factorAttempts = try reader.int("factor_attempts", 1...1_000_000) ?? factorAttempts
        phoneWindow = try reader.seconds("sms_window_s") ?? phoneWindow
        emailWindow = try reader.seconds("email_window_s") ?? emailWindow
        pushLife = try reader.seconds("push_life_s") ?? pushLife
        showsLockout = try reader.bool("lockout_shown") ?? showsLockout
        isResendQuiet = try reader.bool("quiet_resend") ?? isResendQuiet
        writesPolicyAsText = try reader.bool("policy_as_text") ?? writesPolicyAsText
        authorizeFailure = try reader.word("authorize_failure", of: ["login_required", "page"]) ?? authorizeFailure
        try reader.finish()
    }

    private static func numbers(_ value: JSONValue, _ reader: ObjectReader) throws(SandboxError) -> [Int64]? {
        if value == .null { return nil }
        var numbers: [Int64] = []
        for element in value.array ?? [value] {
            guard let number = element.int, abs(number) <= 3_155_760_000 else {
                throw reader.wrong("resets_s", "a list of whole numbers, or null")
            }
            numbers.append(number)
        }
        return numbers
    }

    /// The settings as `GET /_sandbox/settings` shows them.
    var json: JSONValue {
        [
            "rate_limit": rateLimit.map { ["count": .int($0.count), "per_s": .seconds($0.per)] } ?? .null,
            "remaining": .optional(remaining),
            "resets_s": resets.map { .array($0.map(JSONValue.int)) } ?? .null,
            "concurrency": .bool(isConcurrencyLimit),
            "rate_headers": .bool(sendsRateHeaders),
            "header_case": .string(headerCase),
            "clock_skew_s": .seconds(clockSkew),
            "transaction_life_s": .seconds(transactionLife),
            "session_token_life_s": .seconds(sessionTokenLife),
            "session_life_s": .seconds(sessionLife),
            "code_life_s": .seconds(codeLife),
            "factor_attempts": .int(factorAttempts),
            "sms_window_s": .seconds(phoneWindow),
            "email_window_s": .seconds(emailWindow),
            "push_life_s": .seconds(pushLife),
            "lockout_shown": .bool(showsLockout),
            "quiet_resend": .bool(isResendQuiet),
            "policy_as_text": .bool(writesPolicyAsText),
            "authorize_failure": .string(authorizeFailure),
        ]
    }
}
