import AuthSandbox
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// What the pages and the help say of both programs, row by row.
@Suite("The contract of the programs", .timeLimit(.minutes(30)), .bounded)
struct ProgramContractTests {
    /// An error that says nothing about the session ends with 22, whatever its status; the service's own with 69.
    @Test(
        arguments: [
            (402, 22), (403, 77), (404, 22), (405, 22), (421, 22), (422, 22), (451, 22), (501, 69), (505, 69),
            (408, 22),
            (500, 69), (302, 0), (304, 0),
        ] as [(Int, Int32)]
    )
    func anAnswerAboutThePath(status: Int, exit: Int32) async throws {
        try await OAuthTests.run { bench in
            let tokens = try OAuthTests.plant(bench)
            var fault = SandboxFault(.status, path: "/api/*", times: 0)
            fault.status = status
            bench.sandbox.add(fault)
            let run = try await bench.finish(bench.start(["request", "-X", "POST", "-d", "a=b", "/api/items"]))
            #expect(run.status == exit, "\(run.errors)")
            if exit == 22 { #expect(run.errors.contains("HTTP \(status)"), "\(run.errors)") }
            if exit == 0 { #expect(run.errors.contains("HTTP \(status)"), "\(run.errors)") }
            #expect(try bench.tokens["access_token"]?.string == tokens.accessToken)
        }
    }

    /// Whose answer a failure is, is told: the token's server is another than the one that was asked.
    @Test(arguments: [true, false])
    func aRenewalThatFails(isDown: Bool) async throws {
        let nobody = try RefusingPort()
        let server = try FaultServer { request in
            request.path == "/token"
                ? .answer(
                    400,
                    headers: [("Content-Type", "application/json")],
                    body: #"{"error": "invalid_grant"}"#
                )
                : .answer(401, headers: [("WWW-Authenticate", #"Bearer error="invalid_token""#)])
        }
        try await withTemporaryDirectory { directory in
            let file = directory + "/tokens.json"
            try write(#"{"access_token": "old", "refresh_token": "spent"}"#, to: file)
            let token = "http://\(isDown ? nobody.authority : server.authority)/token"
            let options = ["--token-file", file, "--token-url", token, "--client-id", "cli", "--backoff", "0,0"]
            let url = "http://\(server.authority)/api/items"
            let end = try await BuiltProgram("http-recover", options + [url], in: directory).end()
            #expect(end.status == (isDown ? 7 : 22), "\(end.errors)")
            #expect(end.errors.hasPrefix("http-recover: POST \(token): "), "\(end.errors)")
            #expect(end.errors.contains("GET \(url) was answered with HTTP 401"), "\(end.errors)")
        }
    }

    /// What was never sent is not told of: without a refresh token there is no renewal.
    @Test(arguments: [#"{"access_token": "old"}"#, "{}"])
    func aRenewalThatIsNotSent(tokens: String) async throws {
        let server = try FaultServer { _ in
            .answer(401, headers: [("WWW-Authenticate", #"Bearer error="invalid_token""#)])
        }
        try await withTemporaryDirectory { directory in
            let file = directory + "/tokens.json"
            try write(tokens, to: file)
            let (url, token) = ("http://\(server.authority)/api/items", "http://\(server.authority)/token")
            let options = ["--token-file", file, "--token-url", token, "--client-id", "cli"]
            let end = try await BuiltProgram("http-recover", options + [url], in: directory).end()
            #expect(end.status == 22 && server.receivedRequests.count == 1)
            #expect(end.errors.hasPrefix("http-recover: GET \(url): HTTP 401"), "\(end.errors)")
            #expect(end.errors.contains("has no refresh_token"), "\(end.errors)")
            #expect(!end.errors.contains("POST "), "\(end.errors)")
        }
    }

    /// It prints a token and nothing else, wherever --json comes from.
    @Test func theTokenAlone() async throws {
        try await OAuthTests.run { bench in
            let tokens = try OAuthTests.plant(bench)
            let words = [
                "--provider", "oauth", "--base-url", bench.sandbox.url, "--client-id", "cli", "--token-file",
                bench.tokenFile,
            ]
            for (more, environment) in [(["--json"], [:]), ([], ["AUTH_CLIENT_JSON": "true"])]
                as [([String], [String: String])]
            {
                let program = try BuiltProgram(
                    "auth-client",
                    words + more + ["token"],
                    in: bench.directory,
                    environment: environment
                )
                let end = await program.end()
                #expect(end.status == 0 && end.output == tokens.accessToken + "\n", "\(end.errors)")
            }
        }
    }

    @Test func fieldsAndBodiesAsToCurl() async throws {
        let server = try FaultServer { .echo($0) }
        try await withTemporaryDirectory { directory in
            try write(#"{"access_token": "abc"}"#, to: directory + "/tokens.json")
            try write("X-One: 1\r\nX-Two: 2\n", to: directory + "/fields")
            try write("b=2", to: directory + "/data")
            let url = "http://\(server.authority)"
            let options = [
                "--provider", "oauth", "--base-url", url, "--token-url", url + "/t", "--device-url", url + "/d",
                "--client-id", "cli", "--token-file", directory + "/tokens.json", "request", "/x",
            ]
            let more = [
                "-H", "Accept:", "-H", "X-E;", "-H", "@\(directory)/fields", "-d", "a=1", "-d", "@\(directory)/data",
            ]
            let end = try await BuiltProgram("auth-client", options + more, in: directory).end()
            #expect(end.status == 0, "\(end.errors)")
            let text = end.output.lowercased()
            #expect(text.hasSuffix("\r\n\r\na=1&b=2") && !text.contains("accept:"), "\(text)")
            #expect(text.contains("x-one: 1") && text.contains("x-two: 2") && text.contains("x-e:"), "\(text)")
        }
        let version = try await BuiltProgram.run("auth-client", ["-V"])
        #expect(version.status == 0 && !version.output.isEmpty)
    }

    /// The budget is told of wherever the attempts come from.
    @Test func theBudgetOfAPolicy() async throws {
        let server = try FaultServer(.answer())
        try await withTemporaryDirectory { directory in
            try write(#"{"max_attempts": 20}"#, to: directory + "/policy")
            let options = ["--policy", directory + "/policy", "http://\(server.authority)/"]
            let end = try await BuiltProgram("http-recover", options, in: directory).end()
            #expect(end.errors.contains("--budget-burst 19 allows them all."), "\(end.errors)")
        }
    }

    @Test(arguments: [["--transport", "curl"], ["--transport", "ahc"]])
    func aFormatFromStandardInput(options: [String]) async throws {
        let server = try FaultServer(.answer(body: "hello"))
        let line = options + ["-w", "@-", "http://\(server.authority)/"]
        let end = try await BuiltProgram.run("http-recover", line, input: "%{http_code}")
        #expect(end.status == 0 && end.output == "hello200", "\(end)")
    }

    @Test func optionsInFrontOfACommand() async throws {
        let scenario = #"{"calls": [{"answers": [{"status": 200}]}]}"#
        for words in [["--quiet", "simulate"], ["simulate", "-q"]] {
            let end = try await BuiltProgram.run("http-recover", words, input: scenario)
            #expect(end.status == 0 && end.output.contains("\"ok\""), "\(end)")
        }
        let end = try await BuiltProgram.run("http-recover", ["-q", "replay", "/nonexistent"])
        #expect(end.status == 65 && end.errors.contains("cannot be read"), "\(end)")
    }

    /// As long a name as a file system takes.
    @Test func aLongName() async throws {
        let server = try FaultServer(.answer(body: "hello"))
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/\(String(repeating: "a", count: 250))"
            let end = try await BuiltProgram(
                "http-recover",
                ["-o", path, "http://\(server.authority)/"],
                in: directory
            ).end()
            #expect(end.status == 0 && contents(of: path) == "hello", "\(end.errors)")
        }
    }

    @Test(arguments: [
        ["--max-attempts", "2"], ["--retry", "2"], ["--backoff", "1,2"], ["--max-wait", "3"],
        ["--budget-ratio", "0.5"],
        ["--budget-burst", "5"], ["--breaker", "0.5,2,5"], ["--hedge", "1"], ["--replayable"],
    ])
    func whatNeedsRecoveryIsRefusedByName(options: [String]) async throws {
        let server = try FaultServer(.answer())
        let line = ["--no-recovery"] + options + ["http://\(server.authority)/"]
        let end = try await BuiltProgram.run("http-recover", line)
        #expect(end.status == 64 && end.errors.contains("\(options[0]) needs the recovery"), "\(end.errors)")
        #expect(server.connectionCount == 0)
    }

    /// A directory that is not there is a slip of the pen.
    @Test func noDirectoryIsMadeForAFileThatWasNamed() async throws {
        let server = try FaultServer(.answer())
        try await withTemporaryDirectory { directory in
            let url = "http://\(server.authority)"
            let state = ["--state", "sqlite:\(directory)/none/state"]
            let tokens = ["--token-file", "\(directory)/none/tokens.json"]
            let client = ["--provider", "clerk", "--base-url", url]
            for (program, words) in [
                ("http-recover", state + [url]), ("auth-client", client + state + ["status"]),
                ("auth-client", client + tokens + ["status"]),
                ("auth-client", client + tokens + ["sign-in", "--identifier", "ada", "--password-stdin"]),
            ] {
                let end = try await BuiltProgram(program, words, in: directory, input: "secret\n").end()
                #expect(end.status == 65 && end.errors.contains("/none cannot be written to: No such"), "\(end.errors)")
                #expect(!names(in: directory).contains("none"))
            }
        }
        #expect(server.connectionCount == 0)
    }

    /// A name that a shell can export.
    @Test func anOptionWithADotFromTheEnvironment() async throws {
        try await withTemporaryDirectory { directory in
            let words = ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "--no-token-file", "status"]
            let program = try BuiltProgram(
                "auth-client",
                words,
                in: directory,
                environment: ["AUTH_CLIENT_TLSV1_3": "perhaps"]
            )
            let end = await program.end()
            #expect(end.status == 65 && end.errors.contains("AUTH_CLIENT_TLSV1_3 takes true or false"), "\(end.errors)")
        }
    }

    @Test func theHeadOfTheSandboxsPage() async throws {
        try await Bench.run { bench in
            for path in ["", "page.css", "state"] {
                let end = try await BuiltProgram.run("http-recover", ["-I", "\(bench.sandbox.url)/_sandbox/\(path)"])
                #expect(end.status == 0 && end.output.hasPrefix("HTTP/1.1 200"), "\(end)")
            }
        }
    }

    /// A body that does not come is no reason to say nothing about the end.
    @Test func anInterruptionWhileABodyIsRead() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            let program = try bench.start(["request", "-d", "@-", "/api/items"], input: nil)
            while !names(in: bench.directory).contains("events") { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(200))
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130 && run.outcome == "cancelled")
        }
    }
}
