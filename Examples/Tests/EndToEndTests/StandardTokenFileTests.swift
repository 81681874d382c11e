import AuthSandbox
import Glibc
import HTTPRecovery
import Testing

/// Where tokens are kept when nobody says where.
@Suite("auth-client without --token-file", .timeLimit(.minutes(30)), .bounded)
struct StandardTokenFileTests {
    private static func run(
        _ bench: Bench,
        _ arguments: [String],
        url: String? = nil,
        environment: [String: String] = [:]
    ) async throws -> BuiltProgram.End {
        try await BuiltProgram(
            "auth-client",
            ["--provider", "clerk", "--base-url", url ?? bench.sandbox.url] + arguments,
            in: bench.directory,
            input: "open-sesame-42\n",
            environment: environment
        ).end()
    }

    private static let signIn = ["--password-stdin", "sign-in", "--identifier", "ada@example.com"]

    @Test func theSessionIsThereForTheNextCommand() async throws {
        try await Bench.run { bench in
            let first = try await Self.run(bench, Self.signIn + ["--plain"])
            #expect(first.status == 0)
            let folder = bench.directory + "/auth-client"
            #expect(permissions(of: folder) == 0o700)
            let file = try #require(names(in: folder).first { $0.hasSuffix(".json") })
            #expect(file.hasPrefix("clerk_http_127.0.0.1"))
            #expect(permissions(of: "\(folder)/\(file)") == 0o600)
            #expect(first.errors.contains("The session is kept in \(folder)/\(file)."))
            let status = try await Self.run(bench, ["status"])
            #expect(status.status == 0)
            #expect(status.output.hasPrefix("There is a session: sess_"))
            #expect(try await Self.run(bench, ["sign-out"]).status == 0)
            #expect(try await Self.run(bench, ["status"]).status == 77)
        }
    }

    @Test func noOtherServerGetsTheToken() async throws {
        try await Bench.run { bench in
            let first = try await Self.run(bench, Self.signIn)
            #expect(first.status == 0)
            let other = try await AuthSandbox.start(scenario: .unlimited)
            defer { other.stop() }
            #expect(try await Self.run(bench, ["status"], url: other.url).status == 77)
            // Without a session there is nothing to ask, so nothing was presented either.
            #expect(!other.requests().contains { $0.headers.contains { $0.lowercased().hasPrefix("authorization") } })
            #expect(try await Self.run(bench, ["status"], url: bench.sandbox.url + "/").status == 0)
            #expect(try await Self.run(bench, ["status"], url: bench.sandbox.url + "/proxy").status != 0)
        }
    }

    /// However names are put together, two that differ have two files.
    @Test(arguments: [
        ("/Proxy", "/proxy"), ("/a_b", "/a-b"), ("/" + String(repeating: "a", count: 230) + "1", nil),
    ])
    func noOtherPathGetsTheToken(path: String, other: String?) async throws {
        try await Bench.run { bench in
            let first = try await Self.run(bench, Self.signIn, url: bench.sandbox.url + path)
            #expect(first.status == 0)
            let sent = bench.sandbox.requests().count
            let other = other ?? String(path.dropLast()) + "2"
            #expect(try await Self.run(bench, ["status"], url: bench.sandbox.url + other).status == 77)
            #expect(bench.sandbox.requests().count == sent)
            #expect(try await Self.run(bench, ["status"], url: bench.sandbox.url + path).status == 0)
        }
    }

    @Test(arguments: [
        ["--realm", "Alpha"], ["--client-id", "alpha", "--redirect-uri", "app:/back"],
    ])
    func noOtherRealmOrClientGetsTheToken(other: [String]) async throws {
        try await Bench.run { bench in
            func run(_ arguments: [String]) async throws -> BuiltProgram.End {
                try await BuiltProgram(
                    "auth-client",
                    ["--provider", "forgerock", "--base-url", bench.sandbox.url + "/am"] + arguments,
                    in: bench.directory,
                    input: "open-sesame-42\n"
                ).end()
            }
            let signIn = ["--journey", "Login", "--password-stdin", "sign-in", "--identifier", "ada"]
            let first = try await run(["--realm", "alpha"] + signIn)
            #expect(first.status == 0)
            let sent = bench.sandbox.requests().count
            #expect(try await run(other + ["status"]).status == 77)
            #expect(bench.sandbox.requests().count == sent)
            #expect(try await run(["--realm", "alpha", "status"]).status == 0)
        }
    }

