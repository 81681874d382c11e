import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

@Suite("auth-client usage", .timeLimit(.minutes(30)), .bounded)
struct UsageTests {
    @Test(arguments: [
        "--provider clerk status",
        "--provider clerk --base-url URL",
        "--provider clerk --base-url URL dance",
        "--provider clerk --base-url URL status extra",
        "--provider clerk --base-url URL get",
        "--provider clerk --base-url URL request",
        "--provider clerk --base-url URL request -X CONNECT /v1/me",
        "--provider clerk --base-url URL request -X HEAD -d a=b /v1/me",
        "--provider clerk --base-url URL request -H nonsense /v1/me",
        "--provider clerk --base-url URL request -H Authorization:x /v1/me",
        "--provider clerk --base-url URL request -H Host:evil /v1/me",
        "--provider clerk --base-url URL request -H Content-Length:5 /v1/me",
        "--provider clerk --base-url URL request -d abc -H Content-Length:5 /v1/me",
        "--provider clerk --base-url URL request -H Transfer-Encoding:chunked /v1/me",
        "--provider clerk --base-url URL request -H Expect:100-continue /v1/me",
        "--provider okta --base-url URL request -H Cookie:sid=x /api/v1/users/me",
        "--provider clerk --base-url URL request https://elsewhere.example/v1/me",
        "--provider clerk --base-url URL get -d a=b /v1/me",
        "--provider clerk --base-url URL status -X POST",
        "--provider clerk --base-url URL get --show /v1/me",
        "--provider clerk --base-url URL token extra",
        "--provider clerk --base-url URL sign-in --id-token-env TOKEN",
        "--provider clerk --base-url URL sign-in --ticket-env TICKET --at google --redirect-uri http://127.0.0.1/",
        "--provider clerk --base-url URL status --ticket-env TICKET",
        "--provider okta --org URL sign-in --ticket-env TICKET",
        "--provider okta --org URL sign-up --identifier ada",
        "--provider okta --org URL factors",
        "--provider clerk --base-url URL add-factor",
        "--provider clerk --base-url URL factors --answers file",
        "save-profile",
        "profiles extra",
        "--provider clerk --base-url URL status --no-such-option",
        "--provider clerk --base-url URL --max-wait nan status",
        "--provider clerk --base-url URL --max-wait -1 status",
        "--provider clerk --base-url URL --max-wait inf status",
        "--provider clerk --base-url URL --deadline 0 status",
        "--provider clerk --base-url URL --state nowhere status",
        "--provider clerk --base-url URL status --identifier ada",
        "--provider clerk --base-url nonsense status",
        "--provider clerk --base-url ftp://127.0.0.1 status",
        "--provider okta status",
        "--provider okta --org URL --client-id cli status",
        "--provider okta --org URL --redirect-uri app:/back status",
        "--provider okta --org URL --scope openid status",
        "--provider okta --org URL --token-url URL status",
        "--provider clerk --base-url URL --at google sign-in",
        "--provider okta --base-url URL --at google --redirect-uri http://127.0.0.1/ sign-in",
        "--provider okta --org URL sessions",
        "--provider clerk --base-url URL revoke",
        "--provider clerk --base-url URL join-waitlist",
        "--provider clerk --base-url URL environment extra",
        "--provider clerk --base-url URL sessions --answers file",
        "--provider clerk --base-url URL --link-page https://www.example.com status",
        "--provider okta --base-url URL --link-page https://www.example.com sign-in",
        "--provider clerk --base-url URL --link-page URL --redirect-uri http://127.0.0.1/ sign-in",
        "--provider oauth --base-url URL status",
        "--provider oauth --base-url URL --client-id cli --redirect-uri nonsense sign-in",
        "--provider clerk --base-url URL --client-id cli status",
        "--provider http --base-url URL status",
        "--provider forgerock --base-url URL --client-id cli status",
        "--provider forgerock --base-url URL --redirect-uri app:/back status",
        "--provider forgerock --base-url URL --scope openid status",
        "--provider forgerock --base-url URL --token-url URL status",
        "--provider forgerock --base-url URL status --resume link",
        "--provider forgerock --base-url URL sign-in --journey=",
        "--provider forgerock --base-url URL sign-in --device-name=",
        "--provider forgerock --base-url URL status --force-auth",
        "--provider forgerock --base-url URL get /json --no-session",
        "--provider forgerock --base-url URL sign-in --auth-index level",
        "--provider forgerock --base-url URL sign-in --auth-index mood=good",
        "--provider forgerock --base-url URL sign-in --auth-index level=2 --journey Login",
        "--provider forgerock --base-url URL sign-in --resume 1 --force-auth",
        "--provider forgerock --base-url URL sign-in --return-uri https://elsewhere.example/cb",
        "--provider forgerock --base-url URL status --return-uri http://127.0.0.1/cb",
        "--provider forgerock --base-url URL sign-in --identity-provider google",
        "--provider forgerock --base-url URL sign-in --identity-provider google=nowhere",
        "--provider clerk --base-url URL sign-in --upgrade-session",
        "--provider clerk --base-url URL sign-in --identity-provider google=URL",
        "--provider forgerock --base-url URL status --answers file",
        "--provider forgerock --base-url URL get /json --identifier ada",
        "--provider clerk --base-url URL --realm alpha status",
        "--provider clerk --base-url URL get /v1/me --answers file",
        "--provider facebook --base-url URL status",
        "--provider facebook --base-url URL --app-id 1 sign-in",
        "--provider facebook --base-url URL --app-id 1 refresh",
        "--provider facebook --base-url URL --app-id= status",
        "--provider facebook --base-url URL --app-id 1 --client-id cli status",
        "--provider facebook --base-url URL --app-id 1 --token-url URL status",
        "--provider facebook --app-id 1 status",
        "--provider facebook --base-url URL --app-id 1 --redirect-uri URL --auth-type maybe sign-in",
        "--provider facebook --base-url URL --app-id 1 --client-token-env N --auth-type rerequest sign-in",
        "--provider facebook --base-url URL --app-id 1 --auth-type rerequest status",
        "--provider clerk --base-url URL --auth-type rerequest sign-in",
        "--provider facebook --base-url URL --app-id 1 --error-table status",
        "--provider clerk --base-url URL --error-table status",
        "--provider auth0 --base-url URL --client-id cli --answers file status",
        "--provider clerk --base-url URL --app-id 1 status",
        "--provider auth0 --base-url URL status",
        "--provider auth0 --base-url URL --client-id cli --token-url URL status",
        "--provider auth0 --base-url URL --client-id cli --way fax sign-in",
        "--provider auth0 --base-url URL --client-id cli --way browser sign-in",
        "--provider auth0 --base-url URL --client-id cli --way device status",
        "--provider auth0 --base-url URL --client-id cli --way database_email sign-in",
        "--provider auth0 --base-url URL --client-id cli --way database_phone sign-in",
        "--provider auth0 --base-url URL --client-id cli --passwordless fax status",
        "--provider clerk --base-url URL --way device sign-in",
        "--provider clerk --base-url URL --way sign_in_or_up sign-up",
        "--provider clerk --base-url URL --way sign_in_or_up --password-stdin sign-in",
        "--provider clerk --base-url URL --way sign_in_or_up --ticket-env NAME sign-in",
        "--provider oauth --base-url URL --client-id cli --client-token-env NAME status",
        "--provider clerk --base-url URL --quiet --verbose status",
        "--base-url URL status",
        "--provider forgerock --base-url URL sign-in --resume https://elsewhere.example/?suspendedId=1",
        "--provider forgerock --base-url URL sign-in --resume URL/?other=1",
        "--provider forgerock --base-url URL sign-in --resume a/b",
        "--provider clerk --base-url URL?x=1 status",
        "--provider okta --org URL#part status",
        "--provider clerk --base-url URL --token-file= status",
        "--provider clerk --base-url URL --token-file a --no-token-file status",
        "--provider clerk --base-url URL get https://elsewhere.example/v1/me",
        "--provider clerk --base-url URL get URL/v1/me",
        "--provider clerk --base-url URL get /v1/ü",
        "--provider clerk --base-url URL request /v1/me?name=😀",
        "--provider forgerock --base-url URL get https://elsewhere.example/json",
    ])
    func whatIsNotUnderstoodSendsNothing(line: String) async throws {
        try await Bench.run { bench in
            let words = line.split(separator: " ").map { String($0).replacing("URL", with: bench.sandbox.url) }
            let end = try await BuiltProgram("auth-client", words, in: bench.directory).end()
            #expect(end.status == 64)
            #expect(end.output.isEmpty)
            #expect(!end.errors.isEmpty)
            #expect(bench.routes.isEmpty)
        }
    }

