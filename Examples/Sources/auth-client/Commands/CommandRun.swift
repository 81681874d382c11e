import ArgumentParser
import AuthRecovery
import ClerkAuth
import CommandLineSupport
import CurlTransport
import HTTPRecovery
import HTTPTypes

/// Carries out one command and tells how it ended.
struct CommandRun: Sendable {
    private let options: ClientOptionsValue
    private let command: CommandName
    private let path: String?

    init(options: ClientOptions, command: CommandName, path: String?) {
        self.options = ClientOptionsValue(options)
        self.command = command
        self.path = path
    }

    /// Runs the command and ends the program.
    func run() throws {
        let terminal = Terminal(isQuiet: options.events == "-")
        let events: EventLog
        do {
            events = try EventLog(options.events)
        } catch {
            let report = Report.failed(options.provider.rawValue, with: error)
            tell(report, terminal: terminal, now: .system())
            throw ExitCode(report.exit.rawValue)
        }
        let runtime = Runtime()
        let progress = Progress(terminal: terminal, time: runtime.time, total: 1)
        let commandEvents = CommandEvents(time: runtime.time) { event in
            events.write(event)
            progress.note(event)
        }
        let cancelled = Report.failed(options.provider.rawValue, with: CancellationError())
        @Sendable func end(_ report: Report) {
            // Whoever is second, the work or an interruption, has nothing more to say.
            guard commandEvents.finish(report) else { return }
            terminal.showStatus(nil)
            tell(report, terminal: terminal, now: runtime.time.wallTime)
        }
        @Sendable func work() async -> ExitStatus {
            let display = Task { await progress.run() }
            let report = await perform(runtime: runtime, terminal: terminal, events: commandEvents)
            display.cancel()
            await display.value
            end(report)
            return report.exit
        }
        Program.run(emergency: { end(cancelled) }, work)
    }

    private func perform(runtime: Runtime, terminal: Terminal, events: CommandEvents) async -> Report {
        let transport = CurlTransport()
        runtime.events.observe { events.take($0) }
        let end = options.deadline.map { runtime.time.now.advanced(by: $0) }
        let client = RecoveringClient(transport: transport, runtime: runtime) {
            CommandDeadline(end: end)
            Recovery(maxWait: options.maxWait) {
                RateLimitBackoff()
                LockoutWait(atMost: options.maxWait)
                TransientRetry()
            }
            AttemptTimeout(.seconds(30))
        }
        let report: Report
        do {
            report = try await perform(client: client, terminal: terminal)
        } catch {
            // Whatever was under way when the person pressed Ctrl-C: it was interrupted.
            report = .failed(options.provider.rawValue, with: Task.isCancelled ? CancellationError() : error)
        }
        await transport.shutdown()
        return report
    }

    private func perform(client: RecoveringClient, terminal: Terminal) async throws -> Report {
        let tokens: any TokenStore = options.tokenFile.map { FileTokenStore(path: $0) } ?? InMemoryTokenStore()
        let clerk: Clerk
        do {
            clerk = try Clerk(frontendAPI: options.baseURL, client: client, tokens: tokens)
        } catch {
            throw InputError("--base-url: \(error)")
        }
        let provider = options.provider.rawValue
        switch command {
        case .signIn:
            let session = try await signIn(clerk, terminal: terminal)
            return .ok(provider, session: Report.Session(session))
        case .status:
            guard let session = try await clerk.currentSession() else {
                throw RecoveryError(
                    outcome: Outcome(.reauthenticationRequired, processed: .no, remedies: [.reauthenticate]),
                    reason: .notRecoverable
                )
            }
            return .ok(provider, session: Report.Session(session))
        case .get:
            let response = try await clerk.send(path: path ?? "/")
            let output = StandardOutput(terminal: terminal)
            for try await chunk in response.body { try output.write(chunk) }
            if options.json { try output.write(Array("\n".utf8)[...]) }
            return .ok(provider)
        case .signOut:
            let stored = try await tokens.read().credentials
            try await clerk.signOut(sessionID: stored.sessionID)
            return .ok(provider)
        case .classify:
            return .ok(provider)
        }
    }

    private func signIn(_ clerk: Clerk, terminal: Terminal) async throws -> ClerkSession {
        let prompts = terminal.canAsk ? Prompts(terminal: terminal) : nil
        let answers = try options.answers.map { try AnswerFile(path: $0) } ?? AnswerFile()
        var identifier = options.identifier ?? ""
        if identifier.isEmpty, let prompts {
            identifier = try await prompts.terminal.ask("E-mail address, phone number or user name: ", isHidden: false)
        }
        guard !identifier.isEmpty else { throw InputError("--identifier is missing: who signs in?") }
        let password = try await openingPassword(answers: answers, prompts: prompts)
        return try await clerk.signIn(
            identifier: identifier,
            password: password,
            answering: Responder(answers: answers, terminal: prompts)
        )
    }

    /// The password that the sign-in begins with; nil where another factor is to be chosen, or nobody has one.
    private func openingPassword(answers: AnswerFile, prompts: Prompts?) async throws -> Secret? {
        if options.passwordFromInput { return Secret(try StandardInput.firstLine()) }
        if answers.has(.choice) { return nil }
        if let password = answers.take(.password) { return password }
        guard let prompts, options.answers == nil else { return nil }
        return Secret(try await prompts.terminal.ask("Password: ", isHidden: true))
    }

    private func tell(_ report: Report, terminal: Terminal, now: Timestamp) {
        if options.json {
            let line = Array((report.json.description + "\n").utf8)
            try? StandardOutput(terminal: terminal).write(line[...])
        } else if let session = report.session {
            let verb = command == .signIn ? "Signed in" : "There is a session"
            let until = session.expiresAt.map { " until \(HumanTime.clock($0, now: now))" } ?? ""
            let line = "\(verb): \(session.id), \(session.status)\(until)\n"
            try? StandardOutput(terminal: terminal).write(Array(line.utf8)[...])
        } else if command == .signOut, report.end == .ok {
            try? StandardOutput(terminal: terminal).write(Array("Signed out.\n".utf8)[...])
        }
        guard let failure = report.failure, !terminal.isQuiet else { return }
        var lines = ["auth-client: " + Masking.printable(failure.message)]
        if let code = failure.code { lines.append("  The server calls it \(Masking.printable(code, limit: 100)).") }
        if let retryAt = failure.retryAt {
            lines.append("  It is worth trying again at \(HumanTime.clock(retryAt, now: now)).")
        }
        for line in lines { terminal.write(line) }
    }
}

/// The options as plain values that can go from task to task.
struct ClientOptionsValue: Sendable {
    let provider: ProviderName
    let baseURL: String
    let identifier: String?
    let passwordFromInput: Bool
    let answers: String?
    let tokenFile: String?
    let events: String?
    let maxWait: Duration
    let deadline: Duration?
    let json: Bool

    init(_ options: ClientOptions) {
        provider = options.provider
        baseURL = options.baseURL ?? ""
        identifier = options.identifier
        passwordFromInput = options.passwordFromInput
        answers = options.answers
        tokenFile = options.tokenFile
        events = options.events
        maxWait = options.maxWait.duration
        deadline = options.deadline?.duration
        json = options.json
    }
}

/// Bounds all calls of a command by one end.
struct CommandDeadline: Middleware {
    let end: TimeSource.Instant?

    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        var context = context
        if let end { context.deadline = min(context.deadline ?? end, end) }
        return try await next(request, body: body, context: context)
    }
}

extension Report.Session {
    init(_ session: ClerkSession) {
        self.init(id: session.id, status: session.status.rawValue, expiresAt: session.expireAt)
    }
}
