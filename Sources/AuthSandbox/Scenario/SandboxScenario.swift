import HTTPRecovery

/// What a sandbox begins with: people, clients, settings and faults.
///
/// As a file it is a JSON object; a key that is not known is refused with its place:
///
/// ```json
/// {
///   "default_users": true,
///   "users": [
///     {"emails": "eva@example.com", "password": "open-sesame-42", "totp_secret": "JBSWY3DPEHPK3PXP"},
///     {"emails": ["max@example.com"], "password": "open-sesame-42", "lockout": {"threshold": 2, "duration_s": 3}}
///   ],
///   "oauth": {"clients": [{"client_id": "app", "client_secret": "s3cret", "redirect_uris": ["app:/back"]}]},
///   "settings": {"rate_limits": false, "session_token_life_s": 5, "oauth": {"access_lifetime_s": 2}},
///   "faults": [{"match": {"path": "/v1/client/sign_ins"}, "kind": "status", "status": 429, "retry_after": 2}]
/// }
/// ```
///
/// The keys of a user are those of ``SandboxUser``, those of an OAuth client of ``SandboxOAuthClient``, those of the
/// settings of ``SandboxSettings``, those of a fault of ``SandboxFault``. With `default_clients` in `oauth` (true unless
/// it is said otherwise) the clients of ``SandboxOAuthClient/defaults`` are there too. With `default_users` (true unless it is said otherwise) the people of ``defaultUsers`` are there
/// too. The password of each of them is `open-sesame-42`:
///
/// | who | what happens |
/// |---|---|
/// | `ada@example.com` | the password is enough; e-mail codes work too |
/// | `grace@example.com` | then TOTP (secret `JBSWY3DPEHPK3PXP`) or a backup code, `backup-0001` to `backup-0005` |
/// | `linus@example.com` | the password is compromised: e-mail code, then a new password |
/// | `alan@example.com` | compromised too, and TOTP (the same secret) after the new password |
/// | `margaret@example.com` | locked for 5 seconds by the third failure |
/// | `katherine+clerk_test@example.com` | device trust: an e-mail code on a new client; the code is `424242` |
/// | `edsger@example.com` | then a code to the phone `+4930123456` |
/// | `barbara@example.com` | no password: an e-mail code |
/// | `dennis@example.com` | the password is in a breach list: reset it with an e-mail code |
/// | `ken@example.com` | locked until somebody unlocks |
/// | `radia@example.com` | banned |
///
/// These are there for Okta's sake; elsewhere their password is enough, if the account is not locked:
///
/// | who | what happens at Okta |
/// |---|---|
/// | `frances@example.com` | the password has expired; then TOTP (the same secret) |
/// | `whitfield@example.com` | the password expires soon |
/// | `hedy@example.com` | a push, which is approved after two polls |
/// | `niklaus@example.com` | a push, which is rejected |
/// | `tim@example.com` | a push, which nobody answers |
/// | `vint@example.com` | a push with the number 42 to choose |
/// | `donald@example.com` | locked, and told so; unlocks by text message (code `424242`) and a question (`seven`) |
/// | `shafi@example.com` | WebAuthn, or TOTP (the same secret) |
/// | `leslie@example.com` | has to set up text messages, and may set up a security question |
/// | `jean+clerk_test@example.com` | a question (`Rex`), a text message, an e-mail (both `424242`), or TOTP |
public struct SandboxScenario: Sendable, Equatable {
    /// Who has an account.
    public var users: [SandboxUser]
    /// How the instance behaves.
    public var settings: SandboxSettings
    /// What goes wrong from the start.
    public var faults: [SandboxFault]
    /// What else the providers begin with.
    var parts = SandboxParts<InScenario>()

    /// Creates a scenario.
    ///
    /// - Parameters:
    ///   - users: Who has an account. Default: ``defaultUsers``.
    ///   - settings: How the instance behaves. Default: as the provider publishes it, rate limits included.
    ///   - faults: What goes wrong from the start. Default: nothing.
    public init(
        users: [SandboxUser] = SandboxScenario.defaultUsers,
        settings: SandboxSettings = SandboxSettings(),
        faults: [SandboxFault] = []
    ) {
        self.users = users
        self.settings = settings
        self.faults = faults
    }

    /// The default people and the published behaviour.
    public static var standard: SandboxScenario { SandboxScenario() }

    /// The default people without rate limits, for tests that sign in often.
    public static var unlimited: SandboxScenario {
        var scenario = SandboxScenario()
        scenario.settings.rateLimits = .none
        scenario.settings.okta.rateLimit = nil
        return scenario
    }

    /// Reads a scenario file.
    ///
    /// - Parameter json: The file's content.
    /// - Throws: ``SandboxError`` that says what is wrong, and where.
    public init(json: String) throws(SandboxError) {
        let file: File = try JSONValue(document: Array(json.utf8)).read(path: "scenario")
        users = file.defaultUsers ?? true ? Self.defaultUsers : []
        for user in file.users ?? [] {
            // A person of the file replaces a default one with the same identifier.
            users.removeAll { $0.identifier.lowercased() == user.identifier.lowercased() }
            users.append(user)
        }
        settings = file.settings ?? SandboxSettings()
        faults = file.faults ?? []
        parts = file.parts
    }

    /// Finds what contradicts itself: what was made in Swift is read as a file would be.
    func check() throws(SandboxError) {
        let _: [SandboxUser] = try JSONValue(of: users).read(path: "users")
        try parts.check()
    }

    private struct File: SandboxInput {
        var defaultUsers: Bool?
        var users: [SandboxUser]?
        var settings: SandboxSettings?
        var faults: [SandboxFault]?
        var parts: SandboxParts<InScenario>
    }

    /// The password of every default person.
    public static let defaultPassword = "open-sesame-42"

    /// The people of the table above.
    public static var defaultUsers: [SandboxUser] {
        func person(
            _ email: String,
            _ name: String,
            _ change: (inout SandboxUser) -> Void = { _ in }
        ) -> SandboxUser {
            var user = SandboxUser(email: email, password: defaultPassword)
            user.firstName = name
            user.lastName = "Example"
            change(&user)
            return user
        }
        let secret = "JBSWY3DPEHPK3PXP"
        return [
            person("ada@example.com", "Ada"),
            person("grace@example.com", "Grace") {
                $0.totpSecret = secret
                $0.backupCodes = (1...5).map { "backup-000\($0)" }
            },
            person("linus@example.com", "Linus") { $0.passwordState = "compromised" },
            person("alan@example.com", "Alan") {
                $0.passwordState = "compromised"
                $0.totpSecret = secret
            },
            person("margaret@example.com", "Margaret") {
                var lockout = SandboxSettings.Lockout()
                lockout.threshold = 3
                lockout.duration = 5000
                $0.lockout = lockout
            },
            person("katherine+clerk_test@example.com", "Katherine") { $0.hasDeviceTrust = true },
            person("edsger@example.com", "Edsger") {
                $0.phones = ["+4930123456"]
                $0.secondFactors = ["phone_code"]
            },
            person("barbara@example.com", "Barbara") { $0.password = nil },
            person("dennis@example.com", "Dennis") { $0.passwordState = "pwned" },
            person("ken@example.com", "Ken") { $0.initialLock = .indefinite },
            person("radia@example.com", "Radia") { $0.state = "banned" },
        ] + oktaUsers(person)
    }
}
