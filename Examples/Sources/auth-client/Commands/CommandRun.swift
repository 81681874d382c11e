import ArgumentParser
import AuthRecovery
import ClerkAuth
import CommandLineSupport
import CurlTransport
import Glibc
import HTTPRecovery
import HTTPTypes
import Locking

/// Carries out one command and tells how it ended.
struct CommandRun: Sendable {
    private let options: ClientOptionsValue
    private let command: CommandName
    private let path: String?

    init(_ parsed: AuthClient) {
        options = ClientOptionsValue(parsed)
        command = parsed.command
        path = parsed.path
    }

    /// Runs the command and ends the program.
    func run() throws {
        let terminal = options.telling.terminal(isQuiet: options.events == "-")
        let events: EventLog
        let store: any RecoveryStore
        var connection = CurlTransport.Configuration()
        do {
            try options.network.apply(to: &connection)
            try options.tokenPlace.checkFolder()
            events = try EventLog(options.events)
            store = try options.state.place().open()
        } catch {
            let report = Report.failed(options.provider.rawValue, with: error)
            _ = tell(report, terminal: terminal, now: .system())
            throw ExitCode(report.exit.rawValue)
        }
        let curl = CurlTransport(configuration: connection)
        let transport: any HTTPTransport = options.sending.writesAtOnce ? GatheringTransport(curl) : curl
        let runtime = Runtime(store: store)
        let isVerbose = options.telling.verbosity == .verbose
        let progress = Progress(
            terminal: terminal,
            time: runtime.time,
            total: 1,
            tellsWaits: !isVerbose,
            wording: .person
        )
        let timeline = isVerbose ? Timeline(terminal: terminal, time: runtime.time, total: 1) : nil
        let commandEvents = CommandEvents(time: runtime.time) { event in
            events.write(event)
            timeline?.note(event)
        }
        // The screen follows each call by itself: between two of them it belongs to the person who is asked.
        runtime.events.observe { event in
            if let notice = StoreNotice.line(event) { return terminal.tell(notice) }
            commandEvents.take(event)
            progress.note(event)
        }
        // What is to be ended before the program is, if tokens are renewed.
        let ending = Locked<RenewalEnding?>(nil)
        let cancelled = Report.failed(options.provider.rawValue, with: CancellationError())
        @Sendable func end(_ report: Report) -> ExitStatus {
            // Whoever is second, the work or an interruption, has nothing more to say.
            guard commandEvents.finish(report) else { return report.exit }
            terminal.showStatus(nil)
            let failure = tell(report, terminal: terminal, now: runtime.time.wallTime)
            return withOutput(failure, events.failure, report.exit, terminal)
        }
        @Sendable func work() async -> ExitStatus {
            // Read before anything else runs: what comes from a person or a pipe takes its time.
            let request = Result {
                try options.sending.request(path ?? "/", body: RequestInput.body(options.sending.data))
            }
            let display = Task { await progress.run() }
            let deadline = options.deadline.map { runtime.time.now.advanced(by: $0) }
            let report = await perform(
                request,
                transport,
                runtime: runtime,
                terminal: terminal,
                deadline: deadline,
                ending
            )
            display.cancel()
            await display.value
            let status = end(report)
            // The command has ended, at a deadline too; what the server gives out for the old token is not lost with that.
            await ending.withLock { $0 }?.settle(deadline: deadline)
            await transport.shutdown()
            return status
        }
        Program.run(
            emergency: { _ = end(cancelled) },
            isFinishing: { ending.withLock { $0 }?.isNeeded ?? false },
            work
        )
    }

