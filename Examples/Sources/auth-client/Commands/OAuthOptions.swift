import ArgumentParser
import AuthRecovery
import CommandLineSupport
import HTTPRecovery

/// The client registration, and where the server's endpoints are if it does not list them.
struct OAuthOptions: ParsableArguments {
    @Option(name: .customLong("client-id"), help: ArgumentHelp("The client's identifier.", valueName: "id"))
    var clientID: String?

    @Option(
        help: ArgumentHelp("The environment variable with the client's secret, if it has one.", valueName: "name")
    )
    var clientSecretEnv: String?

    @Option(
        help: ArgumentHelp(
            "What is asked for, such as 'openid offline_access'; facebook: permissions.",
            valueName: "scope"
        )
    )
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

    @Option(
        name: .customLong("redirect-uri"),
        help: ArgumentHelp(
            "okta, forgerock: where the app's answers go, as it is registered; nothing is sent there. auth0: where the "
                + "browser comes back from the login page.",
            valueName: "uri"
        )
    )
    var redirectURI: String?

    @Option(
        name: .customLong("auth-server"),
        help: ArgumentHelp("okta: the authorization server, such as default. Default: the org's own.", valueName: "id")
    )
    var authServer: String?

    /// Checks that the options fit the provider.
    func check(for provider: ProviderName) throws {
        let app = [clientSecretEnv, scope]
        let endpoints = [tokenURL, deviceURL]
        func isGiven(_ options: [String?]) -> Bool { options.contains { $0 != nil } }
        if authServer != nil, provider != .okta { throw ValidationError("--auth-server belongs to --provider okta.") }
        let name = provider.rawValue
        switch provider.registration {
        case .withEndpoints, .required:
            guard clientID?.isEmpty == false else { throw ValidationError("--provider \(name) needs --client-id.") }
            if provider.registration == .required {
                try checkEndpoints(endpoints)
            } else if redirectURI != nil {
                throw ValidationError("--redirect-uri belongs to --provider auth0, okta or forgerock.")
            }
        case .withRedirect:
            try checkEndpoints(endpoints)
            if clientID?.isEmpty != false, clientID != nil || isGiven(app + [redirectURI, authServer]) {
                throw ValidationError("These options need --client-id, which obtains an app's tokens.")
            }
            if clientID != nil, redirectURI?.isEmpty != false {
                throw ValidationError("--provider \(name) with --client-id needs --redirect-uri.")
            }
        case .scopeAlone:
            if isGiven([clientID, clientSecretEnv, redirectURI] + endpoints) {
                throw ValidationError("Of these options --scope alone belongs to --provider \(name).")
            }
        case .none:
            if isGiven([clientID] + app + endpoints + [redirectURI]) {
                throw ValidationError(
                    "--client-id, --client-secret-env, --scope, --redirect-uri, --token-url and --device-url belong to "
                        + "--provider oauth, auth0, okta or forgerock (--scope to facebook too)."
                )
            }
        }
    }

    private func checkEndpoints(_ endpoints: [String?]) throws {
        if endpoints.contains(where: { $0 != nil }) {
            throw ValidationError("--token-url and --device-url belong to --provider oauth.")
        }
    }
}

extension ClientOptionsValue {
    /// The client's secret, if it has one.
    func clientSecret() throws -> Secret? {
        try Environment.secret(clientSecretEnv, option: "--client-secret-env")
    }
}
