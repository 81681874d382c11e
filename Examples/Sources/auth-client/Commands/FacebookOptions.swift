import ArgumentParser

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

    /// Checks that the options fit the provider and the command.
    func check(for provider: ProviderName, command: CommandName, hasBrowser: Bool) throws {
        guard provider == .facebook else {
            if [appID, clientTokenEnv, appSecretEnv].contains(where: { $0 != nil }) {
                throw ValidationError(
                    "--app-id, --client-token-env and --app-secret-env belong to --provider facebook."
                )
            }
            return
        }
        guard appID?.isEmpty == false else { throw ValidationError("--provider facebook needs --app-id.") }
        if command == .signIn, clientTokenEnv == nil, !hasBrowser {
            throw ValidationError(
                "sign-in needs --client-token-env, which device login presents, or --redirect-uri for a browser."
            )
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
}