    /// What is missing or misspelt is the first thing that a newcomer has to see, and not pages of help.
    @Test(arguments: [
        ("auth-client", [], "Missing expected argument '<command>'"), ("http-recover", [], "a URL is missing"),
        ("http-recover", ["http://127.0.0.1:1", ""], "a URL is missing or empty"),
        ("http-recover", ["replay"], "Missing expected argument '<FILE>'"),
        (
            "auth-client",
            ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "sign-in", "--identifer", "ada"],
            "Unknown option '--identifer'. Did you mean '--identifier'?"
        ), ("http-recover", ["--max-atempts", "3", "http://127.0.0.1:1"], "Unknown option '--max-atempts'"),
        ("auth-client", ["sign-in", "--provider", "auth0", "--tenant", "x"], "Unknown option '--tenant'"),
        ("auth-client", ["--pasword-env", "NOPE", "sign-in"], "Unknown option '--pasword-env'"),
        ("auth-client", ["sign-in", "--bas-url=x"], "Unknown option '--bas-url'. Did you mean '--base-url'?"),
        ("auth-client", ["sign-in", "more"], "Unexpected argument 'more'"),
        ("auth-client", ["sign-in"], "--provider is missing: whose server it is (clerk, oauth, okta, forgerock"),
        (
            "auth-client", ["--provider", "okta", "status"],
            "--provider okta needs --org (the org's URL), such as: --org https://example.okta.com"
        ),
        (
            "auth-client", ["--provider", "oauth", "--issuer", "http://127.0.0.1:1", "sign-in"],
            """
            --provider oauth needs --base-url (the issuer) and --client-id (the app), such as: \
            --base-url https://id.example.com --client-id cli
            """
        ),
        (
            "auth-client",
            ["--provider", "oauth", "--org=x", "--client-id=y", "--issuer", "x", "--max-age=1", "status"],
            "--issuer and --max-age belong to --provider okta.\n"
        ),
        ("auth-client", ["--provider", "clerk", "--org=x", "--client-id=y", "status"], "--client-id belongs to"),
        (
            "auth-client", ["--provider", "okta", "--org=x", "--scope=y", "--acr-values=z", "status"],
            "--scope needs --client-id, which obtains an app's tokens.\n"
        ),
        (
            "auth-client", ["--provider", "facebook", "--base-url=x", "sign-in"],
            "--provider facebook needs --app-id (the app), such as: --app-id 1234\n"
        ),
    ])
    func whatIsWrongIsToldInAFewLines(program: String, arguments: [String], text: String) async throws {
        let end = try await BuiltProgram.run(program, arguments)
        #expect(end.status == 64)
        #expect(end.errors.hasPrefix("Error: \(text)"))
        #expect(end.errors.contains("--help"))
        #expect(end.errors.split(separator: "\n").count <= 7, "\(end.errors)")
    }

    @Test(arguments: [[], ["--provider", "okta"]])
    func whoNamesNoCommandIsToldWhichThereAre(arguments: [String]) async throws {
        let wrong = try await BuiltProgram.run("auth-client", ["no-such-command"])
        let names = wrong.errors.split(separator: "\n").filter { $0.hasPrefix("  - ") }.map { $0.dropFirst(4) }
        #expect(names.count > 20)
        let end = try await BuiltProgram.run("auth-client", arguments)
        #expect(end.status == 64)
        let words = end.errors.split { !($0.isLetter || $0 == "-") }
        for name in names { #expect(words.contains(name), "\(name)") }
    }

    @Test func aServerThatIsNotThereIsToldWithTheCause() async throws {
        let end = try await BuiltProgram.run(
            "auth-client",
            ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "--no-token-file", "sign-in"]
                + ["--identifier", "ada", "--password-stdin"],
            input: "open-sesame-42\n"
        )
        #expect(end.status == 69)
        #expect(end.errors.contains("The cause: no connection could be made"))
    }

    @Test func optionsStandBeforeAndAfterTheCommand() async throws {
        try await Bench.run { bench in
            let end = try await BuiltProgram(
                "auth-client",
                [
                    "--provider", "clerk", "--password-stdin", "sign-in", "--base-url", bench.sandbox.url,
                    "--identifier", "ada@example.com", "--json",
                ],
                in: bench.directory,
                input: "open-sesame-42"
            ).end()
            #expect(end.status == 0)
            #expect(try JSONValue(parsing: end.output)["outcome"]?.string == "ok")
        }
    }

    @Test func theHelpGoesToStandardOutput() async throws {
        let end = try await BuiltProgram.run("auth-client", ["--help"])
        #expect(end.status == 0)
        #expect(end.errors.isEmpty)
        for word in [
            "sign-in", "sign-out", "classify", "--max-wait", "--deadline", "EXIT STATUS", "backup_code",
            "security_answer", "finish-tasks", "forget-device", "--link-page", "--org", "--journey", "--app-id",
            "--client-token-env", "--app-secret-env", "--auth-type", "--error-table",
        ] {
            #expect(end.output.contains(word))
        }
    }

    /// A command among the examples stands as it has to be typed: its lines do not end at the screen's edge.
    @Test(arguments: ["auth-client", "auth-sandbox", "http-recover"])
    func theExamplesOfTheHelpCanBeCopied(program: String) async throws {
        let text = try await BuiltProgram.run(program, ["--help"]).output
        let help = text.split(separator: "\n", omittingEmptySubsequences: false)
        let commands = ["  auth-client ", "  auth-sandbox ", "  http-recover "]
        for (line, next) in zip(help, help.dropFirst()) where commands.contains(where: line.hasPrefix) {
            #expect(next.isEmpty || next.hasPrefix("  "), "\(line)")
            #expect(!line.hasSuffix("\\") || next.hasPrefix("    "), "\(line)")
        }
    }

    @Test(arguments: [["sign-in"], ["sign-in", "--identifier", "ada@example.com", "--password-stdin"]])
    func missingInputSendsNothing(arguments: [String]) async throws {
        try await Bench.run { bench in
            let run = try await bench.finish(bench.start(arguments))
            #expect(run.status == 65)
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func eventsOnStandardErrorStandThereAlone() async throws {
        try await Bench.run { bench in
            let end = try await BuiltProgram(
                "auth-client",
                ["--provider", "clerk", "--base-url", bench.sandbox.url, "--events", "-", "status"],
                in: bench.directory
            ).end()
            #expect(end.status == 77)
            #expect(!end.errors.contains("auth-client:"))
            let names = try end.errors.split(separator: "\n").map {
                try JSONValue(parsing: String($0))["event"]?.string
            }
            #expect(names == ["giving_up", "done"])
        }
    }

    @Test func anEventFileThatCannotBeWrittenIsReported() async throws {
        try await Bench.run { bench in
            let end = try await BuiltProgram(
                "auth-client",
                [
                    "--provider", "clerk", "--base-url", bench.sandbox.url, "--events", "/nonexistent/e", "--json",
                    "status",
                ],
                in: bench.directory
            ).end()
            #expect(end.status == 65)
            #expect(try JSONValue(parsing: end.output)["failure"]?["kind"]?.string == "invalid_request")
            #expect(end.errors == "auth-client: /nonexistent/e cannot be written: No such file or directory\n")
        }
    }

    @Test func aPersonIsToldWhatHappened() async throws {
        try await Bench.run { bench in
            let arguments = ["--provider", "clerk", "--base-url", bench.sandbox.url, "sign-in", "--password-stdin"]
            let end = try await BuiltProgram(
                "auth-client",
                arguments + ["--identifier", "radia@example.com"],
                in: bench.directory,
                input: "open-sesame-42\n"
            ).end()
            #expect(end.status == 77)
            #expect(end.output.isEmpty)
            #expect(end.errors.contains("auth-client: ") && end.errors.contains("user_banned"))
            #expect(!end.errors.contains("\u{1B}"))
        }
    }

    /// The program reads a password that does not come, so the reading cannot be cancelled.
    @Test func anInterruptedReadIsReportedToo() async throws {
        try await Bench.run { bench in
            let program = try bench.start(
                ["sign-in", "--identifier", "ada@example.com", "--password-stdin"],
                input: nil
            )
            while names(in: bench.directory).contains("events") == false { try await Task.sleep(for: .milliseconds(5)) }
            try await Task.sleep(for: .milliseconds(200))
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
        }
    }

    /// A file that is opened must not become the standard output of a program that began without one.
    @Test(arguments: [[2], [1, 2], [0, 1, 2]] as [[Int32]])
    func closedDescriptorsHarmNoFile(closed: [Int32]) async throws {
        try await Bench.run { bench in
            let arguments = ["--provider", "clerk", "--base-url", bench.sandbox.url, "--json", "status"]
            let program = try BuiltProgram(
                "auth-client",
                arguments + ["--events", bench.eventFile],
                in: bench.directory,
                closed: closed
            )
            #expect(await program.end().status == 77)
            let lines = try contents(of: bench.eventFile).split(separator: "\n").map {
                try JSONValue(parsing: String($0))["event"]?.string
            }
            #expect(lines == ["giving_up", "done"])
        }
    }

    /// The help, which the manual page and the completions are made of, leaves no provider out.
    @Test(arguments: [["--help"], ["--generate-completion-script", "zsh"]])
    func everyProviderHasItsBaseURL(arguments: [String]) async throws {
        func text(_ arguments: [String]) async throws -> String {
            let end = try await BuiltProgram.run("auth-client", arguments)
            #expect(end.status == 0)
            return end.output.split { $0.isWhitespace || $0 == "\n" }.joined(separator: " ")
        }
        let option = try await text(["--help"]).split(separator: "--provider <provider>").last
        let values = option?.split(separator: "(values: ").dropFirst().first?.prefix { $0 != ")" }
        let providers = (values?.split(separator: ",").map { $0.filter { $0 != " " } } ?? []).filter { $0 != "http" }
        #expect(providers.count > 5)
        let help = try #require(try await text(arguments).split(separator: "what stands before").dropFirst().first)
        for provider in providers { #expect(help.prefix(300).contains("for \(provider)"), "\(provider)") }
    }

    @Test(arguments: [
        ("--way", "identity-engine"), ("--way", "reset_password"), ("--way", "sign_in_or_up"),
        ("--passwordless", "database_email"),
        ("--auth-type", "rerequest"),
    ])
    func theWordsThatAnOptionTakesAreCompleted(option: String, word: String) async throws {
        let script = try await BuiltProgram.run("auth-client", ["--generate-completion-script", "bash"]).output
        let completion = script.split(separator: "\n    '\(option)')").dropFirst().first?.prefix { $0 != ";" }
        #expect(completion?.contains("'\(word)'") == true)
    }

    /// Beside the rest argument for its URLs, zsh takes no second one.
    @Test func zshCompletesAProgramWithAnyNumberOfArguments() async throws {
        let end = try await BuiltProgram.run("http-recover", ["--generate-completion-script", "zsh"])
        #expect(end.status == 0)
        #expect(end.output.hasPrefix("#compdef http-recover\n"))
        #expect(end.output.contains("'*:URL:'"))
        #expect(!end.output.contains("'(-)*:: :->arg'"))
        #expect(end.output.contains("--token-file[") && end.output.contains(":_files'"))
    }
}
