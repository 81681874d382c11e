import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// What a person meets at a prompt who does not answer as expected.
@Suite("auth-client at a prompt", .timeLimit(.minutes(30)), .bounded)
struct PromptTests {
    private func withProgram(
        _ options: [String],
        as arguments: [String] = ["sign-in", "--identifier", "grace@example.com"],
        in scenario: SandboxScenario = .standard,
        _ body: (TerminalProgram, AuthSandbox) async throws -> Void
    ) async throws {
        let sandbox = try await AuthSandbox.start(scenario: scenario, seed: 7)
        defer { sandbox.stop() }
        try await withTemporaryDirectory { directory in
            let options = options.map { $0.replacing("URL", with: sandbox.url) }
            let program = try TerminalProgram("auth-client", options + ["--no-token-file"] + arguments, in: directory)
            try await body(program, sandbox)
        }
    }

    @Test func aPasswordStaysHiddenAfterTheProgramWasStopped() async throws {
        try await withProgram(["--provider", "clerk", "--base-url", "URL"]) { program, _ in
            try await program.sees("Password: ")
            #expect(!program.echoes)
            program.signal(SIGSTOP)
            // A shell takes the terminal with settings of its own.
            program.echoes = true
            program.signal(SIGCONT)
            try await program.sees("Password: ", times: 2)
            #expect(!program.echoes)
            program.type("open-sesame-42")
            try await program.sees("Which one? [1-2] ")
            #expect(!program.screen.contains("open-sesame-42"))
            #expect(program.echoes)
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    @Test(arguments: [
        (["--provider", "clerk", "--base-url", "URL"], "grace@example.com"),
        (["--provider", "okta", "--org", "URL"], "frances@example.com"),
    ])
    func theFirstPromptCanBeAskedForHelp(options: [String], name: String) async throws {
        try await withProgram(options, as: ["sign-in", "--identifier", name]) { program, sandbox in
            try await program.sees("Password: ")
            program.type("")
            try await program.sees("Password: ", times: 2)
            program.type("?")
            try await program.sees("Type the password and press return.")
            try await program.sees("Password: ", times: 3)
            // Nothing of that was taken for a password.
            #expect(!sandbox.requests().contains { $0.path.hasSuffix("/sign_ins") || $0.path.hasSuffix("/authn") })
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    @Test func whoHasNoPasswordTakesAnotherWay() async throws {
        let options = ["--provider", "clerk", "--base-url", "URL"]
        try await withProgram(options, as: ["sign-in", "--identifier", "barbara@example.com"]) { program, _ in
            try await program.sees("Password: ")
            program.type("other")
            try await program.sees("Code by e-mail sent to ")
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    /// What is set up says what it is, and what is shown once says so.
    @Test func choicesSayWhatTheyDo() async throws {
        var user = SandboxUser(email: "ada@example.com", password: "open-sesame-42")
        user.tasks = ["choose-organization", "setup-mfa"]
        user.organizations = ["Acme"]
        user.phones = ["+15555550100"]
        var scenario = SandboxScenario.unlimited
        scenario.users = [user]
        let options = ["--provider", "clerk", "--base-url", "URL"]
        try await withProgram(options, as: ["sign-in", "--identifier", "ada@example.com"], in: scenario) { program, _ in
            try await program.sees("Password: ")
            program.type("other")
            try await program.sees("2  Code by e-mail to a***@example.com (sends one now)")
            try await program.sees("3  Code by phone to +155******00 (sends one now)")
            program.type("3")
            try await program.sees("Code by phone sent to ")
            program.type("424242")
            try await program.sees("Please choose:")
            try await program.sees("1  Acme")
            try await program.sees("2  A new organization")
            program.type("1")
            try await program.sees("You can set up:")
            try await program.sees("3  Another phone number (sends a code there)")
            program.type("2")
            try await program.sees("Write down these codes; they are shown this once:")
            #expect(await program.end().status == 0)
        }
    }

    @Test func theNameCanBeAskedForHelp() async throws {
        try await withProgram(["--provider", "clerk", "--base-url", "URL"], as: ["sign-in"]) { program, _ in
            try await program.sees("user name: ")
            program.type("?")
            try await program.sees("user name: ", times: 2)
            program.type("")
            try await program.sees("user name: ", times: 3)
            program.type("grace@example.com")
            try await program.sees("Password: ")
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    @Test func wordsThatDoNotFitSendNothing() async throws {
        try await withProgram(
            ["--provider", "okta", "--org", "URL"],
            as: ["sign-in", "--identifier", "frances@example.com"]
        ) {
            program,
            sandbox in
            try await program.sees("Password: ")
            program.type("open-sesame-42")
            try await program.sees("New password: ")
            let sent = sandbox.requests().count
            program.type("other")
            try await program.sees("There is no other way here.")
            try await program.sees("New password: ", times: 2)
            #expect(sandbox.requests().count == sent)
            program.type("Correct-horse-9")
            try await program.sees("Code of the authenticator app: ")
            let asked = sandbox.requests().count
            program.type("resend")
            try await program.sees("Nothing is sent for this")
            #expect(sandbox.requests().count == asked)
            program.type("other")
            try await program.sees("There is no other way here.", times: 2)
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    @Test func theDeadlineEndsAPrompt() async throws {
        let options = ["--provider", "clerk", "--base-url", "URL", "--deadline", "1", "--json"]
        try await withProgram(options) { program, sandbox in
            let end = await program.end()
            #expect(end.status == 69)
            #expect(end.errors.contains("The time for this command is over."))
            #expect(end.errors.contains("--deadline sets how long the command may take."))
            #expect(!end.errors.contains("trying again"))
            let report = try JSONValue(parsing: Array(end.output.utf8))
            #expect(report["failure"]?["retry_at"] == .null)
            #expect(sandbox.requests().isEmpty)
        }
    }

    @Test func aSecurityKeyIsNotAskedOfThePerson() async throws {
        try await withProgram(
            ["--provider", "okta", "--org", "URL"],
            as: ["sign-in", "--identifier", "shafi@example.com"]
        ) {
            program,
            _ in
            try await program.sees("Password: ")
            program.type("open-sesame-42")
            try await program.sees(": ", times: 2)
            #expect(!program.screen.contains("security key:"))
            #expect(!program.screen.contains("Outcome"))
            program.interrupt()
            _ = await program.end()
        }
    }

    @Test func aSuspendedJourneyTellsHowItGoesOn() async throws {
        let options = ["--provider", "forgerock", "--base-url", "URL/am", "--realm", "alpha", "--journey", "Suspend"]
        try await withProgram(options, as: ["sign-in", "--identifier", "edsger"]) { program, _ in
            let end = await program.end()
            #expect(end.status == 77)
            #expect(end.errors.contains("--resume"))
        }
    }

    @Test func whatIsNoAddressIsAskedForAgain() async throws {
        let app = ["--client-id", "cli", "--redirect-uri", "https://app.example.com/cb"]
        try await withProgram(["--provider", "oauth", "--base-url", "URL"] + app, as: ["sign-in"]) { program, _ in
            try await program.sees("came back: ")
            program.type("nonsense")
            try await program.sees("Please copy the whole address")
            try await program.sees("came back: ", times: 2)
            program.interrupt()
            #expect(await program.end().status == 130)
        }
    }

    /// A program that reads what is typed says what it waits for.
    @Test func classifySaysWhatItReads() async throws {
        try await withTemporaryDirectory { directory in
            let program = try TerminalProgram("auth-client", ["--provider", "clerk", "classify"], in: directory)
            try await program.sees("as --help shows, and end with Ctrl-D")
            program.type("{}")
            program.endInput()
            let end = await program.end()
            #expect(end.status == 0)
            #expect(end.output.hasPrefix(#"{"name":null,"kind":"invalid_request""#))
        }
    }
}