    private func perform(
        _ request: Result<ProviderRequest, any Error>,
        _ transport: any HTTPTransport,
        runtime: Runtime,
        terminal: Terminal,
        deadline: TimeSource.Instant?,
        _ ending: Locked<RenewalEnding?>
    ) async -> Report {
        let maxWait = options.maxWait
        let output = StandardOutput(terminal: terminal)
        let body = PathBody(options.sending, command.requestsPath ? path : nil, output)
        // With tokens to present, they are renewed if they are refused; without, the calls are the provider's own.
        @Sendable func client(_ tokens: TokenManager?, _ origin: Origin?) -> RecoveringClient {
            RecoveringClient(transport: transport, runtime: runtime) {
                CommandDeadline(end: deadline)
                Recovery(maxWait: maxWait) {
                    RateLimitBackoff()
                    LockoutWait(atMost: maxWait)
                    if let tokens { SessionRenewal(tokens) }
                    TransientRetry()
                }
                if let tokens, let origin { Authorization(tokens, audience: [origin]) }
                AttemptTimeout.none
                body
            }
        }
        do {
            let request = try request.get()
            let listener = try command.beginsSession ? options.listener() : nil
            let setup = ProviderSetup(
                options: options,
                redirectURI: listener?.uri ?? options.redirectURI,
                tokens: options.tokenPlace.store,
                client: client(nil, nil),
                notice: { terminal.tell($0) },
                makeClient: client
            )
            let provider = try await options.provider.commands(setup)
            if let tokens = provider.tokenManager {
                ending.withLock { $0 = RenewalEnding(tokens, terminal: terminal, time: runtime.time) }
            }
            let bounds = CommandBounds(time: runtime.time, end: deadline)
            return try await bounds.holdAll {
                try await perform(request, provider, terminal: terminal, output, bounds, listener)
            }
        } catch {
            // Whatever was under way when the person pressed Ctrl-C: it was interrupted.
            let cause = Task.isCancelled ? CancellationError() : error
            return .failed(options.provider.rawValue, with: cause)
        }
    }

    private func perform(
        _ request: ProviderRequest,
        _ provider: any ProviderCommands,
        terminal: Terminal,
        _ output: StandardOutput,
        _ bounds: CommandBounds,
        _ listener: LoopbackListener?
    ) async throws -> Report {
        let name = options.provider.rawValue
        switch command {
        case .signIn:
            let input = try SignInInput(options: options, terminal: terminal, bounds: bounds, listener: listener)
            try await options.tokenPlace.check()
            let session = try await provider.signIn(input)
            try input.checkChoices()
            return .ok(name, session: session)
        case .status:
            return .ok(name, session: try await provider.status())
        case .get, .request:
            do {
                // What is a success has been written by the attempt that brought it.
                let response = try await provider.send(request, answering: try input(terminal, bounds))
                for try await chunk in response.body { try output.write(chunk) }
                tellOfStatus(response, output, terminal)
            } catch let error as RecoveryError where error.statusOfPath != nil {
                // What is wrong with a request stands in the answer's body; that it cannot be read to its end is no news.
                if let body = error.response?.body { try await Self.copy(readableOf: body, to: output) }
                if options.json { try output.write("") }
                output.endLine()
                try Task.checkCancellation()
                return .failed(name, with: error, isAboutPath: true)
            }
            if options.json { try output.write("") }
            return .ok(name)
        case .token:
            let token = try await provider.token(answering: try input(terminal, bounds))
            // For the program that asks; on a screen only for who insists.
            try output.write(Array("\(token.reveal())\n".utf8)[...])
            return .ok(name)
        case .refresh:
            return .ok(name, session: try await provider.refresh(answering: try input(terminal, bounds)))
        case .signOut:
            try await provider.signOut()
            return .ok(name)
        case .signUp, .finishTasks, .sessions, .revoke, .forgetDevice, .environment, .joinWaitlist, .factors,
            .addFactor, .removeFactor, .makePrimary:
            let input = try SignInInput(options: options, terminal: terminal, bounds: bounds, listener: listener)
            if command.beginsSession { try await options.tokenPlace.check() }
            switch try await provider.perform(command, path, input) {
            case .session(let session): return .ok(name, session: session)
            case .body(let json): try output.write(json: json)
            case .lines(let lines): for line in lines { try output.write(line) }
            }
            return .ok(name)
        case .classify, .explain, .profiles, .saveProfile:
            return .ok(name)
        }
    }

    /// Says what is no answer to what was asked for, although it is no error.
    private func tellOfStatus(_ response: RecoveredResponse, _ output: StandardOutput, _ terminal: Terminal) {
        let status = response.status.code
        guard (300..<400).contains(status), options.telling.verbosity != .quiet else { return }
        output.endLine()
        let isRedirect = Redirects.isRedirect(response)
        terminal.tell(isRedirect ? "HTTP \(status): a redirect, which is not followed." : "HTTP \(status).")
    }

    /// The status of the command with what became of its output; whoever has stopped reading knows it, and is told nothing.
    private func withOutput(
        _ output: FileError?,
        _ events: FileError?,
        _ status: ExitStatus,
        _ terminal: Terminal
    ) -> ExitStatus {
        var status = status
        for failure in [output, events].compactMap(\.self) where failure.code != EPIPE {
            terminal.write("auth-client: \("\(failure)", limit: 600)")
            if status == .success { status = .badInput }
        }
        return output != nil && status == .success ? .badInput : status
    }

