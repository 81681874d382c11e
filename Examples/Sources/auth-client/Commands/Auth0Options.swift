import ArgumentParser
import Auth0Auth

/// How somebody signs in at Auth0, and what for.
struct Auth0Options: ParsableArguments {
    @Option(
        help: ArgumentHelp("The database that people sign in with. Default: the tenant's directory.", valueName: "name")
    )
    var connection: String?

    @Option(help: ArgumentHelp("The API that tokens are for. Default: the tenant's own.", valueName: "url"))
    var audience: String?

    @Option(
        help: ArgumentHelp(
            "A way in without a password that the app has: email, email_link, sms, database_email, database_phone or "
                + "passkey. May be given several times.",
            valueName: "way"
        ),
        completion: .list(Auth0Configuration.Passwordless.allCases.map(\.rawValue))
    )
    var passwordless: [String] = []

    @Flag(
        name: .customLong("allow-sign-up"),
        inversion: .prefixedNo,
        help:
            "Whether a code of the database makes an account for an address that has none. Default: as the tenant wants it."
    )
    var allowsSignUp: Bool?

    @Option(
        name: .customLong("login-parameter"),
        help: ArgumentHelp(
            "A further parameter of the login page, such as screen_hint=signup or connection=google-oauth2; may be repeated.",
            valueName: "name=value"
        )
    )
    var loginParameters: [String] = []

    @Option(
        name: .customLong("new-username"),
        help: ArgumentHelp("The user name of a new account, where the database wants one.", valueName: "name")
    )
    var newUsername: String?

    /// Checks that the options fit the provider and the command.
    ///
    /// - Parameter way: What a sign-in begins with: password, browser, device, sign_up, reset_password, new_passkey, or a way
    ///   in without a password.
    func check(for provider: ProviderName, command: CommandName, redirectURI: String?, way: String?) throws {
        guard provider == .auth0 else {
            return try Misplaced.refuse(
                [
                    "--connection": connection != nil, "--audience": audience != nil,
                    "--passwordless": !passwordless.isEmpty, "--allow-sign-up": allowsSignUp == true,
                    "--no-allow-sign-up": allowsSignUp == false, "--login-parameter": !loginParameters.isEmpty,
                    "--new-username": newUsername != nil,
                ],
                belongingTo: "--provider auth0"
            )
        }
        for name in passwordless where Auth0Configuration.Passwordless(rawValue: name) == nil {
            let words = Auth0Configuration.Passwordless.allCases.map(\.rawValue)
            throw ValidationError("--passwordless \(name) is none of \(Misplaced.list(words)).")
        }
        _ = try parameters
        if newUsername != nil, way != "sign_up", way != "new_passkey" {
            throw ValidationError("--new-username belongs to --way sign_up or new_passkey.")
        }
        guard let way else { return }
        guard Auth0Way(way) != nil else {
            throw ValidationError("--way \(way) is none of \(Misplaced.list(Auth0Way.words)).")
        }
        if ["sign_up", "reset_password", "database_email", "database_phone"].contains(way), connection == nil {
            throw ValidationError("--way \(way) needs --connection, the database of the account.")
        }
        if ["browser", "email_link"].contains(way), redirectURI == nil {
            throw ValidationError("--way \(way) needs --redirect-uri, where the browser comes back.")
        }
    }

    /// The further parameters of the login page.
    var parameters: [(name: String, value: String)] {
        get throws {
            try loginParameters.map { text in
                let halves = text.split(separator: "=", maxSplits: 1)
                guard halves.count == 2 else { throw ValidationError("--login-parameter takes name=value.") }
                return (String(halves[0]), String(halves[1]))
            }
        }
    }
}

/// What a sign-in begins with.
enum Auth0Way: Sendable {
    case password
    case browser
    case device
    /// An account is made with a password, and signed in to.
    case signUp
    /// A mail is sent with a link to set a new password; nobody is signed in.
    case resetPassword
    /// An account is made with a passkey.
    case newPasskey
    case passwordless(Auth0Configuration.Passwordless)

    /// What the option may say.
    static let words =
        ["password", "browser", "device", "sign_up", "reset_password", "new_passkey"]
        + Auth0Configuration.Passwordless.allCases.map(\.rawValue)

    init?(_ name: String) {
        switch name {
        case "password": self = .password
        case "browser": self = .browser
        case "device": self = .device
        case "sign_up": self = .signUp
        case "reset_password": self = .resetPassword
        case "new_passkey": self = .newPasskey
        default:
            guard let way = Auth0Configuration.Passwordless(rawValue: name) else { return nil }
            self = .passwordless(way)
        }
    }
}

/// The options for Auth0 as plain values.
struct Auth0Value: Sendable {
    let connection: String?
    let audience: String?
    let passwordless: [Auth0Configuration.Passwordless]
    let allowsSignUp: Bool?
    let loginParameters: [(name: String, value: String)]
    let newUsername: String?
    let way: Auth0Way

    init(_ options: Auth0Options, way: String?) {
        connection = options.connection
        audience = options.audience
        passwordless = options.passwordless.compactMap { Auth0Configuration.Passwordless(rawValue: $0) }
        allowsSignUp = options.allowsSignUp
        // They were checked before.
        loginParameters = (try? options.parameters) ?? []
        newUsername = options.newUsername
        self.way = way.flatMap { Auth0Way($0) } ?? .password
    }
}
