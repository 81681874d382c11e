import ArgumentParser
import CommandLineSupport
import HTTPRecovery
import HTTPTypes

extension AuthClient {
    /// Begins the program.
    static func main() {
        Program.openStandardDescriptors()
        var arguments = Array(CommandLine.arguments.dropFirst())
        // The parser has this one by its long name alone.
        if arguments.first == "-V" { arguments[0] = "--version" }
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
            Program.refuse(error, by: Self.self, arguments: settings.arguments) { message in
                message.hasPrefix("Missing expected argument '<command>'")
                    ? CommandName.overview : settings.note(on: message)
            }
        }
    }

    /// Says what is wrong with a profile or the environment, and ends the program.
    private static func refuse(_ error: any Error, isForPrograms: Bool) -> Never {
        let report = Report.failed(nil, with: error)
        if isForPrograms { try? StandardOutput(terminal: Terminal()).write(json: report.json) }
        Terminal().write("auth-client: \(report.failure?.message ?? "", limit: 500)")
        Program.exit(report.exit)
    }

    /// Checks what goes together; not while the arguments are parsed, where an option that is not known would hear of it last.
    private func check() throws {
        if let needed = command.argument, path?.isEmpty ?? true {
            throw ValidationError("\(command.rawValue) needs \(needed).")
        }
        if command.argument == nil, let path { throw ValidationError("Unexpected argument '\(path)'.") }
        // What is kept is checked where it is used.
        if command == .saveProfile { return }
        guard namedProvider != nil || !command.needsProvider else {
            let names = ProviderName.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--provider is missing: whose server it is (\(names)). A --profile can tell it.")
        }
        try explain.check(for: command)
        try sending.check(for: command)
        if command.needsServer {
            guard !provider.servesNoServer else {
                throw ValidationError("--provider \(provider.rawValue) serves classify and explain alone.")
            }
            try checkNeeds()
            try oauth.check(for: provider)
            if softwareKey != nil, ![.okta, .forgerock, .clerk, .auth0].contains(provider) {
                throw ValidationError("--software-key belongs to --provider okta, forgerock, clerk or auth0.")
            }
            try clerk.check(for: provider, command: command, redirectURI: oauth.redirectURI)
            if provider == .clerk { try clerk.check(way: way.way, hasPassword: passwordFromInput) }
            try forgeRock.check(for: provider, command: command)
            try facebook.check(for: provider, command: command, hasBrowser: oauth.redirectURI != nil)
            try way.check(for: provider, command: command)
            try auth0.check(for: provider, command: command, redirectURI: oauth.redirectURI, way: way.way)
            let hasApp = oauth.clientID != nil
            try okta.check(for: provider, command: command, way: way.way, hasApp: hasApp)
            let baseURL = baseURL ?? ""
            guard !baseURL.contains("?"), !baseURL.contains("#") else {
                throw ValidationError("--base-url: leave the query and the fragment out.")
            }
            let base: HTTPRequest
            do {
                base = try HTTPRequest(url: baseURL)
            } catch {
                throw ValidationError("--base-url: \(error)")
            }
            do {
                try network.check()
            } catch {
                throw ValidationError("\(error).")
            }
            try forgeRock.checkLink(against: base)
            if command.requestsPath, let path { try check(path: path, below: baseURL) }
        }
        let mayAsk = command.mayAsk(at: provider)
        if !mayAsk, answers != nil {
            throw ValidationError("--answers belongs to commands that may ask, such as sign-in.")
        }
        if !command.beginsSession {
            try Misplaced.refuse(
                ["--identifier": identifier != nil, "--password-stdin": passwordFromInput],
                belongingTo: "sign-in and sign-up"
            )
        }
    }

    /// Checks that all is there without which nothing can be begun, and shows how it is written.
    private func checkNeeds() throws {
        let given = [
            "--base-url": baseURL, "--org": baseURL, "--client-id": oauth.clientID, "--app-id": facebook.appID,
        ]
        let missing = provider.needs.filter { given[$0.option]??.isEmpty ?? true }
        guard !missing.isEmpty else { return }
        let names = Misplaced.list(missing.map { "\($0.option) (\($0.meaning))" })
        let examples = missing.map { "\($0.option) \($0.example)" }.joined(separator: " ")
        throw ValidationError("--provider \(provider.rawValue) needs \(names), such as: \(examples)")
    }

    /// Checks that a path can be requested.
    ///
    /// A whole URL is taken where the session's credential may go to: as of a gateway beside PingAM.
    private func check(path: String, below baseURL: String) throws {
        if let url = try? HTTPRequest(url: path) {
            guard provider == .forgerock, try Origin(of: url) == Origin(of: HTTPRequest(url: baseURL)) else {
                throw ValidationError(
                    """
                    \(command.rawValue) takes a path below the base URL, such as /v1/me: the session's credential goes \
                    nowhere else.
                    """
                )
            }
            return
        }
        do {
            _ = try HTTPRequest(url: "\(baseURL)/\(path)")
        } catch {
            throw ValidationError("\(command.rawValue): \(error).")
        }
    }

    func run() throws {
        try check()
        switch command {
        case .classify: try Classify(provider: provider).run()
        case .explain:
            try Explain(
                provider: provider,
                hints: explain.hints(for: provider),
                json: json,
                terminal: telling.terminal(isQuiet: false)
            ).run()
        case .profiles, .saveProfile:
            do {
                try command == .profiles ? listProfiles() : saveProfile()
            } catch {
                Self.refuse(error, isForPrograms: json)
            }
        default: try CommandRun(self).run()
        }
    }

    private func listProfiles() throws {
        let terminal = telling.terminal(isQuiet: false)
        let (output, lines) = (StandardOutput(terminal: terminal), Profile.lines)
        for line in lines { try output.write(line) }
        if lines.isEmpty, terminal.tellsProgress {
            terminal.write("There is none yet: save-profile NAME keeps one.")
        }
        if json { try output.write(json: Report.ok(nil).json) }
    }

    private func saveProfile() throws {
        let terminal = telling.terminal(isQuiet: false)
        let profile = try Profile.saving(CommandLine.arguments.dropFirst(), as: path ?? "")
        if terminal.tellsProgress { terminal.write("The profile is kept in \(profile.path, limit: 500).") }
        if json { try StandardOutput(terminal: terminal).write(json: Report.ok(nil).json) }
    }
}
