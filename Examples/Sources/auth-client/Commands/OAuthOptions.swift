import ArgumentParser
import CommandLineSupport

/// The client registration, and where the server's endpoints are if it does not list them.
struct OAuthOptions: ParsableArguments {
    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client's identifier.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("The environment variable with the client's secret, if it has one.", valueName: "name")
    )
    var clientSecretEnv: String?

    @Option(help: ArgumentHelp("What is asked for, such as 'openid offline_access'.", valueName: "scope"))
    var scope: String?

    @Option(
        name: .customLong("token-url"),
        help: ArgumentHelp("The token endpoint. Default: what the server's discovery document says.", valueName: "url")
    )
    var tokenURL: String?

    @Option(
        name: .customLong("device-url"),
        help: ArgumentHelp("The device authorization endpoint. Default: the same.", valueName: "url")
    )
    var deviceURL: String?

    /// Checks that the options fit the provider.
    func check(for provider: ProviderName, redirectURI: String? = nil) throws {
        if provider == .oauth {
            guard clientID?.isEmpty == false else { throw ValidationError("--provider oauth needs --client-id.") }
            return
        }
        if provider == .forgerock {
            guard [tokenURL, deviceURL].allSatisfy({ $0 == nil }) else {
                throw ValidationError("--token-url and --device-url belong to --provider oauth.")
            }
            let isNamed = clientID?.isEmpty == false
            guard isNamed == (redirectURI?.isEmpty == false) else {
                throw ValidationError("--client-id and --redirect-uri go together.")
            }
            guard isNamed || (clientSecretEnv == nil && scope == nil) else {
                throw ValidationError("--client-secret-env and --scope need --client-id.")
            }
            return
        }
        let given = [clientID, clientSecretEnv, scope, tokenURL, deviceURL].contains { $0 != nil }
        if given {
            throw ValidationError(
                "--client-id, --client-secret-env, --scope, --token-url and --device-url belong to --provider oauth."
            )
        }
    }
}