    /// Writes a body as far as it can be read.
    private static func copy(readableOf body: MessageBody, to output: StandardOutput) async throws {
        do {
            for try await chunk in body { try output.write(chunk) }
        } catch let error as FileError {
            throw error
        } catch {}
    }

    /// Who answers what the server asks before it does what is wanted; nil if it asks nothing, or nobody could.
    private func input(_ terminal: Terminal, _ bounds: CommandBounds) throws -> SignInInput? {
        let canAsk = options.answers != nil || terminal.canAsk || options.provider == .forgerock
        guard canAsk, command.mayAsk(at: options.provider) else { return nil }
        return try SignInInput(options: options, terminal: terminal, bounds: bounds)
    }

    /// Tells how the command has ended.
    ///
    /// - Returns: Why it could not be written to standard output; nil if it was.
    private func tell(_ report: Report, terminal: Terminal, now: Timestamp) -> FileError? {
        var problem = report.outputFailure
        do {
            try write(report, terminal: terminal, now: now)
        } catch {
            problem = problem ?? error as? FileError
        }
        if report.outputFailure == nil { explain(report, terminal: terminal, now: now) }
        return problem
    }

    private func write(_ report: Report, terminal: Terminal, now: Timestamp) throws {
        let output = StandardOutput(terminal: terminal)
        if options.json {
            try output.write(json: report.json)
        } else if let session = report.session {
            let verbs: [CommandName: String] = [
                .signIn: "Signed in", .signUp: "Signed up", .finishTasks: "Signed in", .refresh: "Renewed",
            ]
            let verb = verbs[command] ?? "There is a session"
            let until = session.expiresAt.map { " until \(HumanTime.clock($0, now: now))" } ?? ""
            let line: ScreenText = "\(verb): \(session.id, limit: 300), \(session.status, limit: 100)\(until)"
            defer { tellOfSession(session, terminal) }
            try output.write(line)
        } else if command == .signIn, report.end == .ok {
            try output.write("Done; no session was made.")
        } else if command == .signOut, report.end == .ok {
            try output.write("Signed out.")
        }
    }

    private func tellOfSession(_ session: Report.Session, _ terminal: Terminal) {
        if options.provider == .clerk, session.status == ClerkSessionStatus.pending.rawValue {
            terminal.tell("The session is pending. \(ClerkTask.advice)")
        }
        if command.beginsSession, case .standard(let path) = options.tokenPlace, terminal.tellsProgress {
            terminal.write(terminal.styled("The session is kept in \(path).", .faint))
        }
    }

    private func explain(_ report: Report, terminal: Terminal, now: Timestamp) {
        guard let failure = report.failure, !terminal.isQuiet else { return }
        var lines: [ScreenText] = ["auth-client: \(failure.message, limit: 500)"]
        // A number says nothing to a person; who reads logs asks with --verbose, --json or explain.
        if let code = failure.code, Int64(code) == nil || options.telling.verbosity == .verbose {
            let who: ScreenText = failure.isLocal ? "This program calls" : "The server calls"
            lines.append("  \(who) it \(code, limit: 100).")
        }
        if failure.kind == Outcome.Kind.invalidRequest.rawValue, let parameter = failure.parameter {
            lines.append("  It is about \(parameter, limit: 100).")
        }
        if let connection = failure.connection { lines.append("  The cause: \(connection)") }
        if let advice = failure.advice { lines.append("  \(advice)") }
        if let place = failure.place { lines.append("  Please go to \(place, limit: 500).") }
        // What is less than a second away is over when it has been read.
        if let retryAt = failure.retryAt, retryAt.elapsed(since: now) >= .seconds(1) {
            lines.append("  It is worth trying again at \(HumanTime.clock(retryAt, now: now)).")
        }
        for line in lines { terminal.write(line) }
    }
}

/// Bounds all calls of a command by one end.
struct CommandDeadline: ClientLayer {
    let end: TimeSource.Instant?

    func intercept(
        _ request: HTTPRequest,
        body: MessageBody?,
        context: CallContext,
        next: Next
    ) async throws -> RecoveredResponse {
        var context = context
        // What a renewal spends is gone at the server: its answer is not cut off, but waited for by who ends the program.
        if let end, context.options.presents != .refresh {
            context.deadline = min(context.deadline ?? end, end)
        }
        return try await next(request, body: body, context: context)
    }
}
