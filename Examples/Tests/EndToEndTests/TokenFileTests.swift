import AuthSandbox
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// `http-recover` with a token file.
@Suite("http-recover --token-file", .timeLimit(.minutes(30)), .bounded)
struct TokenFileTests {
    private func run(
        _ bench: Bench,
        _ arguments: [String],
        path: String = "/api/items"
    ) async throws -> (status: Int32, output: String, events: [JSONValue], text: String) {
        let events = bench.eventFile
        unsafe unlink(events)
        let end = try await BuiltProgram(
            "http-recover",
            ["--token-file", bench.tokenFile, "--events", events] + arguments + [bench.sandbox.url + path],
            in: bench.directory,
            environment: bench.environment
        ).end()
        let text = contents(of: events)
        let lines = try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        return (end.status, end.output, lines, text + end.errors)
    }

    private func renewal(_ bench: Bench) -> [String] {
        ["--token-url", bench.sandbox.url + "/oauth/token", "--client-id", "cli"]
    }

    private func words(_ events: [JSONValue], _ name: String, _ field: String) -> [String] {
        events.filter { $0["event"]?.string == name }.compactMap { $0[field]?.string }
    }

    @Test func aRefusedTokenIsRenewedAndTheRequestSentAgain() async throws {
        try await Bench.run { bench in
            let tokens = try OAuthTests.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            let run = try await run(bench, renewal(bench))
            #expect(run.status == 0)
            #expect(words(run.events, "refresh", "outcome") == ["refreshed"])
            #expect(try bench.tokens["refresh_token"]?.string != tokens.refreshToken)
            #expect(try bench.tokens["note"]?.string == "kept")
            #expect(permissions(of: bench.tokenFile) == 0o600)
            let fresh = try #require(bench.tokens["access_token"]?.string)
            for secret in [tokens.accessToken, tokens.refreshToken ?? "-", fresh] {
                #expect(!run.text.contains(secret))
            }
        }
    }

    @Test func manyCallsRenewOnce() async throws {
        try await Bench.run { bench in
            _ = try OAuthTests.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            let run = try await run(bench, renewal(bench) + ["--repeat", "60", "--concurrency", "20"])
            #expect(run.status == 0)
            #expect(run.output == String(repeating: "200\n", count: 60))
            #expect(words(run.events, "refresh", "outcome").filter { $0 == "refreshed" }.count == 1)
            #expect(bench.sandbox.oauthCounters().refreshes == 1)
        }
    }

    @Test func aConfidentialClientProvesItself() async throws {
        try await Bench.run { bench in
            let tokens = try bench.sandbox.issueTokens(for: "ada@example.com", client: "service")
            let refresh = tokens.refreshToken ?? ""
            try write("{\"access_token\":\"dead\",\"refresh_token\":\"\(refresh)\"}", to: bench.tokenFile)
            var bench = bench
            bench.environment["TOKEN_FILE_TEST_SECRET"] = "service-secret"
            let run = try await run(
                bench,
                [
                    "--token-url", bench.sandbox.url + "/oauth/token", "--client-id", "service",
                    "--client-secret-env", "TOKEN_FILE_TEST_SECRET",
                ]
            )
            #expect(run.status == 0)
            #expect(!run.text.contains("service-secret"))
        }
    }

    @Test func withoutATokenURLARefusedTokenIsRemoved() async throws {
        try await Bench.run { bench in
            _ = try OAuthTests.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            let run = try await run(bench, [])
            #expect(run.status == 22)
            #expect(words(run.events, "clear", "credential") == ["access"])
            #expect(words(run.events, "giving_up", "kind") == ["reauthentication_required"])
            #expect(try bench.tokens["access_token"] == nil)
            #expect(try bench.tokens["refresh_token"]?.string != nil)
        }
    }

    @Test func aRefreshTokenThatIsRefusedIsRemoved() async throws {
        try await Bench.run { bench in
            _ = try OAuthTests.plant(bench)
            try bench.sandbox.revokeTokens()
            let run = try await run(bench, renewal(bench))
            #expect(run.status == 22)
            #expect(words(run.events, "refresh", "outcome") == ["rejected"])
            #expect(Set(words(run.events, "clear", "credential")) == ["access", "refresh"])
            #expect(try bench.tokens.members?.map(\.key) == ["note"])
        }
    }

    @Test func anOutageOfTheTokenEndpointRemovesNothing() async throws {
        try await Bench.run { bench in
            let tokens = try OAuthTests.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            bench.sandbox.add(SandboxFault(.resetAfter, path: "/oauth/token"))
            let run = try await run(bench, renewal(bench))
            #expect(run.status == 56)
            #expect(words(run.events, "refresh", "outcome") == ["failed"])
            #expect(try bench.tokens["refresh_token"]?.string == tokens.refreshToken)
            // What a lost answer has spent is not spent again by itself.
            #expect(bench.sandbox.requests(method: "POST", path: "/oauth/token").count == 1)
        }
    }

