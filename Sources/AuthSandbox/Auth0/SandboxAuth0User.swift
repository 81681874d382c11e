import HTTPRecovery

/// What a person has at Auth0: the key `auth0` of a scenario's user.
///
/// A `compromised` or `pwned` password has been leaked, and whoever is not `active` is blocked.
public struct SandboxAuth0User: Sendable, Equatable {
    /// `factors`: what is asked for after the password: `otp`, `sms`, `voice`, `email`, `push` and
    /// `recovery-code`.
    ///
    /// Nil (absent): an authenticator app for whoever has a `totp_secret`, and a recovery code for whoever has a
    /// `backup_codes`.
    public var factors: [String]?
    /// `enroll`: what they have to set up after the password, since they have no factor yet: one of `otp`, `sms`, `voice`,
    /// `email` and `push`.
    ///
    /// Default: nothing.
    public var enrollments: [String] = []
    /// `refusal`: the text with which a rule of the tenant refuses this person; nil (absent) for none.
    public var refusal: String?

    /// `connections`: at which other providers they have connected an account, whose tokens the tenant keeps, such as
    /// `google-oauth2`.
    ///
    /// Default: none.
    public var connections: [String] = []
    /// `connection_lost`: whether those providers have taken back what the tenant keeps.
    ///
    /// Default: false.
    public var isConnectionLost = false

    /// Creates somebody with a password that is enough.
    public init() {}
}

extension SandboxAuth0User: SandboxPart {
    static let key = "auth0"
    static let words = [
        "factors": ["otp", "sms", "voice", "email", "push", "recovery-code"],
        "enroll": ["otp", "sms", "voice", "email", "push"],
    ]

    enum CodingKeys: String, CodingKey {
        case factors
        case enrollments = "enroll"
        case refusal, connections
        case isConnectionLost = "connection_lost"
    }
}

extension SandboxUser {
    /// `auth0`: what this person has at Auth0.
    public var auth0: SandboxAuth0User {
        get { parts[SandboxAuth0User.self] }
        set { parts[SandboxAuth0User.self] = newValue }
    }

    /// What is asked for after the password.
    var auth0Factors: [String] {
        auth0.factors
            ?? (totpSecret == nil ? [] : ["otp"]) + (backupCodes.isEmpty ? [] : ["recovery-code"])
    }
}
