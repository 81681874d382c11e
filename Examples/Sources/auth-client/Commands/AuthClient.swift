import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import ProgramVersion

/// A command-line client of auth servers.
///
/// Its options stand here and not in a group of groups: a debug build of swift-argument-parser checks each level of groups
/// five times as often as the one above.
@main
struct AuthClient: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth-client",
        abstract: "Signs in to an auth server, through everything that can stand in the way.",
        discussion: HelpText.discussion,
        version: ProgramVersion.current
    )

    @Option(
        name: .customLong("provider"),
        help: "Whose server it is; http serves classify and explain alone."
    )
    var namedProvider: ProviderName?

    @Option(
        help: ArgumentHelp("Take what is not said otherwise from this profile.", valueName: "name"),
        completion: .custom { _, _, _ in Profile.names }
    )
    var profile: String?

    @Option(
        name: [.customLong("base-url"), .customLong("org")],
        help: """
            The URL of what stands before the server's paths: before /v1 for clerk, before /api/v1 for okta, before /json \
            for forgerock, before the version for facebook, the tenant for auth0, the issuer for oauth.
            """
    )
    var baseURL: String?

    @Option(help: "Who signs in: an e-mail address, phone number or user name.")
    var identifier: String?

    @Flag(name: .customLong("password-stdin"), help: "Take the password from the first line of standard input.")
    var passwordFromInput = false

    @Option(help: ArgumentHelp("Take the answers from this JSON file.", valueName: "file"), completion: .file())
    var answers: String?

    @OptionGroup var tokens: TokenFileOptions

    @Option(
        name: .customLong("software-key"),
        help: ArgumentHelp(
            "clerk, okta, forgerock: answer WebAuthn with a security key in software, kept in this file (mode 0600). For tests.",
            valueName: "file"
        ),
        completion: .file()
    )
    var softwareKey: String?

    @OptionGroup(title: "Connection") var network: NetworkOptions

    @OptionGroup(title: "Requests and tokens") var sending: SendingOptions

    @OptionGroup(title: "OAuth 2") var oauth: OAuthOptions

    @OptionGroup var way: WayOptions

    @OptionGroup(title: "Clerk") var clerk: ClerkOptions

    @OptionGroup(title: "Okta") var okta: OktaOptions

    @OptionGroup(title: "ForgeRock") var forgeRock: ForgeRockOptions

    @OptionGroup(title: "Facebook") var facebook: FacebookOptions

    @OptionGroup(title: "Auth0") var auth0: Auth0Options

    @OptionGroup(title: "Explaining") var explain: ExplainOptions

    @OptionGroup var state: StateOptions

    @Option(
        help: ArgumentHelp("Write events as JSON Lines to this file, or - for standard error.", valueName: "file"),
        completion: .file()
    )
    var events: String?

    @Option(
        name: .customLong("max-wait"),
        help: ArgumentHelp("The longest single wait, lockouts included. Default: 120.", valueName: "seconds"),
        transform: { try Seconds.parse($0) }
    )
    var maxWait = Seconds(.seconds(120))

    @Option(
        help: ArgumentHelp("The time the whole command may take. Default: no limit.", valueName: "seconds"),
        transform: { try Seconds.parsePositive($0) }
    )
    var deadline: Seconds?

    @Flag(help: "Write the result as one JSON object on the last line of standard output; never a token.")
    var json = false

    @OptionGroup(title: "What is told") var telling: TellingOptions

    @Argument(
        help: ArgumentHelp(
            "What to do: sign-in, status, get, request, token, refresh, sign-out, or another that --help lists.",
            valueName: "command"
        )
    )
    var command: CommandName

    @Argument(
        help: ArgumentHelp(
            "The path of get and request, such as /v1/me; what other commands are about.",
            valueName: "path"
        )
    )
    var path: String?

    /// Whose server it is; where nobody's is asked, plain HTTP's.
    var provider: ProviderName { namedProvider ?? .http }
}
