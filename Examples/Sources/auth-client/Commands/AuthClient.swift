import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPTypes

/// A command-line client of auth servers.
@main
struct AuthClient: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth-client",
        abstract: "Signs in to an auth server, through everything that can stand in the way.",
        discussion: """
            COMMANDS
              sign-in    Signs in. Asks for what is needed, or takes it from --answers.
              status     Tells whether there is a session, as the server sees it.
              get PATH   Requests a path below the base URL with the session's credential;
                         the body goes to standard output.
              refresh    Renews the session's token.
              sign-out   Ends the session.
              classify   Reads logged exchanges, one JSON object a line, on standard input
                         and tells what each means. Needs no --base-url.

            ANSWERS
              A JSON object with the keys password, email_code, phone_code, totp, backup_code,
              new_password, security_answer, text, phone_number (to set one up), webauthn (the
              word unsupported, or a raw outcome), push (the word resend has another one sent
              after one that nobody answered) and choice (an answer key, the provider's own
              factor name, or yes or no; of a locked Okta account EMAIL or SMS). An array is
              taken in order, a text is an array of one; nothing is sent twice. Without choice,
              a factor whose answer is at hand is taken. For forgerock, get takes --answers too:
              a gateway may ask for a stronger proof before it lets the request pass. For oauth and
              facebook sign-in shows a code to enter in a browser, and needs no answers.

            EXIT STATUS
              0 done; 64 wrong usage; 65 invalid or missing input; 69 the service cannot be
              used now (timeouts, 5xx, unreadable answers); 75 locked or rate limited and not
              waited out; 77 refused; 130 interrupted.

            EVENTS
              --events writes one JSON object a line: attempt, response, failure, wait, retry,
              refresh, clear, fallback, challenge, giving_up, done. No secret is in any of them.

            EXAMPLES
              auth-client --provider clerk --base-url https://clerk.example.com \\
                --token-file session.json sign-in --identifier ada@example.com
              auth-client --provider clerk --base-url https://clerk.example.com \\
                --token-file session.json get /v1/me
              auth-client --provider oauth --base-url https://id.example.com --client-id cli \\
                --scope 'openid offline_access' --token-file tokens.json sign-in
              auth-client --provider okta --org https://example.okta.com \\
                --token-file session.json sign-in --identifier ada@example.com
              auth-client --provider okta --org https://example.okta.com --client-id 0oa1 \\
                --redirect-uri com.example.cli:/callback --token-file tokens.json sign-in
              auth-client --provider forgerock --base-url https://id.example.com/am --realm alpha \\
                --journey Login --token-file session.json sign-in --identifier ada
              FACEBOOK_CLIENT_TOKEN=… auth-client --provider facebook --app-id 1234 \\
                --base-url https://graph.facebook.com --client-token-env FACEBOOK_CLIENT_TOKEN \\
                --token-file session.json sign-in
              auth-client --provider clerk classify < exchanges.jsonl
            """
    )

    /// Begins the program.
    static func main() {
        Program.openStandardDescriptors()
        main(nil)
    }

    @OptionGroup var options: ClientOptions

    @Argument(
        help: ArgumentHelp("What to do: sign-in, status, get, refresh, sign-out or classify.", valueName: "command")
    )
    var command: CommandName

    @Argument(help: ArgumentHelp("The path of get, such as /v1/me.", valueName: "path"))
    var path: String?

    func validate() throws {
        if command == .get, path == nil { throw ValidationError("get needs a path, such as /v1/me.") }
        if command != .get, let path { throw ValidationError("Unexpected argument '\(path)'.") }
        if command != .classify {
            guard !options.provider.servesClassifyAlone else {
                throw ValidationError("--provider \(options.provider.rawValue) serves classify alone.")
            }
            try options.oauth.check(for: options.provider)
            if options.softwareKey != nil, options.provider != .okta, options.provider != .forgerock {
                throw ValidationError("--software-key belongs to --provider okta or forgerock.")
            }
            try options.forgeRock.check(for: options.provider, command: command)
            try options.facebook.check(for: options.provider, command: command)
            guard let baseURL = options.baseURL else {
                throw ValidationError("--base-url is missing: the URL of what stands before the server's paths.")
            }
            do {
                _ = try HTTPRequest(url: baseURL)
            } catch {
                throw ValidationError("--base-url: \(error)")
            }
        }
        // A gateway may ask for a stronger proof before it lets a request pass.
        let mayAsk = command == .signIn || (command == .get && options.provider == .forgerock)
        if command != .signIn,
            options.identifier != nil || options.passwordFromInput || (options.answers != nil && !mayAsk)
        {
            throw ValidationError("--identifier, --password-stdin and --answers belong to sign-in.")
        }
    }

    func run() throws {
        switch command {
        case .classify: try Classify(provider: options.provider).run()
        default: try CommandRun(options: options, command: command, path: path).run()
        }
    }
}

/// What the program does.
enum CommandName: String, ExpressibleByArgument, CaseIterable {
    case signIn = "sign-in"
    case status
    case get
    case refresh
    case signOut = "sign-out"
    case classify
}

/// The options of all commands.
struct ClientOptions: ParsableArguments {
    @Option(help: "Whose server it is; http serves classify alone.")
    var provider: ProviderName

    @Option(
        name: [.customLong("base-url"), .customLong("org")],
        help: """
            The URL of what stands before the server's paths: before /v1 for clerk, before /api/v1 for okta, before /json \
            for forgerock, before the version for facebook, the issuer for oauth.
            """
    )
    var baseURL: String?

    @Option(help: "Who signs in: an e-mail address, phone number or user name.")
    var identifier: String?

    @Flag(name: .customLong("password-stdin"), help: "Take the password from the first line of standard input.")
    var passwordFromInput = false

    @Option(help: ArgumentHelp("Take the answers from this JSON file.", valueName: "file"))
    var answers: String?

    @Option(
        name: .customLong("token-file"),
        help: ArgumentHelp(
            "Keep tokens in this JSON file (mode 0600). Without it they last as long as the command.",
            valueName: "file"
        )
    )
    var tokenFile: String?

    @Option(
        name: .customLong("software-key"),
        help: ArgumentHelp(
            "okta, forgerock: answer WebAuthn with a security key in software, kept in this file (mode 0600). For tests.",
            valueName: "file"
        )
    )
    var softwareKey: String?

    @OptionGroup(title: "OAuth 2") var oauth: OAuthOptions

    @OptionGroup(title: "ForgeRock") var forgeRock: ForgeRockOptions

    @OptionGroup(title: "Facebook") var facebook: FacebookOptions

    @Option(
        help: ArgumentHelp(
            "Where limits and lockouts are remembered. Default: memory, so for this command alone.",
            valueName: "memory|sqlite:path|redis://host:port"
        ),
        transform: { try StateOption.parse($0) }
    )
    var state = StateOption.memory

    @Option(help: ArgumentHelp("Write events as JSON Lines to this file, or - for standard error.", valueName: "file"))
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
}
