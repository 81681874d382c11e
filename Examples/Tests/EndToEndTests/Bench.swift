import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// `auth-client` and a sandbox that it talks to.
struct Bench: Sendable {
    let sandbox: AuthSandbox
    let directory: String
    /// Whose server the sandbox is.
    var provider = "clerk"
    /// What every command is given beside.
    var options: [String] = []
    /// Which of the token file's keys hold secrets.
    var secretKeys = ["client_token", "access_token", "refresh_token", "sso_token"]
    /// Secrets that the server holds now.
    var heldSecrets: @Sendable () -> [String] = { [] }
    /// What the program's environment holds beside.
    var environment: [String: String] = [:]
    /// What the sandbox has logged, where it is kept.
    var log: LogLines?

    /// Runs the function with a sandbox and an empty directory.
    static func run(
        _ scenario: SandboxScenario = .unlimited,
        _ body: (Bench) async throws -> Void
    ) async throws {
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        defer { sandbox.stop() }
        try await withTemporaryDirectory { try await body(Bench(sandbox: sandbox, directory: $0)) }
    }

    /// A bench with one person.
    static func run(_ user: SandboxUser, _ body: (Bench) async throws -> Void) async throws {
        try await run(SandboxScenario(users: [user], settings: SandboxScenario.unlimited.settings), body)
    }

    var tokenFile: String { directory + "/tokens.json" }
    var eventFile: String { directory + "/events" }

    /// What the token file holds.
    var tokens: JSONValue {
        get throws { try JSONValue(parsing: contents(of: tokenFile)) }
    }

    /// The paths of the requests that have arrived, with their methods.
    var routes: [String] { sandbox.requests().map(\.route) }

    /// Signs Ada in, and forgets that it was done.
    func signInAda() async throws {
        try #require(await signIn("ada@example.com", answers: #"{"password": "open-sesame-42"}"#).status == 0)
    }

    /// Starts `auth-client` with all its outputs in the directory.
    func start(_ arguments: [String], answers: String? = nil, input: String? = "") throws -> BuiltProgram {
        let events = eventFile
        unsafe unlink(events)
        var all = [
            "--provider", provider, "--base-url", sandbox.url, "--token-file", tokenFile, "--events", events, "--json",
        ]
        all += options
        if let answers {
            try write(answers, to: directory + "/answers")
            all += ["--answers", directory + "/answers"]
        }
        return try BuiltProgram("auth-client", all + arguments, in: directory, input: input, environment: environment)
    }

    /// Runs `auth-client` to its end, and checks what holds for every command.
    func run(
        _ arguments: String...,
        answers: String? = nil,
        input: String = "",
        secrets: [String] = []
    ) async throws -> Run {
        try await finish(start(arguments, answers: answers, input: input), secrets: secrets)
    }

    /// Signs in.
    func signIn(_ identifier: String, _ options: String..., answers: String) async throws -> Run {
        try await finish(start(options + ["sign-in", "--identifier", identifier], answers: answers))
    }

    /// Waits for the end of a command, and checks what holds for every one.
    func finish(_ program: BuiltProgram, secrets: [String] = []) async throws -> Run {
        let run = try Run(end: await program.end(), events: contents(of: eventFile))
        let held = secretKeys.compactMap { try? tokens[$0]?.string } + heldSecrets()
        let codes = sandbox.outbox().map(\.code)
        let passwords = ["open-sesame-42", "correct-horse-7", "backup-0001"]
        let planted = passwords + codes + secrets + held
        for secret in planted {
            #expect(!run.output.contains(secret) && !run.errors.contains(secret) && !run.eventText.contains(secret))
        }
        // The log tells what was sent to people, and nothing else that is secret.
        for secret in passwords + secrets + held { #expect(log?.withoutCodes.contains(secret) != true) }
        #expect(run.named("done").count == 1)
        #expect(run.events.last?["event"]?.string == "done")
        #expect(run.events.last?["outcome"]?.string == run.report["outcome"]?.string)
        #expect(run.named("giving_up").count == (run.outcome == "failed" ? 1 : 0))
        #expect(run.report.members?.map(\.key) == ["outcome", "provider", "session", "failure"])
        #expect(run.report["provider"]?.string == provider)
        if let failure = run.report["failure"]?.members {
            #expect(failure.map(\.key) == ["kind", "code", "message", "param", "retry_at", "remedies"])
        }
        #expect((run.status == 0) == (run.outcome == "ok"))
        #expect((run.outcome == "failed") == (run.kind != nil))
        #expect(run.named("attempt").count == run.named("response").count + run.unanswered)
        return run
    }

    /// Waits until the events hold one of a kind.
    func event(_ name: String) async throws {
        while !contents(of: eventFile).contains("{\"event\":\"\(name)\"") {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}

/// A command that has ended.
struct Run: Sendable {
    let status: Int32
    let output: String
    let errors: String
    let eventText: String
    let events: [JSONValue]
    /// The last line of the output.
    let report: JSONValue

    init(end: BuiltProgram.End, events: String) throws {
        status = end.status
        output = end.output
        errors = end.errors
        eventText = events
        self.events = try events.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        let last = try #require(end.output.split(separator: "\n").last, "nothing on standard output: \(end.errors)")
        report = try JSONValue(parsing: String(last))
    }

    var outcome: String? { report["outcome"]?.string }
    var kind: String? { report["failure"]?["kind"]?.string }
    var code: String? { report["failure"]?["code"]?.string }
    var retryAt: String? { report["failure"]?["retry_at"]?.string }
    var session: String? { report["session"]?["id"]?.string }

    /// The events of a kind.
    func named(_ name: String) -> [JSONValue] { events.filter { $0["event"]?.string == name } }

    /// The texts of a field of the events of a kind.
    func texts(_ name: String, _ field: String) -> [String] { named(name).compactMap { $0[field]?.string } }

    /// Whether the command took less time, by its own clock, than it gives one attempt.
    var isOverBeforeAttemptsTimeOut: Bool {
        (named("done").first?["elapsed_ms"]?.number?.double).map { $0 < 30_000 } ?? false
    }

    /// Attempts without an answer.
    var unanswered: Int {
        let answered = named("response").compactMap { $0["n"]?.number?.saturatedInt }
        return named("attempt").count { !answered.contains($0["n"]?.number?.saturatedInt ?? 0) }
    }
}
