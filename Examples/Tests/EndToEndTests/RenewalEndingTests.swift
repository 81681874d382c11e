import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A renewal that is under way when a program would end: the server may have used up the old refresh token, and what it
/// gives out exists nowhere else.
@Suite("A program that would end in a token renewal", .timeLimit(.minutes(30)), .bounded)
struct RenewalEndingTests {
    /// A server whose resource wants another token, and whose token endpoint answers when the test lets it.
    private struct Line: Sendable {
        let server: FaultServer
        let gate: FaultServer.Gate
        let directory: String

        var url: String { "http://\(server.authority)" }
        var tokenFile: String { directory + "/tokens.json" }
        var tokens: JSONValue { get throws { try JSONValue(parsing: contents(of: tokenFile)) } }

        static func run(_ body: (Line) async throws -> Void) async throws {
            let gate = FaultServer.Gate()
            let server = try FaultServer { request in
                switch request.path {
                case "/token":
                    let answer = #"{"access_token":"new-1","refresh_token":"new-2","token_type":"Bearer"}"#
                    return FaultServer.Reply.wait(for: gate).then(.answer(body: answer))
                default:
                    return .answer(401, headers: [("WWW-Authenticate", #"Bearer error="invalid_token""#)])
                }
            }
            defer { gate.open() }
            try await withTemporaryDirectory { directory in
                let line = Line(server: server, gate: gate, directory: directory)
                try write(#"{"access_token":"old-1","refresh_token":"old-2"}"#, to: line.tokenFile)
                try await body(line)
            }
        }

        /// The arguments of a program that renews the token.
        func arguments(_ program: String) -> [String] {
            let renewal = ["--token-file", tokenFile, "--token-url", url + "/token", "--client-id", "cli"]
            if program == "http-recover" { return renewal + [url + "/items"] }
            return renewal + ["--provider", "oauth", "--base-url", url, "--device-url", url + "/device"]
        }

        func start(_ one: Case, _ options: [String] = []) throws -> TerminalProgram {
            try TerminalProgram(one.program, arguments(one.program) + options + one.command, in: directory)
        }

        /// Waits until the renewal has been asked for.
        func renewalBegins() async throws {
            while !server.receivedRequests.contains(where: { $0.path == "/token" }) {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
    }

    /// A program and what it does.
    struct Case: Sendable, CustomTestStringConvertible {
        var program: String
        var command: [String] = []
        var testDescription: String { ([program] + command).joined(separator: " ") }

        static let all = [
            Case(program: "http-recover"), Case(program: "auth-client", command: ["get", "/items"]),
            Case(program: "auth-client", command: ["refresh"]),
        ]
    }

    @Test(arguments: Case.all, [[], ["--deadline", "3600"]])
    func anInterruptedProgramStaysUntilTheTokenIsStored(one: Case, options: [String]) async throws {
        try await Line.run { line in
            let program = try line.start(one, options)
            try await line.renewalBegins()
            program.interrupt()
            try await program.sees("Finishing the token renewal; press Ctrl-C again to stop now.")
            // Longer than the program waits for work that does not end by itself, and than a deadline leaves.
            try await Task.sleep(for: .seconds(3))
            line.gate.open()
            let end = await program.end()
            #expect(end.status == 130)
            #expect(try line.tokens["refresh_token"]?.string == "new-2")
            #expect(try line.tokens["access_token"]?.string == "new-1")
            #expect(!end.errors.contains("sign in again"))
        }
    }

    @Test(arguments: Case.all)
    func aSecondInterruptionEndsItAtOnce(one: Case) async throws {
        try await Line.run { line in
            let program = try line.start(one)
            try await line.renewalBegins()
            program.interrupt()
            try await program.sees("press Ctrl-C again")
            // The gate stays shut: nothing else ends the program before the renewal's own timeout.
            program.interrupt()
            #expect(await program.end().status == 130)
            #expect(try line.tokens["refresh_token"]?.string == "old-2")
        }
    }

    @Test(arguments: Case.all)
    func atTheDeadlineItIsFinishedAndNothingIsSaidOfASession(one: Case) async throws {
        try await Line.run { line in
            let program = try line.start(one, ["--deadline", "8"])
            try await line.renewalBegins()
            try await program.sees("Finishing the token renewal: at most 2 s.")
            line.gate.open()
            let end = await program.end()
            #expect(end.status == (one.program == "http-recover" ? 28 : 69))
            #expect(try line.tokens["refresh_token"]?.string == "new-2")
            #expect(!end.errors.contains("session has ended") && !end.errors.contains("sign in again"))
            #expect(end.errors.contains("--deadline sets how long"))
            // What has happened is told before what is still done.
            let told = try #require(end.errors.firstRange(of: "--deadline sets how long"))
            let finishing = try #require(end.errors.firstRange(of: "Finishing"))
            #expect(told.lowerBound < finishing.lowerBound)
        }
    }

    @Test(arguments: Case.all)
    func atTheDeadlineItIsGivenTwoSeconds(one: Case) async throws {
        try await Line.run { line in
            let program = try line.start(one, ["--deadline", "8"])
            try await program.sees("Finishing the token renewal: at most 2 s.")
            let end = await program.end()
            #expect(end.status == (one.program == "http-recover" ? 28 : 69))
            #expect(end.errors.contains("The token renewal has not ended in time"))
            #expect(try line.tokens["refresh_token"]?.string == "old-2")
        }
    }

    /// Nothing is known of a session where somebody is only about to begin one.
    @Test func aSignInThatIsRefusedEndsNoSession() async throws {
        let server = try FaultServer(.answer(401, body: #"{"error":"unauthorized"}"#))
        for provider in ["clerk", "okta", "forgerock", "oauth"] {
            let more =
                provider == "oauth"
                ? [
                    "--client-id", "cli", "--device-url", "http://\(server.authority)/d",
                    "--token-url", "http://\(server.authority)/t",
                ] : ["--identifier", "ada", "--password-stdin"]
            let end = try await BuiltProgram.run(
                "auth-client",
                ["--provider", provider, "--base-url", "http://\(server.authority)", "--no-token-file", "sign-in"]
                    + more,
                input: "open-sesame-42\n"
            )
            #expect(end.status == 77, "\(provider): \(end.errors)")
            #expect(!end.errors.contains("session has ended"), "\(provider): \(end.errors)")
        }
    }

    @Test func aRefusedRequestEndsNoSessionEither() async throws {
        let server = try FaultServer(.answer(401))
        let end = try await BuiltProgram.run("http-recover", ["http://\(server.authority)/"])
        #expect(end.status == 22)
        #expect(!end.errors.contains("session has ended"), "\(end.errors)")
    }
}
