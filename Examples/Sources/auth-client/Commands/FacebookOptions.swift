import ArgumentParser
import FacebookAuth

/// Which app of Facebook's the program is.
struct FacebookOptions: ParsableArguments {
    @Option(name: .customLong("app-id"), help: ArgumentHelp("The app's id.", valueName: "id"))
    var appID: String?

    @Option(
        help: ArgumentHelp(
            "The environment variable with the app's client token, which sign-in presents.",
            valueName: "name"
        )
    )
    var clientTokenEnv: String?

    @Option(
        help: ArgumentHelp(
            "The environment variable with the app's secret: for refresh, and to prove it with each call.",
            valueName: "name"
        )
    )
    var appSecretEnv: String?

    @Option(
        help: ArgumentHelp(
            "Why somebody is asked in a browser who has been asked before: rerequest (permissions that were declined), "
                + "reauthorize (the access to their data) or reauthenticate (the password).",
            valueName: "why"
        ),
        completion: .list(["rerequest", "reauthorize", "reauthenticate"])
    )
    var authType: String?

    @Flag(
        help:
            "Fetch the app's table of errors first, and judge answers by it; it needs --client-token-env or --app-secret-env."
    )
    var errorTable = false

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName, hasBrowser: Bool) throws {
        guard provider == .facebook else {
            return try Misplaced.refuse(
                [
                    "--app-id": appID != nil, "--client-token-env": clientTokenEnv != nil,
                    "--app-secret-env": appSecretEnv != nil, "--auth-type": authType != nil,
                    "--error-table": errorTable,
                ],
                belongingTo: "--provider facebook"
            )
        }
        if let authType {
            guard FacebookConfiguration.WebLogin.AuthType(rawValue: authType) != nil else {
                throw ValidationError("--auth-type \(authType) is none of rerequest, reauthorize, reauthenticate.")
            }
            guard command == .signIn, hasBrowser else {
                throw ValidationError("--auth-type belongs to sign-in in a browser, with --redirect-uri.")
            }
        }
        if command == .signIn, clientTokenEnv == nil, !hasBrowser {
            throw ValidationError(
                "sign-in needs --client-token-env, which device login presents, or --redirect-uri for a browser."
            )
        }
        if errorTable, clientTokenEnv == nil, appSecretEnv == nil {
            throw ValidationError("--error-table needs --client-token-env or --app-secret-env: the table is the app's.")
        }
        if command == .refresh, appSecretEnv == nil {
            throw ValidationError("refresh needs --app-secret-env: a token is exchanged with the app's secret.")
        }
    }
}

/// The options for Facebook as plain values.
struct FacebookValue: Sendable {
    let appID: String?
    let clientTokenEnv: String?
    let appSecretEnv: String?
    let authType: FacebookConfiguration.WebLogin.AuthType?
    let fetchesErrors: Bool

    init(_ options: FacebookOptions) {
        (appID, clientTokenEnv, appSecretEnv) = (options.appID, options.clientTokenEnv, options.appSecretEnv)
        fetchesErrors = options.errorTable
        authType = options.authType.flatMap { FacebookConfiguration.WebLogin.AuthType(rawValue: $0) }
    }
}
