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
            "A way in without a password that the app has: email, email_link, sms, database_email or database_phone. May be "
                + "given several times.",
            valueName: "way"
        )
    )
    var passwordless: [String] = []

    /// Checks that the options fit the provider and the command.
    ///
    /// - Parameter way: What a sign-in begins with: password, browser, device, or a way in without a password.
    func check(for provider: ProviderName, command: CommandName, redirectURI: String?, way: String?) throws {
        guard provider == .auth0 else {
            if [connection, audience].contains(where: { $0 != nil }) || !passwordless.isEmpty {
                throw ValidationError("--connection, --audience and --passwordless belong to --provider auth0.")
            }
            return
        }
        for name in passwordless where Auth0Configuration.Passwordless(rawValue: name) == nil {
            throw ValidationError(
                "--passwordless \(name) is none of email, email_link, sms, database_email, database_phone."
            )
        }
        guard let way else { return }
        guard Auth0Way(way) != nil else {
            throw ValidationError("--way \(way) is none of password, browser, device and the ways of --passwordless.")
        }
        if ["browser", "email_link"].contains(way), redirectURI == nil {
            throw ValidationError("--way \(way) needs --redirect-uri, where the browser comes back.")
        }
    }
}

/// What a sign-in begins with.
enum Auth0Way: Sendable {
    case password
    case browser
    case device
    case passwordless(Auth0Configuration.Passwordless)

    init?(_ name: String) {
        switch name {
        case "password": self = .password
        case "browser": self = .browser
        case "device": self = .device
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
    let way: Auth0Way

    init(_ options: Auth0Options, way: String?) {
        connection = options.connection
        audience = options.audience
        passwordless = options.passwordless.compactMap { Auth0Configuration.Passwordless(rawValue: $0) }
        self.way = way.flatMap { Auth0Way($0) } ?? .password
    }
}
