import ArgumentParser
import AuthRecovery
import CommandLineSupport
import Glibc
import HTTPRecovery

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
    func check(for provider: ProviderName, command: CommandName) throws {
        guard provider == .facebook else {
            if [appID, clientTokenEnv, appSecretEnv].contains(where: { $0 != nil }) {
                throw ValidationError(
                    "--app-id, --client-token-env and --app-secret-env belong to --provider facebook."
                )
            }
            return
        }
        guard appID?.isEmpty == false else { throw ValidationError("--provider facebook needs --app-id.") }
        if command == .signIn, clientTokenEnv == nil {
            throw ValidationError("sign-in needs --client-token-env: device login presents the app's client token.")
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

/// Reads secrets out of the environment.
enum Environment {
    /// The value of a variable.
    ///
    /// - Parameters:
    ///   - name: The variable; nil where none was named.
    ///   - option: The option that names it.
    static func secret(_ name: String?, option: String) throws -> Secret? {
        guard let name else { return nil }
        // The text belongs to the environment and is copied at once; nothing here changes the environment.
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else {
            throw InputError("\(option): there is no environment variable of that name")
        }
        return Secret(unsafe String(cString: value))
    }
}
