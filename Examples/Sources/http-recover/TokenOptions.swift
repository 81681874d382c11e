import ArgumentParser
import CommandLineSupport

/// The credentials that requests carry.
struct TokenOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Sends the access_token of this JSON file as a bearer token, to the servers of the given URLs alone. A \
            refused token is renewed or removed; the file has mode 0600 and is replaced as a whole.
            """,
            valueName: "PATH"
        ),
        completion: .file()
    )
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("Where the token is renewed with grant_type=refresh_token.", valueName: "URL")
    )
    var tokenURL: String?

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp("The client that the token was issued to.", valueName: "ID")
    )
    var clientID: String?

    @Option(
        help: ArgumentHelp("The environment variable with the client's secret, sent as Basic.", valueName: "NAME")
    )
    var clientSecretEnv: String?
}