    /// With another token endpoint it is another server that a refresh token would go to.
    @Test func noOtherTokenEndpointGetsTheToken() async throws {
        try await Bench.run { bench in
            bench.sandbox.updateSettings { $0.oauth.deviceInterval = 1000 }
            let other = try await AuthSandbox.start(scenario: .unlimited)
            defer { other.stop() }
            func start(_ tokens: String, _ command: String) throws -> BuiltProgram {
                try BuiltProgram(
                    "auth-client",
                    [
                        "--provider", "oauth", "--base-url", bench.sandbox.url, "--client-id", "cli", "--token-url",
                        tokens + "/oauth/token", "--device-url", bench.sandbox.url + "/oauth/device", command,
                    ],
                    in: bench.directory
                )
            }
            let first = try start(bench.sandbox.url, "sign-in")
            while !contents(of: bench.directory + "/err").contains("enter the code") {
                try await Task.sleep(for: .milliseconds(5))
            }
            try bench.sandbox.approveDevice(as: "ada@example.com")
            #expect(await first.end().status == 0)
            #expect(try await start(other.url, "refresh").end().status == 77)
            #expect(other.requests().isEmpty)
            #expect(try await start(bench.sandbox.url, "refresh").end().status == 0)
        }
    }

    /// What stands for a character cannot be mistaken for another one and what follows it.
    @Test func noOtherNameLooksTheSame() async throws {
        try await Bench.run { bench in
            func status(_ realm: String) async throws -> Int {
                let before = bench.sandbox.requests().count
                _ = try await BuiltProgram(
                    "auth-client",
                    ["--provider", "forgerock", "--base-url", bench.sandbox.url + "/am", "--realm", realm, "status"],
                    in: bench.directory
                ).end()
                return bench.sandbox.requests().count - before
            }
            let server = bench.sandbox.url.dropFirst("http://".count).replacing(":", with: "%3a")
            let folder = bench.directory + "/auth-client"
            try #require(unsafe mkdir(folder, 0o700) == 0)
            try write(#"{"sso_token":"held"}"#, to: "\(folder)/forgerock_http_\(server)%2fam_a%5fb.json")
            #expect(try await status("a_b") > 0, "this is where the session is kept")
            #expect(try await status("a\u{5}fb") == 0)
        }
    }

    @Test func nothingIsKeptOnWish() async throws {
        try await Bench.run { bench in
            let end = try await Self.run(bench, Self.signIn + ["--no-token-file"])
            #expect(end.status == 0)
            #expect(names(in: bench.directory).contains("auth-client") == false)
            #expect(try await Self.run(bench, ["status"]).status == 77)
        }
    }

    @Test func theHomeDirectoryIsTakenWithoutXDG() async throws {
        try await Bench.run { bench in
            let home = ["XDG_STATE_HOME": "relative/ignored", "HOME": bench.directory + "/home"]
            let end = try await Self.run(bench, Self.signIn, environment: home)
            #expect(end.status == 0)
            let folder = bench.directory + "/home/.local/state/auth-client"
            #expect(names(in: folder).contains { $0.hasSuffix(".json") })
        }
    }

    @Test func aPlaceThatCannotBeWrittenIsToldBeforeThePasswordIsSpent() async throws {
        // For root every directory can be written, so a file stands where one would have to be.
        try await Bench.run { bench in
            try write("", to: bench.directory + "/file")
            let end = try await Self.run(bench, Self.signIn + ["--token-file", bench.directory + "/file/tokens.json"])
            #expect(end.status == 65)
            #expect(end.errors.contains("cannot be written to"))
            let folder = try await Self.run(bench, Self.signIn + ["--token-file", bench.directory])
            #expect(folder.status == 65)
            #expect(folder.errors.contains("is a directory"))
            #expect(bench.routes.isEmpty)
        }
    }
}
