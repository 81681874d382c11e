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
    /// `tasks`: keys of tasks that keep a new session `pending`, such as `setup-mfa`.
    public var tasks: [String] = []
    /// `status_after_first_factor`: a sign-in stops in this status after the first factor, such as
    /// `needs_protect_check` or one that nobody has heard of.
    public var statusAfterFirstFactor: String?
    /// `okta`: what this person has at Okta.
    public var okta = SandboxOktaUser()

    /// `forgerock`: what is peculiar to the account at PingAM.
    ///
    /// Default: an account in every realm.
    public var forgerock = SandboxForgeRockUser()
    /// `facebook`: what this person has at Facebook.
    public var facebook = SandboxFacebookUser()

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

    /// What other places call this person: the first e-mail address, phone or user name.
    public var identifier: String { emails.first ?? phones.first ?? username ?? "" }
}

extension SandboxUser {
    static let knownFirstFactors = [
        "password", "email_code", "phone_code", "reset_password_email_code", "reset_password_phone_code", "email_link",
        "passkey",
    ]
    static let knownSecondFactors = ["totp", "backup_code", "phone_code", "email_code"]

    /// Reads one person out of a scenario.
    init(json: JSONValue, path: String) throws(SandboxError) {
        var reader = try ObjectReader(json, path: path)
        emails = try reader.strings("emails") ?? []
        phones = try reader.strings("phones") ?? []
        username = try reader.string("username")
        firstName = try reader.string("first_name")
        lastName = try reader.string("last_name")
        if let value = reader.value("password"), value != .null {
            guard let text = value.string else { throw reader.wrong("password", "a string or null") }
            password = text
        }
        let states = ["ok", "compromised", "pwned", "reset_required", "too_long"]
        passwordState = try reader.word("password_state", of: states) ?? passwordState
        firstFactors = try reader.strings("first_factors")
        secondFactors = try reader.strings("second_factors")
        totpSecret = try reader.string("totp_secret")
        backupCodes = try reader.strings("backup_codes") ?? []
        passkeys = try reader.strings("passkeys") ?? []
        hasDeviceTrust = try reader.bool("device_trust") ?? false
        if let value = reader.value("lockout") {
            var lockout = SandboxSettings.Lockout()
            try lockout.update(from: value, path: "\(path).lockout")
            self.lockout = lockout
        }
        if let value = reader.value("locked_s") {
            initialLock =
                value == .null
                ? .indefinite : .milliseconds(try ObjectReader.milliseconds(value, what: "\(path).locked_s"))
        }
        state = try reader.word("state", of: ["active", "banned", "deactivated", "deprovisioned"]) ?? state
        tasks = try reader.strings("tasks") ?? []
        statusAfterFirstFactor = try reader.string("status_after_first_factor")
        if let value = reader.value("okta") { okta = try SandboxOktaUser(json: value, path: "\(path).okta") }
        if let value = reader.value("forgerock") {
            forgerock = try SandboxForgeRockUser(json: value, path: "\(path).forgerock")
        }
        if let value = reader.value("facebook") {
            facebook = try SandboxFacebookUser(json: value, path: "\(path).facebook")
        }
        try reader.finish()
        try check(path: path)
    }

    /// Finds what contradicts itself.
    func check(path: String) throws(SandboxError) {
        if identifier.isEmpty {
            throw SandboxError(.invalidInput, "\(path) needs an e-mail address, a phone or a username")
        }
        for factor in firstFactors ?? [] where !Self.knownFirstFactors.contains(factor) {
            let known = Self.knownFirstFactors.joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path).first_factors: \"\(factor)\" is none of \(known)")
        }
        for factor in secondFactors ?? [] where !Self.knownSecondFactors.contains(factor) {
            let known = Self.knownSecondFactors.joined(separator: ", ")
            throw SandboxError(.invalidInput, "\(path).second_factors: \"\(factor)\" is none of \(known)")
        }
        try okta.check(path: "\(path).okta")
        if let totpSecret, Base32.decode(totpSecret) == nil {
            throw SandboxError(.invalidInput, "\(path).totp_secret must be base32")
        }
    }
}
