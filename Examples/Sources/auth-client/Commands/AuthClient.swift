import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPTypes
import ProgramVersion

/// A command-line client of auth servers.
@main
struct AuthClient: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "auth-client",
        abstract: "Signs in to an auth server, through everything that can stand in the way.",
        discussion: HelpText.discussion,
        version: ProgramVersion.current
    )

    /// Begins the program.
    static func main() {
        Program.openStandardDescriptors()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let settings: Settings
        do {
            settings = try Settings(arguments)
        } catch {
            refuse(error, isForPrograms: arguments.contains("--json"))
        }
        do {
            var command = try parseAsRoot(settings.arguments)
            try command.run()
        } catch {
            Program.refuse(error, by: Self.self, arguments: settings.arguments, note: settings.note)
        }
    }

    /// Says what is wrong with a profile or the environment, and ends the program.
    private static func refuse(_ error: any Error, isForPrograms: Bool) -> Never {
        let report = Report.failed(nil, with: error)
        if isForPrograms { try? StandardOutput(terminal: Terminal()).write(json: report.json) }
        Terminal().write("auth-client: \(report.failure?.message ?? "", limit: 500)")
        Program.exit(report.exit)
    }

    @OptionGroup var options: ClientOptions

    @Argument(
        help: ArgumentHelp(
            "What to do: sign-in, status, get, request, token, refresh, sign-out, or another of the list above.",
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

    func validate() throws {
        if let needed = command.argument, path?.isEmpty ?? true {
            throw ValidationError("\(command.rawValue) needs \(needed).")
        }
        if command.argument == nil, let path { throw ValidationError("Unexpected argument '\(path)'.") }
        // What is kept is checked where it is used.
        if command == .saveProfile { return }
        guard options.namedProvider != nil || !command.needsProvider else {
            throw ValidationError("--provider is missing: whose server it is. A --profile can tell it.")
        }
        try options.explain.check(for: command)
        try options.sending.check(for: command)
        if command.needsServer {
            guard !options.provider.servesNoServer else {
                throw ValidationError("--provider \(options.provider.rawValue) serves classify and explain alone.")
            }
            try options.oauth.check(for: options.provider)
            if options.softwareKey != nil, ![.okta, .forgerock, .clerk].contains(options.provider) {
                throw ValidationError("--software-key belongs to --provider okta, forgerock or clerk.")
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
            if command.requestsPath, let path, path.contains("://") { try check(url: path, against: base) }
        }
        let mayAsk = command.mayAsk(at: options.provider)
        if !mayAsk, options.answers != nil {
            throw ValidationError("--answers belongs to commands that may ask, such as sign-in.")
        }
        if !command.beginsSession, options.identifier != nil || options.passwordFromInput {
            throw ValidationError("--identifier and --password-stdin belong to sign-in and sign-up.")
        }
    }

    /// A whole URL is taken where the session's credential may go to: as of a gateway beside PingAM.
    private func check(url: String, against base: HTTPRequest) throws {
        guard let request = try? HTTPRequest(url: url) else { return }
        guard options.provider == .forgerock, Origin(of: request) == Origin(of: base) else {
            throw ValidationError(
                "\(command.rawValue) takes a path below the base URL, such as /v1/me: the session's credential goes nowhere else."
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
        case .profiles, .saveProfile:
            do {
                try command == .profiles ? listProfiles() : saveProfile()
            } catch {
                Self.refuse(error, isForPrograms: options.json)
            }
        default: try CommandRun(options: options, command: command, path: path).run()
        }
    }

    private func listProfiles() throws {
        let terminal = options.telling.terminal(isQuiet: false)
        let (output, lines) = (StandardOutput(terminal: terminal), Profile.lines)
        for line in lines { try output.write(line) }
        if lines.isEmpty, terminal.tellsProgress {
            terminal.write("There is none yet: save-profile NAME keeps one.")
        }
        if options.json { try output.write(json: Report.ok(nil).json) }
    }

    private func saveProfile() throws {
        let terminal = options.telling.terminal(isQuiet: false)
        let profile = try Profile.saving(CommandLine.arguments.dropFirst(), as: path ?? "")
        if terminal.tellsProgress { terminal.write("The profile is kept in \(profile.path, limit: 500).") }
        if options.json { try StandardOutput(terminal: terminal).write(json: Report.ok(nil).json) }
    }
}
