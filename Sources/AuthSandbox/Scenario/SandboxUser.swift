import HTTPRecovery

/// A person with an account, as a scenario file or `POST /_sandbox/users` describes one.
public struct SandboxUser: Sendable, Equatable {
    /// `emails`: a list, or one string.
    ///
    /// The first is the primary one.
    public var emails: [String]
    /// `phones`: in the international form, such as `+4930123456`.
    public var phones: [String] = []
    /// `username`.
    public var username: String?
    /// `first_name`.
    public var firstName: String?
    /// `last_name`.
    public var lastName: String?
    /// `password`: nil (absent or `null`) for somebody who has none.
    public var password: String?
    /// `password_state`: `ok`, `compromised`, `pwned`, `reset_required` or `too_long`.
    ///
    /// Default: `ok`.
    public var passwordState = "ok"
    /// `first_factors`: the offered strategies.
    ///
    /// Default: the password, and codes to every e-mail address and phone.
    public var firstFactors: [String]?
    /// `second_factors`: the demanded strategies.
    ///
    /// Default: `totp` and `backup_code` for those who have them.
    public var secondFactors: [String]?
    /// `totp_secret`: base32.
    public var totpSecret: String?
    /// `backup_codes`: each can be used once.
    public var backupCodes: [String] = []
    /// `passkeys`: the ids of credentials, in base64url.
    ///
    /// Of what such a credential signs, everything but the signature is checked.
    public var passkeys: [String] = []
    /// `device_trust`: a password on a new client leads to `needs_client_trust`.
    ///
    /// Default: false.
    public var hasDeviceTrust = false
    /// `lockout`: an object as in the settings; replaces them for this person.
    public var lockout: SandboxSettings.Lockout?
    /// `locked_s`: locked from the start, for this long; `null` locks until somebody unlocks.
    ///
    /// Absent: not locked.
    public var initialLock: InitialLock?
    /// `state`: `active`, `banned`, `deactivated` or `deprovisioned`.
    ///
    /// Default: `active`.
    public var state = "active"
    /// `tasks`: keys of tasks that keep a new session `pending`, such as `setup-mfa`; `reset-password` is one by itself for
    /// somebody whose `password_state` is not `ok`.
    public var tasks: [String] = []
    /// `organizations`: the names of those that this person is a member of.
    public var organizations: [String] = []
    /// `organization_invitations`: the names of those that this person is invited to.
    public var organizationInvitations: [String] = []
    /// `status_after_first_factor`: a sign-in stops in this status after the first factor, such as
    /// `needs_protect_check` or one that nobody has heard of.
    public var statusAfterFirstFactor: String?
    /// What this person has at the other providers.
    var parts = SandboxParts<InPerson>()

    /// A lock that is there from the start.
    public enum InitialLock: Sendable, Equatable {
        /// For this many milliseconds.
        case milliseconds(Int64)
        /// Until somebody unlocks.
        case indefinite
    }

    /// Creates somebody with an e-mail address and, perhaps, a password.
    ///
    /// - Parameters:
    ///   - email: The primary address, which is the identifier too.
    ///   - password: The password, nil for none.
    public init(email: String, password: String? = nil) {
        emails = [email]
        self.password = password
    }

    /// All that they may sign in with.
    var names: [String] { emails + phones + [username].compactMap(\.self) }

    /// What other places call this person: the first e-mail address, phone or user name.
    public var identifier: String { emails.first ?? phones.first ?? username ?? "" }
}

extension SandboxUser: Described {
    static let knownFirstFactors = [
        "password", "email_code", "phone_code", "reset_password_email_code", "reset_password_phone_code", "email_link",
        "passkey", "oauth_google", "enterprise_sso", "trusted_device",
    ]
    static let knownSecondFactors = ["totp", "backup_code", "phone_code", "email_code"]
    static var blank: SandboxUser {
        var user = SandboxUser(email: "")
        user.emails = []
        return user
    }
    static var words: [String: [String]] {
        [
            "password_state": ["ok", "compromised", "pwned", "reset_required", "too_long"],
            "first_factors": knownFirstFactors, "second_factors": knownSecondFactors,
            "state": ["active", "banned", "deactivated", "deprovisioned"],
        ]
    }

    enum CodingKeys: String, CodingKey {
        case emails, phones, username, firstName, lastName, password, passwordState, firstFactors, secondFactors
        case totpSecret, backupCodes, passkeys
        case hasDeviceTrust = "device_trust"
        case lockout
        case initialLock = "locked_s"
        case state, tasks, organizations, organizationInvitations, statusAfterFirstFactor, parts
    }

    /// Finds what contradicts itself.
    func check(path: String) throws(SandboxError) {
        if identifier.isEmpty {
            throw SandboxError(.invalidInput, "\(path) needs an e-mail address, a phone or a username")
        }
        if let totpSecret, Base32.decode(totpSecret) == nil {
            throw SandboxError(.invalidInput, "\(path).totp_secret must be base32")
        }
    }
}

extension SandboxUser.InitialLock: NullIsSaid {
    /// Reads a number of seconds, or `null`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self = container.decodeNil() ? .indefinite : .milliseconds(try container.decode(Int64.self))
    }

    /// Writes a number of seconds, or `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .milliseconds(let time): try container.encode(time)
        case .indefinite: try container.encodeNil()
        }
    }
}
