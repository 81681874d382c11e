import AuthSandbox
import Glibc
import HTTPRecoveryTesting
import Testing

/// When a body goes out, and what becomes of output that nobody takes.
@Suite("What goes out, and where it ends", .timeLimit(.minutes(30)), .bounded)
struct OutputTests {
    /// A body that begins and does not go on.
    private static let begun = FaultServer.Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").then(.stall)

    /// Runs a program with its standard output led elsewhere by a shell.
    private static func run(
        _ words: [String],
        _ output: String,
        in directory: String
    ) async throws -> BuiltProgram.End {
        let program = ["\(BuiltProgram.products)/\(words[0])"] + words.dropFirst()
        return try await BuiltProgram("/bin/bash", ["-c", #""$@" "# + output, "sh"] + program, in: directory).end()
    }

    /// Whoever looks on sees what comes, long before the end.
    @Test(arguments: [
        [], ["-N"], ["-i"], ["-iN"], ["--no-recovery"], ["--transport", "ahc"], ["--transport", "ahc", "-N"],
        ["-o", "-"],
    ])
    func aBodyGoesOutAsItComes(options: [String]) async throws {
        let server = try FaultServer { _ in Self.begun }
        try await withTemporaryDirectory { directory in
            let program = try BuiltProgram("http-recover", options + ["http://\(server.authority)/"], in: directory)
            while !program.output.hasSuffix("begun") { try await Task.sleep(for: .milliseconds(5)) }
            program.signal(SIGINT)
            let end = await program.end()
            #expect(end.status == 130 && end.output.hasSuffix("begun"))
            #expect(end.output.hasPrefix("HTTP/1.1 200") == options.contains { $0.hasPrefix("-i") })
        }
    }

    /// What has come of a body stays when the time is over, however short it was.
    @Test(arguments: [[], ["-N"], ["-i"], ["--no-recovery"], ["--transport", "ahc"]])
    func whatHasComeStays(options: [String]) async throws {
        let server = try FaultServer { _ in Self.begun }
        for time in ["0.9", "2.5"] {
            let line = options + ["-sm", time, "http://\(server.authority)/"]
            let end = try await BuiltProgram.run("http-recover", line)
            #expect(end.status == 28 && end.output.hasSuffix("begun"), "\(end)")
        }
    }

    /// With -N a file can be followed too.
    @Test func aFileIsWrittenAsItComes() async throws {
        let server = try FaultServer { _ in Self.begun }
        try await withTemporaryDirectory { directory in
            let options = ["-N", "-o", directory + "/log", "http://\(server.authority)/"]
            let program = try BuiltProgram("http-recover", options, in: directory)
            while contents(of: directory + "/log") != "begun" { try await Task.sleep(for: .milliseconds(5)) }
            program.signal(SIGINT)
            #expect(await program.exitStatus() == 130)
            #expect(contents(of: directory + "/log") == "begun")
        }
    }

    /// A body that breaks off is asked for again, unless a part of it has gone out that cannot be taken back.
    @Test(arguments: [([], 0), (["-i"], 0), (["-N"], 56), (["-N", "-o", "FILE"], 0)] as [([String], Int32)])
    func aBodyThatBreaksOff(options: [String], status: Int32) async throws {
        let server = try FaultServer(.shortBody, .answer(body: "whole"))
        try await withTemporaryDirectory { directory in
            let words = options.map { $0 == "FILE" ? directory + "/file" : $0 }
            let line = words + ["--backoff", "0,0", "http://\(server.authority)/"]
            let end = try await BuiltProgram("http-recover", line, in: directory).end()
            #expect(end.status == status, "\(end)")
            #expect(server.receivedRequests.count == (status == 0 ? 2 : 1))
            let written = options.contains("FILE") ? contents(of: directory + "/file") : end.output
            #expect(written.hasSuffix(status == 0 ? "whole" : "only this"), "\(end)")
            if status != 0 { #expect(end.errors.contains("part of the body has been printed"), "\(end.errors)") }
        }
    }

    /// An error's body is there whole, however large and however the bodies of successes come.
    @Test func aLargeErrorIsShown() async throws {
        let text = String(repeating: "x", count: 300_000)
        let server = try FaultServer { _ in .answer(404, body: text) }
        let end = try await BuiltProgram.run("http-recover", ["-N", "http://\(server.authority)/"])
        #expect(end.status == 22 && end.output == text)
    }

    /// Of a large one all that comes behind the first 1 MiB, also without -N.
    @Test(arguments: [true, false]) func theBodyOfAuthClientGoesOutAsItComes(isLarge: Bool) async throws {
        let text = isLarge ? String(repeating: "x", count: 3 << 19) : "begun"
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"
        let server = try FaultServer { request in
            request.path.hasSuffix("/stream") ? FaultServer.Reply.raw(head + text).then(.stall) : .answer(404)
        }
        try await withTemporaryDirectory { directory in
            try write(#"{"access_token": "abc"}"#, to: directory + "/tokens.json")
            let url = "http://\(server.authority)"
            let options = [
                "--provider", "oauth", "--base-url", url, "--token-url", url + "/t", "--device-url", url + "/d",
                "--client-id", "cli", "--token-file", directory + "/tokens.json", "get", "/stream",
            ]
            let program = try BuiltProgram("auth-client", options + (isLarge ? [] : ["-N"]), in: directory)
            while program.output != text { try await Task.sleep(for: .milliseconds(5)) }
            program.signal(SIGINT)
            #expect(await program.exitStatus() == 130)
        }
    }

    /// A disk that is full is told of, and no status says that all went well.
    @Test(arguments: [
        ["URL/x", "URL/y"], ["-w", "%{http_code}\\n", "-o", "/dev/null", "URL/x"], ["--events", "/dev/full", "URL/x"],
        ["--record", "/dev/full", "URL/x"], ["-D", "-", "-o", "/dev/null", "URL/x"],
    ])
    func aFullDisk(options: [String]) async throws {
        let server = try FaultServer { _ in .answer(body: "hello") }
        let words = ["http-recover"] + options.map { $0.replacing("URL", with: "http://\(server.authority)") }
        try await withTemporaryDirectory { directory in
            let isOfOutput = !options.contains("/dev/full")
            let end = try await Self.run(words, isOfOutput ? ">/dev/full" : "", in: directory)
            #expect(end.status == 65 && end.errors.contains("No space left"), "\(end)")
        }
    }

    /// A body that cannot be written is a transfer that fails, in a file and on standard output; what stands beside bodies is none.
    @Test(
        arguments: [
            (["-o", "FULL", "URL/x"], 56), (["-o", "FULL", "URL/404"], 22), (["-No", "FULL", "URL/x"], 56),
            (["-o", "FULL", "-o", "FULL", "URL/x", "URL/y"], 56),
            (["-o", "FULL", "-o", "FULL", "URL/404", "URL/x"], 56),
            (["-o", "FULL", "-o", "DIR/saved", "URL/404", "URL/x"], 22),
            (["-Z", "-o", "FULL", "-o", "DIR/saved", "URL/x", "URL/404"], 56),
            (["-D", "FULL", "-o", "DIR/saved", "URL/x"], 65), (["-D", "FULL", "-o", "FULL", "URL/404"], 65),
            (["-o", "/nonexistent/x", "URL/x"], 65), (["-o", "/nonexistent/x", "-o", "FULL", "URL/x", "URL/y"], 65),
            (["URL/x", ">"], 56), (["URL/404", ">"], 22), (["-i", "URL/x", ">"], 56), (["-I", "URL/x", ">"], 65),
            (["-I", "-X", "GET", "URL/x", ">"], 65), (["-IN", "URL/x", ">"], 65), (["-I", "-o", "FULL", "URL/x"], 65),
            (["-o", "-", "-o", "-", "URL/x", "URL/y", ">"], 56), (["-D", "-", "-o", "DIR/saved", "URL/404", ">"], 65),
            (["URL/404", "URL/x", ">"], 65), (["-sSfw", "%{http_code}", "URL/404", ">"], 65),
        ] as [([String], Int32)]
    )
    func whatCannotBeWritten(options: [String], status: Int32) async throws {
        let server = try FaultServer { CurlHabit.reply($0) }
        try await withTemporaryDirectory { directory in
            let words = options.filter { $0 != ">" }.map { word in
                word.replacing("URL", with: "http://\(server.authority)").replacing("FULL", with: "/dev/full")
                    .replacing("DIR", with: directory)
            }
            let output = options.last == ">" ? ">/dev/full" : ""
            let end = try await Self.run(["http-recover"] + words, output, in: directory)
            #expect(end.status == status, "\(end)")
            let isMissing = options.contains("/nonexistent/x")
            #expect(end.errors.contains(isMissing ? "No such file" : "No space left"), "\(end)")
        }
    }

    @Test(arguments: [["status"], ["--json", "status"], ["--events", "/dev/full", "status"], ["token"], ["sign-out"]])
    func aFullDiskBelowAuthClient(options: [String]) async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let isOfOutput = !options.contains("/dev/full")
            let words = [
                "auth-client", "--provider", "clerk", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile,
            ]
            let end = try await Self.run(words + options, isOfOutput ? ">/dev/full" : "", in: bench.directory)
            #expect(end.status == 65 && end.errors.contains("No space left"), "\(end)")
            // What has ended a session has done so.
            #expect(end.errors.split(separator: "\n").count == 1, "\(end.errors)")
        }
    }

    /// No service has failed where a disk is full.
    @Test func aFullDiskBelowABody() async throws {
        let server = try FaultServer { _ in .answer(body: "hello") }
        try await withTemporaryDirectory { directory in
            try write(#"{"access_token": "abc"}"#, to: directory + "/tokens.json")
            let words = [
                "auth-client", "--provider", "oauth", "--base-url", "http://\(server.authority)", "--client-id", "cli",
                "--token-file", directory + "/tokens.json", "get", "/x",
            ]
            let end = try await Self.run(words, ">/dev/full", in: directory)
            #expect(
                end.status == 65 && end.errors.contains("standard output cannot be written: No space left"),
                "\(end)"
            )
            #expect(!end.errors.contains("service"), "\(end)")
        }
    }

    /// What would have gone to a standard output that there is not is lost, and no status says that all went well.
    @Test(
        arguments: [
            (["http-recover", "URL/x"], 56), (["http-recover", "URL/x", "URL/y"], 65),
            (["http-recover", "-o", "DIR/saved", "URL/x"], 0), (["auth-client", "get", "/x"], 65),
            (["auth-client", "token"], 65),
        ] as [([String], Int32)]
    )
    func aStandardOutputThatIsClosed(words: [String], status: Int32) async throws {
        let server = try FaultServer { _ in .answer(body: "hello") }
        try await withTemporaryDirectory { directory in
            try write(#"{"access_token": "abc"}"#, to: directory + "/tokens.json")
            let url = "http://\(server.authority)"
            let session = [
                "--provider", "oauth", "--base-url", url, "--client-id", "cli", "--token-file",
                "\(directory)/tokens.json",
            ]
            let rest = words.dropFirst().map { $0.replacing("URL", with: url).replacing("DIR", with: directory) }
            let arguments = words[0] == "auth-client" ? session + rest : rest
            let end = try await BuiltProgram(words[0], arguments, in: directory, closed: [1]).end()
            #expect(end.status == status, "\(end)")
            #expect(end.errors.contains("standard output cannot be written") == (status != 0), "\(end)")
        }
    }

    /// Who does not read holds up neither a deadline nor what is told of it, whatever there is to be written.
    @Test(
        arguments: [
            (["URL/"], 28), (["-N", "URL/"], 28), (["-o", "-", "-o", "-", "URL/", "URL/"], 28),
            (["-Z", "-o", "DIR/one", "-o", "DIR/two", "URL/", "URL/"], 28),
            (["-Z", "-No", "DIR/one", "-o", "DIR/two", "URL/", "URL/"], 28), (["URL/404"], 22),
            (["-o", "DIR/one", "URL/404"], 22), (["-Z", "-o", "DIR/one", "-o", "DIR/two", "URL/404", "URL/404"], 22),
        ] as [([String], Int32)]
    )
    func aReaderThatDoesNotRead(options: [String], status: Int32) async throws {
        let text = String(repeating: "x", count: 500_000)
        let server = try FaultServer { .answer($0.path == "/404" ? 404 : 200, body: text) }
        try await withTemporaryDirectory { directory in
            // Pipes that stay open, and that nobody takes anything from.
            for name in ["one", "two", "stuck"] { try #require(unsafe mkfifo("\(directory)/\(name)", 0o600) == 0) }
            let words = ["--deadline", "2", "--events", "DIR/events"] + options
            let line =
                ["http-recover"]
                + words.map { word in
                    word.replacing("URL", with: "http://\(server.authority)").replacing("DIR", with: directory)
                }
            let output = "3<>\(directory)/one 4<>\(directory)/two 5<>\(directory)/stuck >\(directory)/stuck"
            let end = try await Self.run(line, output, in: directory)
            #expect(end.status == status, "\(end)")
            let events = contents(of: directory + "/events").split(separator: "\n")
            let calls = options.count { $0.hasPrefix("URL") }
            #expect(events.count { $0.contains("\"event\":\"done\"") } == calls, "\(events)")
        }
    }

    /// Who has stopped reading is asked for nothing more, and hears of nothing.
    @Test(arguments: [[], ["-w", "%{http_code}\\n"]])
    func aReaderThatIsGone(options: [String]) async throws {
        let server = try FaultServer { _ in .answer(body: "hello") }
        let words = ["http-recover", "--repeat", "2000"] + options + ["http://\(server.authority)/"]
        try await withTemporaryDirectory { directory in
            let end = try await Self.run(words, "| head -2; exit ${PIPESTATUS[0]}", in: directory)
            #expect(end.output == "200\n200\n" && end.errors.isEmpty, "\(end)")
            #expect(end.status == 56)
            #expect(server.receivedRequests.count < 2000)
        }
    }

    @Test func aReaderOfAuthClientThatIsGone() async throws {
        try await Bench.run { bench in
            try await bench.signInAda()
            let words = [
                "auth-client", "--provider", "clerk", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile,
            ]
            for command in [["status"], ["get", "/v1/me"]] {
                let end = try await Self.run(words + command, "| true; exit ${PIPESTATUS[0]}", in: bench.directory)
                #expect([0, 65].contains(end.status) && end.errors.isEmpty, "\(end)")
            }
        }
    }
}
