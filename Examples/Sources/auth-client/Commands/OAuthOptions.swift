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
        help: ArgumentHelp(
            "The token endpoint. Default: what the server's discovery document says, asked for when that is needed first.",
            valueName: "url"
        )
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
            """
            Where the browser comes back to, as it is registered; on this machine it is listened at. okta, forgerock: \
            where the app's answers go; nothing is sent there.
            """,
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
        if let redirectURI, !redirectURI.contains(":") {
            throw ValidationError("--redirect-uri: write the whole address, such as http://127.0.0.1/callback.")
        }
        let registration = provider.registration
        if provider != .okta {
            try Misplaced.refuse(["--auth-server": authServer != nil], belongingTo: "--provider okta")
        }
        if registration != .withEndpoints {
            try Misplaced.refuse(
                ["--token-url": tokenURL != nil, "--device-url": deviceURL != nil],
                belongingTo: "--provider oauth"
            )
        }
        if registration == .none {
            try Misplaced.refuse(
                ["--scope": scope != nil],
                belongingTo: "--provider oauth, auth0, okta, forgerock or facebook"
            )
        }
        if registration == .none || registration == .scopeAlone {
            try Misplaced.refuse(
                ["--client-id": clientID != nil, "--client-secret-env": clientSecretEnv != nil],
                belongingTo: "--provider oauth, auth0, okta or forgerock"
            )
        }
        guard registration == .withRedirect else { return }
        if clientID?.isEmpty == true { throw ValidationError("--client-id is empty.") }
        if clientID == nil {
            try Misplaced.refuse(
                [
                    "--client-secret-env": clientSecretEnv != nil,
                    "--scope": scope != nil, "--redirect-uri": redirectURI != nil, "--auth-server": authServer != nil,
                ],
                needing: "--client-id, which obtains an app's tokens"
            )
        } else if redirectURI?.isEmpty != false {
            throw ValidationError(
                """
                --client-id needs --redirect-uri, where the app's answers go as it is registered, such as \
                --redirect-uri com.example.cli:/callback.
                """
            )
        }
    }
}

extension ClientOptionsValue {
    /// Listens where the browser comes back, if it is sent out at all and that is on this machine.
    func listener() throws -> LoopbackListener? {
        guard provider.sendsOut, let redirectURI, LoopbackListener.isLocal(redirectURI) else { return nil }
        return try LoopbackListener(uri: redirectURI)
    }

    /// The client's secret, if it has one.
    func clientSecret() throws -> Secret? {
        try Environment.secret(clientSecretEnv, option: "--client-secret-env")
    }
}
