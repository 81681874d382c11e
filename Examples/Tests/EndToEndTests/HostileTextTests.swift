import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// What servers, files and answers hold cannot steer the terminal of the person who reads it.
@Suite("Hostile text on the screen", .timeLimit(.minutes(30)), .bounded)
struct HostileTextTests {
    /// A text that takes over the screen where it is printed as it is: colours, the title, a cleared screen by the
    /// one-byte form, a right-to-left override and isolate, a zero-width blank, a rubout and a line of its own.
    private static func hostile(_ name: String) -> String {
        "<\(name)\u{1B}[31m\u{1B}]0;taken\u{7}\u{9B}2J\u{202E}\u{2066}\u{200B}\u{7F}\u{8}\u{85}\u{2028}\r\nFORGED-\(name)>"
    }

    /// What the fields of an answer are, each with a name by which it is found on the screen.
    private static func body(_ members: [String: JSONValue]) -> String {
        JSONValue.object(members.map { JSONValue.Member($0.key, $0.value) }).description
    }

    private static func text(_ name: String) -> JSONValue { .string(hostile(name)) }

    private static func check(
        _ screen: String,
        shows names: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        for name in names {
            #expect(screen.contains("<\(name)"), "\(name) is not shown: \(screen)", sourceLocation: sourceLocation)
        }
        for scalar in screen.unicodeScalars where scalar != "\r" && scalar != "\n" {
            let category = scalar.properties.generalCategory
            let isHarmless = ![.control, .format, .lineSeparator, .paragraphSeparator].contains(category)
            #expect(isHarmless, "U+\(String(scalar.value, radix: 16))", sourceLocation: sourceLocation)
        }
        for line in screen.split(whereSeparator: \.isNewline) {
            #expect(!line.hasPrefix("FORGED"), sourceLocation: sourceLocation)
        }
    }

    /// Runs a program with a person at its terminal, which shows its output too.
    private static func atTerminal(
        _ name: String,
        _ arguments: [String],
        files: [String: String] = [:],
        _ body: (TerminalProgram) async throws -> Void = { _ in }
    ) async throws -> BuiltProgram.End {
        var end: BuiltProgram.End?
        try await withTemporaryDirectory { directory in
            for (name, text) in files { try write(text, to: "\(directory)/\(name)") }
            let program = try TerminalProgram(
                name,
                // Without lines that are redrawn nothing on the screen is ours to steer it.
                arguments.map { $0.replacing("DIRECTORY", with: directory) } + ["--plain"],
                in: directory,
                showsOutput: true
            )
            try await body(program)
            end = await program.end()
        }
        return try #require(end)
    }

    @Test func ofADeviceFlow() async throws {
        let server = try FaultServer { request in
            switch request.path {
            case "/device":
                return .answer(
                    body: Self.body([
                        "device_code": "secret", "user_code": Self.text("code"), "expires_in": 600, "interval": 1,
                        "verification_uri": Self.text("uri"), "verification_uri_complete": Self.text("complete"),
                    ])
                )
            default:
                return .answer(
                    400,
                    body: Self.body(["error": "access_denied", "error_description": Self.text("description")])
                )
            }
        }
        let url = "http://\(server.authority)"
        let end = try await Self.atTerminal(
            "auth-client",
            [
                "--provider", "oauth", "--base-url", url, "--client-id", "cli", "--device-url", url + "/device",
                "--token-url", url + "/token", "sign-in", "--no-token-file",
            ]
        )
        #expect(end.status == 77)
        Self.check(end.errors, shows: ["code", "uri", "complete"])
    }

    @Test(arguments: [[], ["--verbose"], ["--provider", "clerk"], ["--provider", "okta"], ["--location"]])
    func ofAFailedRequest(options: [String]) async throws {
        let problem: [String: JSONValue] = [
            "title": Self.text("title"), "detail": Self.text("detail"), "code": Self.text("code"),
            "error": Self.text("word"),
            "errorCode": Self.text("okta"), "errorSummary": Self.text("summary"),
            "errors": [
                ["code": Self.text("clerk"), "message": Self.text("message"), "long_message": Self.text("long")]
            ],
        ]
        let server = try FaultServer(
            .answer(
                422,
                headers: [
                    ("Content-Type", "application/problem+json"), ("X-Request-Id", "\u{1B}[31m\u{9B}2J"),
                    ("WWW-Authenticate", "Bearer error=\"\u{1B}[31m\""),
                ],
                body: Self.body(problem)
            )
        )
        try await withTemporaryDirectory { directory in
            // The body is the program's output, which goes where it is sent as it is.
            let program = try TerminalProgram(
                "http-recover",
                ["http://\(server.authority)/", "--plain", "--no-recovery"] + options,
                in: directory
            )
            let end = await program.end()
            #expect(end.status == 22)
            #expect(end.output == Self.body(problem) || end.output.contains("\\u001b"))
            Self.check(end.errors, shows: [])
        }
    }

    @Test func ofFiles() async throws {
        let key = Self.body([Self.hostile("key"): "answer"])
        let answers = try await Self.atTerminal(
            "auth-client",
            [
                "--provider", "clerk", "--base-url", "http://127.0.0.1:1", "--no-token-file", "--answers",
                "DIRECTORY/file", "sign-in", "--identifier", "a",
            ],
            files: ["file": key]
        )
        #expect(answers.status == 65)
        Self.check(answers.errors, shows: ["key"])
        let named = try await Self.atTerminal(
            "http-recover",
            ["-d", "@/nonexistent/" + Self.hostile("path"), "http://127.0.0.1:1/"]
        )
        #expect(named.status == 65)
        Self.check(named.errors, shows: ["path"])
    }

    @Test func ofArguments() async throws {
        for (program, arguments) in [
            (
                "auth-client",
                ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "status", Self.hostile("more")]
            ),
            ("auth-client", ["--provider", Self.hostile("more"), "status"]),
            ("http-recover", ["--" + Self.hostile("more")]),
            ("http-recover", ["http://127.0.0.1:1/", "-X", Self.hostile("more")]),
        ] {
            let end = try await Self.atTerminal(program, arguments)
            #expect(end.status == 64)
            Self.check(end.errors, shows: ["more"])
        }
    }

    /// A hostile text within JSON loses nothing and harms nothing either.
    @Test func ofJSON() async throws {
        let line = Self.body([
            "name": "a", "request": ["method": "GET", "path": "/v1/me"], "headers": [:], "status": 401,
            "body": .string(Self.body(["errors": [["code": Self.text("code")]]])),
        ])
        try await withTemporaryDirectory { directory in
            try write(line + "\n", to: directory + "/line")
            let program = try TerminalProgram(
                "/bin/sh",
                ["-c", "exec auth-client --provider clerk classify < \(directory)/line"],
                in: directory,
                environment: ["PATH": BuiltProgram.products + ":/usr/bin:/bin"],
                showsOutput: true
            )
            let end = await program.end()
            #expect(end.status == 0)
            Self.check(end.errors, shows: ["code"])
            #expect(end.errors.contains("\\u001b") && end.errors.contains("\\u202e") && end.errors.contains("\\u009b"))
        }
    }
}
