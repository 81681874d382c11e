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
              sign-in    Signs in. Asks for what is needed, or takes it
                         from --answers.
              status     Tells whether there is a session, as the server
                         sees it.
              get PATH   Requests a path below the base URL with the
                         session's credential; the body goes to standard
                         output.
              refresh    Renews the session's token.
              sign-out   Ends the session.
              classify   Reads logged exchanges, one JSON object a line, on
                         standard input and tells what each means.
              explain    Reads one response on standard input, as curl -i
                         prints it, and tells in words what it means.
              The last two ask no server and need no --base-url.

            COMMANDS AT CLERK ALONE
              finish-tasks           Does what a session is pending for.
              sessions               Tells the sessions on all devices.
              revoke ID              Ends one of them.
              forget-device          Ends all on this device, and forgets it.
              environment            Tells how the instance is set up.
              join-waitlist ADDRESS  Puts an address on its waitlist.

            ANSWERS
              A JSON object with the keys password, email_code, phone_code,
              totp, backup_code, new_password, security_answer, text,
              email_link, phone_number (to set one up), captcha (the proof
              of one that was solved elsewhere), redirect (where a browser
              came back), webauthn (the word unsupported, or a raw outcome),
              push (the word resend has another one sent after one that
              nobody answered) and choice (an answer key, the provider's own
              factor name, or yes or no; of a locked Okta account EMAIL or
              SMS). An array is taken in order, a text is an array of one;
              nothing is sent twice. A choice is for the first question that
              offers it, and a sign-in that begins again keeps to it.
              Without choice, a factor whose answer is at hand is taken.
              What may ask too takes --answers as well: get at forgerock and
              auth0, where a stronger proof may be wanted first, refresh at
              auth0, finish-tasks and revoke. For oauth and facebook sign-in
              shows a code to enter in a browser, and needs no answers.

            IN A BROWSER
              With --redirect-uri on this machine, such as
              http://127.0.0.1/callback, sign-in goes through a browser at
              clerk (--at says at whom), facebook, auth0 (--way browser)
              and oauth: the address is shown, and opened by the program
              that BROWSER names, or on a desktop by its own; the program
              listens where the browser comes back, at a port of its own
              where none is named. If the browser comes back elsewhere,
              the address at which it did is asked for. The link of an
              e-mail of clerk's comes back so too; with --link-page it may
              be opened on any device instead, and is waited for.

            AT A PROMPT
              ?        tells what can be typed
              resend   has another code or confirmation sent
              other    goes on with another way to prove that it is you
              Ctrl-C   ends the command, at a prompt and in every wait; a
                       token renewal that is under way is finished, until
                       Ctrl-C is pressed again

            SECRETS
              What stands among a program's arguments can be read by every
              user of the machine: so passwords come from a prompt,
              --password-stdin or --answers, and what the options need from
              the environment (--client-secret-env, --client-token-env,
              --app-secret-env, and --state-env for a URL with a password).

            EXIT STATUS
              0    done
              64   wrong usage
              65   invalid or missing input
              69   the service cannot be used now (timeouts, 5xx, unreadable
                   answers)
              75   locked or rate limited, and not waited out
              77   refused
              130  interrupted

            EVENTS
              --events writes one JSON object a line: attempt, response,
              failure, wait, retry, refresh, clear, fallback, challenge,
              giving_up, done. No secret is in any of them.

            EXAMPLES
              auth-client --provider clerk --base-url https://clerk.example.com \\
                sign-in --identifier ada@example.com
              auth-client --provider clerk --base-url https://clerk.example.com \\
                get /v1/me
              auth-client --provider oauth --base-url https://id.example.com \\
                --client-id cli --scope 'openid offline_access' sign-in
              auth-client --provider okta --org https://example.okta.com \\
                --token-file session.json sign-in --identifier ada@example.com
              auth-client --provider okta --org https://example.okta.com \\
                --client-id 0oa1 --redirect-uri com.example.cli:/callback sign-in
              auth-client --provider forgerock --base-url https://id.example.com/am \\
                --realm alpha --journey Login sign-in --identifier ada
              FACEBOOK_CLIENT_TOKEN=… auth-client --provider facebook \\
                --base-url https://graph.facebook.com --app-id 1234 \\
                --client-token-env FACEBOOK_CLIENT_TOKEN sign-in
              auth-client --provider auth0 --client-id abc \\
                --base-url https://example.eu.auth0.com sign-in
              auth-client --provider clerk --base-url https://clerk.example.com \\
                --at google --redirect-uri http://127.0.0.1:8400/done sign-in
              auth-client --provider auth0 --client-id abc --way device \\
                --base-url https://example.eu.auth0.com sign-in
              auth-client --provider clerk classify < exchanges.jsonl
              curl -si https://clerk.example.com/v1/client | \\
                auth-client --provider clerk explain
            """
    )

    /// Begins the program.
    static func main() {
        Program.openStandardDescriptors()
        do {
            var command = try parseAsRoot()
            try command.run()
        } catch {
            Program.refuse(error, by: Self.self)
        }
    }

    @OptionGroup var options: ClientOptions

    @Argument(
        help: ArgumentHelp(
            "What to do: sign-in, status, get, refresh, sign-out, classify, explain, or what clerk has.",
            valueName: "command"
        )
    )
    var command: CommandName

    @Argument(
        help: ArgumentHelp(
            "The path of get, such as /v1/me; what revoke and join-waitlist are about.",
            valueName: "path"
        )
    )
    var path: String?

    func validate() throws {
        if let needed = command.argument, path?.isEmpty ?? true {
            throw ValidationError("\(command.rawValue) needs \(needed).")
        }
        if command.argument == nil, let path { throw ValidationError("Unexpected argument '\(path)'.") }
        try options.explain.check(for: command)
        if command.needsServer {
            guard !options.provider.servesNoServer else {
                throw ValidationError("--provider \(options.provider.rawValue) serves classify and explain alone.")
            }
            try options.oauth.check(for: options.provider)
            if options.softwareKey != nil, options.provider != .okta, options.provider != .forgerock {
                throw ValidationError("--software-key belongs to --provider okta or forgerock.")
            }
            try options.clerk.check(
                for: options.provider,
                command: command,
                redirectURI: options.oauth.redirectURI
            )
            try options.forgeRock.check(for: options.provider, command: command)
            try options.facebook.check(
                for: options.provider,
                command: command,
                hasBrowser: options.oauth.redirectURI != nil
            )
            let way = options.way.way
            try options.way.check(for: options.provider, command: command)
            try options.auth0.check(
                for: options.provider,
                command: command,
                redirectURI: options.oauth.redirectURI,
                way: way
            )
            let hasApp = options.oauth.clientID != nil
            try options.okta.check(for: options.provider, command: command, way: way, hasApp: hasApp)
            guard let baseURL = options.baseURL else {
                throw ValidationError("--base-url is missing: the URL of what stands before the server's paths.")
            }
            let base: HTTPRequest
            do {
                base = try HTTPRequest(url: baseURL)
                guard !baseURL.contains("?"), !baseURL.contains("#") else {
                    throw ValidationError("--base-url: leave the query and the fragment out")
                }
            } catch {
                throw ValidationError("--base-url: \(error)")
            }
            try options.forgeRock.checkLink(against: base)
            if command == .get, let path, path.contains("://") { try check(url: path, against: base) }
        }
        let mayAsk = command.mayAsk(at: options.provider)
        if command != .signIn,
            options.identifier != nil || options.passwordFromInput || (options.answers != nil && !mayAsk)
        {
            throw ValidationError("--identifier, --password-stdin and --answers belong to sign-in.")
        }
    }

    /// A whole URL is taken where the session's credential may go to: for get at a gateway beside PingAM.
    private func check(url: String, against base: HTTPRequest) throws {
        guard let request = try? HTTPRequest(url: url) else { return }
        guard options.provider == .forgerock, Origin(of: request) == Origin(of: base) else {
            throw ValidationError(
                "get takes a path below the base URL, such as /v1/me: the session's credential goes nowhere else."
            )
        }
    }

    func run() throws {
        switch command {
        case .classify: try Classify(provider: options.provider).run()
        case .explain:
            try Explain(
                provider: options.provider,
                hints: options.explain.hints(for: options.provider),
                json: options.json,
                terminal: options.telling.terminal(isQuiet: false)
            ).run()
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
    case finishTasks = "finish-tasks"
    case sessions
    case revoke
    case forgetDevice = "forget-device"
    case environment
    case joinWaitlist = "join-waitlist"
    case classify
    case explain

    /// Whether it asks a server.
    var needsServer: Bool { self != .classify && self != .explain }

    /// Whether Clerk alone has it.
    var isClerks: Bool {
        [.finishTasks, .sessions, .revoke, .forgetDevice, .environment, .joinWaitlist].contains(self)
    }

    /// What has to stand behind it; nil for nothing.
    var argument: String? {
        switch self {
        case .get: "a path, such as /v1/me"
        case .revoke: "the id of a session"
        case .joinWaitlist: "an e-mail address"
        default: nil
        }
    }

    /// Whether the server may ask something before it does what is wanted: a gateway before PingAM for a stronger proof, a
    /// tenant of Auth0's for a second factor before it renews tokens.
    func mayAsk(at provider: ProviderName) -> Bool {
        switch self {
        case .signIn, .finishTasks, .revoke: true
        case .get: provider == .forgerock || provider == .auth0
        case .refresh: provider == .auth0
        default: false
        }
    }
}

/// The options of all commands.
struct ClientOptions: ParsableArguments {
    @Option(help: "Whose server it is; http serves classify and explain alone.")
    var provider: ProviderName

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
            "okta, forgerock: answer WebAuthn with a security key in software, kept in this file (mode 0600). For tests.",
            valueName: "file"
        ),
        completion: .file()
    )
    var softwareKey: String?

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
}