    @Test func theTokenGoesToTheNamedServersAlone() async throws {
        try await Bench.run { bench in
            _ = try OAuthTests.plant(bench)
            let other = try await AuthSandbox.start(scenario: .unlimited)
            defer { other.stop() }
            var redirect = SandboxFault(.status, path: "/api/items")
            redirect.status = 302
            redirect.headers = ["Location": other.url + "/api/elsewhere"]
            bench.sandbox.add(redirect)
            let run = try await run(bench, ["--location"])
            #expect(run.status == 22, "the other server gets no token and refuses")
            #expect(other.requests().map(\.path) == ["/api/elsewhere"])
        }
    }

    /// What stands in a token file and is none is told, by either program; nothing is sent as if nobody were signed in.
    @Test(
        arguments: [
            (#"{"access_token": 5}"#, "access_token"), (#"{"access_token": "a\nb"}"#, "access_token"),
            (#"{"access_token": "a", "expires_at": "yesterday"}"#, "expires_at"),
            (#"{"access_token": "a", "refresh_token": ["b"]}"#, "refresh_token"),
            (#"{"access_token": "a", "token_type": 1}"#, "token_type"),
            (#"{"access_token": "a", "expires_at": "4102444800", "expires_in": "3600", "scope": 1}"#, nil),
            (#"{"access_token": "a", "expires_at": 4102444800, "refresh_token": null}"#, nil), ("{", "not JSON"),
        ] as [(String, String?)]
    )
    func aValueThatIsNone(text: String, key: String?) async throws {
        let server = try FaultServer { .echo($0) }
        try await withTemporaryDirectory { directory in
            let (file, url) = (directory + "/tokens.json", "http://\(server.authority)")
            try write(text, to: file)
            let options = ["--provider", "oauth", "--base-url", url, "--client-id", "cli", "--token-file", file]
            for (program, arguments) in [
                ("http-recover", ["--token-file", file, url + "/x"]), ("auth-client", options + ["get", "/x"]),
                ("auth-client", options + ["token"]),
            ] {
                let end = try await BuiltProgram(program, arguments, in: directory).end()
                guard let key else {
                    #expect(end.status == 0, "\(end)")
                    continue
                }
                #expect(end.status == 65 && end.output.isEmpty, "\(end)")
                #expect(end.errors.contains(file) && end.errors.contains(key), "\(end)")
            }
            #expect(key == nil || server.receivedRequests.isEmpty)
            #expect(contents(of: file) == text)
        }
    }

    @Test(arguments: [
        ["--token-url", "http://127.0.0.1:1/token"], ["--client-id", "cli"],
        ["--token-file", "f", "--token-url", "http://127.0.0.1:1/token"], ["--token-file", "f", "--client-id", "cli"],
        ["--token-file", "f", "--token-url", "nonsense", "--client-id", "cli"],
        ["--token-file", "f", "-H", "Authorization: x"],
        [
            "--token-file", "f", "--token-url", "http://127.0.0.1:1/token", "--client-id", "cli",
            "--client-secret-env", "NO_SUCH_VARIABLE_HERE",
        ],
        ["--state", "nowhere"], ["--state", "sqlite:"], ["--state", "redis://"], ["--state", "redis://host:99999"],
        ["--state", "redis+sentinel://host"], ["--state", "redis+other://host"],
    ])
    func whatContradictsItselfSendsNothing(options: [String]) async throws {
        let end = try await BuiltProgram.run("http-recover", options + ["http://127.0.0.1:1/"])
        #expect(end.status == 64)
        #expect(!end.errors.isEmpty)
    }
}

/// What several runs of a program remember of each other.
@Suite("--state", .timeLimit(.minutes(30)), .bounded)
struct StateTests {
    @Test(arguments: [SharedPlace.sqlite, .redis])
    func aRateLimitIsRememberedByTheNextRun(place: SharedPlace) async throws {
        try await Bench.run { bench in
            try await place.run { store in
                var limit = SandboxFault(.status, path: "/api/items")
                limit.status = 429
                limit.retryAfter = "600"
                bench.sandbox.add(limit)
                let url = bench.sandbox.url + "/api/items"
                let first = try await BuiltProgram.run(
                    "http-recover",
                    store.options + ["--max-wait", "1", "--events", "-", url]
                )
                #expect(first.status == 22)
                let second = try await BuiltProgram.run(
                    "http-recover",
                    store.options + ["--max-wait", "1", "--events", "-", url]
                )
                #expect(second.status == 22)
                #expect(!second.errors.contains("\"attempt\""), "nothing was sent")
                #expect(second.errors.contains("\"wait_exceeds_limit\""))
                #expect(bench.sandbox.requests(path: "/api/items").count == 1)
            }
        }
    }

    @Test(arguments: ["redis://127.0.0.1:1", "redis://127.0.0.1:1,127.0.0.1:2", "redis+sentinel://127.0.0.1:1/main"])
    func aStoreThatIsGoneIsSaidOnceAndFailsNothing(url: String) async throws {
        try await Bench.run { bench in
            let end = try await BuiltProgram.run(
                "http-recover",
                ["--state", url, "--repeat", "20", bench.sandbox.url + "/oauth/keys"]
            )
            #expect(end.status == 0)
            #expect(end.output == String(repeating: "200\n", count: 20))
            #expect(end.errors.components(separatedBy: "cannot be reached").count == 2)
        }
    }
}

extension String {
    /// The parts between a text.
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}
