import ArgumentParser

/// What the program does.
enum CommandName: String, ExpressibleByArgument, CaseIterable {
    case signIn = "sign-in"
    case signUp = "sign-up"
    case status
    case get
    case request
    case token
    case refresh
    case signOut = "sign-out"
    case finishTasks = "finish-tasks"
    case sessions
    case revoke
    case forgetDevice = "forget-device"
    case environment
    case joinWaitlist = "join-waitlist"
    case factors
    case addFactor = "add-factor"
    case removeFactor = "remove-factor"
    case makePrimary = "make-primary"
    case classify
    case explain
    case profiles
    case saveProfile = "save-profile"

    /// What there is, for who has named none.
    static var overview: String {
        func names(_ isOne: (Self) -> Bool) -> String { allCases.filter(isOne).map(\.rawValue).joined(separator: ", ") }
        return """
              commands:          \(names { $0.needsServer && !$0.isClerks })
              at clerk too:      \(names(\.isClerks))
              without a server:  \(names { !$0.needsServer })
              for example:       auth-client --provider clerk --base-url https://clerk.example.com sign-in
            """
    }

    /// Whether it asks a server.
    var needsServer: Bool { needsProvider && self != .classify && self != .explain }

    /// Whether it is about somebody's server at all.
    var needsProvider: Bool { self != .profiles && self != .saveProfile }

    /// Whether it begins a session.
    var beginsSession: Bool { self == .signIn || self == .signUp }

    /// Whether it requests a path with the session's credential.
    var requestsPath: Bool { self == .get || self == .request }

    /// Whether Clerk alone has it.
    var isClerks: Bool {
        [
            .signUp, .finishTasks, .sessions, .revoke, .forgetDevice, .environment, .joinWaitlist, .factors, .addFactor,
            .removeFactor, .makePrimary,
        ]
        .contains(self)
    }

    /// What has to stand behind it; nil for nothing.
    var argument: String? {
        switch self {
        case .get, .request: "a path, such as /v1/me"
        case .revoke: "the id of a session"
        case .joinWaitlist: "an e-mail address"
        case .addFactor: "what to set up: totp, backup_code, email_code, phone_code or webauthn"
        case .removeFactor: "totp, or the id of an e-mail address, phone number or passkey"
        case .makePrimary: "the id of an e-mail address or phone number"
        case .saveProfile: "the profile's name"
        default: nil
        }
    }

    /// Whether the server may ask something before it does what is wanted: a gateway before PingAM or an API of Okta's for a
    /// stronger proof, a tenant of Auth0's for a second factor before it renews tokens.
    func mayAsk(at provider: ProviderName) -> Bool {
        switch self {
        case .signIn, .signUp, .finishTasks, .revoke, .addFactor, .removeFactor, .makePrimary: true
        case .get, .request: [.forgerock, .auth0, .okta].contains(provider)
        case .refresh, .token: provider == .auth0
        default: false
        }
    }

    /// Whether an option from a profile or the environment is for this command; what is written on the command line is
    /// refused where it does not belong.
    ///
    /// - Parameters:
    ///   - option: The option's long name.
    ///   - provider: Whose server it is, if that is known.
    func takes(_ option: String, at provider: ProviderName?) -> Bool {
        switch option {
        case "identifier", "password-stdin", "ticket-env", "at": beginsSession
        case "recovery-token-env", "activation-token-env", "link-page", "id-token-env", "way", "remember-device",
            "auth-type", "resume", "auth-index",
            "force-auth", "no-session", "upgrade-session", "zero-page", "return-uri":
            self == .signIn
        case "answers": provider.map { mayAsk(at: $0) } ?? false
        case "request", "status", "presented": self == .explain
        case "method", "header", "data": self == .request
        case "no-buffer": requestsPath
        case "show": self == .token
        // It prints a token and nothing else.
        case "json": self != .token
        default: true
        }
    }
}
