import AuthSandbox
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Any OAuth 2 server, by the device flow.
@Suite("auth-client --provider oauth", .timeLimit(.minutes(30)), .bounded)
struct OAuthTests {
    static func run(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench in
            var bench = bench
            bench.provider = "oauth"
            bench.options = ["--client-id", "cli"]
            bench.sandbox.updateSettings { $0.oauth.deviceInterval = 1000 }
            try await body(bench)
        }
    }

    /// Puts tokens into the token file as if somebody had signed in.
    static func plant(_ bench: Bench) throws -> SandboxOAuthTokens {
        let tokens = try bench.sandbox.issueTokens(for: "ada@example.com")
        let json: JSONValue = [
            "access_token": .string(tokens.accessToken), "refresh_token": .string(tokens.refreshToken ?? ""),
            "note": "kept",
        ]
        try write(json.description, to: bench.tokenFile)
        return tokens
    }

    private func answered(_ program: BuiltProgram, _ bench: Bench, approves: Bool) async throws -> Run {
        // The code is on the screen, and the program waits for the person.
        try await bench.event("wait")
        let errors = contents(of: bench.directory + "/err")
        #expect(errors.contains("To sign in, open \(bench.sandbox.url)/activate"))
        if approves {
            try bench.sandbox.approveDevice(as: "ada@example.com")
        } else {
            try bench.sandbox.denyDevice()
        }
        return try await bench.finish(program)
    }

    @Test func aDeviceIsApproved() async throws {
        try await Self.run { bench in
            let run = try await answered(bench.start(["sign-in"]), bench, approves: true)
            #expect(run.status == 0)
            #expect(run.session != nil)
            #expect(run.report["session"]?["expires_at"]?.string != nil)
            #expect(run.texts("wait", "reason").allSatisfy { $0 == "challenge_pending" })
            #expect(try bench.tokens["refresh_token"]?.string != nil)
            #expect(permissions(of: bench.tokenFile) == 0o600)
            let get = try await bench.run("get", "/api/items")
            #expect(get.status == 0)
            #expect(get.output.contains("ada@example.com") || get.output.contains("sub"))
        }
    }

    @Test func aDeviceIsDenied() async throws {
        try await Self.run { bench in
            let run = try await answered(bench.start(["sign-in"]), bench, approves: false)
            #expect(run.status == 77)
            #expect(run.kind == "declined")
            #expect(names(in: bench.directory).contains("tokens.json") == false)
        }
    }

    @Test func thePersonIsWaitedForUntilCtrlC() async throws {
        try await Self.run { bench in
            let program = try bench.start(["sign-in"])
            try await bench.event("wait")
            program.signal(SIGINT)
            let run = try await bench.finish(program)
            #expect(run.status == 130)
            #expect(run.outcome == "cancelled")
        }
    }

    @Test func refreshRenewsAndKeepsWhatItDoesNotKnow() async throws {
        try await Self.run { bench in
            let before = try Self.plant(bench)
            let run = try await bench.run("refresh", secrets: [before.accessToken, before.refreshToken ?? "-"])
            #expect(run.status == 0)
            #expect(run.texts("refresh", "outcome") == ["refreshed"])
            #expect(try bench.tokens["access_token"]?.string != before.accessToken)
            #expect(try bench.tokens["refresh_token"]?.string != before.refreshToken)
            #expect(try bench.tokens["note"]?.string == "kept")
            #expect(bench.sandbox.oauthCounters().refreshes == 1)
        }
    }

    @Test func aRefusedTokenIsRenewedOnTheWay() async throws {
        try await Self.run { bench in
            _ = try Self.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            let run = try await bench.run("get", "/api/items")
            #expect(run.status == 0)
            #expect(run.texts("refresh", "outcome") == ["refreshed"])
            #expect(run.named("clear").isEmpty)
        }
    }

    @Test func whatIsRevokedAltogetherIsClearedAndAPersonIsNeeded() async throws {
        try await Self.run { bench in
            _ = try Self.plant(bench)
            try bench.sandbox.revokeTokens()
            let run = try await bench.run("get", "/api/items")
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(run.texts("refresh", "outcome") == ["rejected"])
            #expect(Set(run.texts("clear", "credential")) == ["access", "refresh"])
            #expect(try bench.tokens.members?.map(\.key) == ["note"])
            let status = try await bench.run("status")
            #expect(status.status == 77)
        }
    }

    @Test func anOutageSignsNobodyOut() async throws {
        try await Self.run { bench in
            let before = try Self.plant(bench)
            try bench.sandbox.revokeTokens(accessOnly: true)
            var outage = SandboxFault(.status, path: "/oauth/token", times: 0)
            outage.status = 503
            bench.sandbox.add(outage)
            let run = try await bench.run("get", "/api/items")
            #expect(run.status == 69)
            #expect(run.kind == "unavailable")
            #expect(run.texts("refresh", "outcome") == ["failed"])
            #expect(try bench.tokens["refresh_token"]?.string == before.refreshToken)
            #expect(try bench.tokens["access_token"]?.string == before.accessToken)
            bench.sandbox.clearFaults()
            #expect(try await bench.run("get", "/api/items").status == 0)
        }
    }

    @Test func statusIsTheServersWord() async throws {
        try await Self.run { bench in
            #expect(try await bench.run("status").status == 77)
            _ = try Self.plant(bench)
            let run = try await bench.run("status")
            #expect(run.status == 0)
            #expect(run.report["session"]?["status"]?.string == "active")
        }
    }

    @Test func signOutRevokesAndForgets() async throws {
        try await Self.run { bench in
            let tokens = try Self.plant(bench)
            let run = try await bench.run("sign-out", secrets: [tokens.refreshToken ?? "-"])
            #expect(run.status == 0)
            #expect(try bench.tokens.members?.map(\.key) == ["note"])
            #expect(bench.sandbox.requests(path: "/oauth/revoke").count == 1)
            // The server knows it no more.
            try write(
                "{\"refresh_token\":\"\(tokens.refreshToken ?? "")\"}",
                to: bench.tokenFile
            )
            #expect(try await bench.run("refresh").status == 77)
        }
    }

    /// A token that is valid needs no endpoint, and one that has run out no more than that of tokens.
    @Test(arguments: [
        (["token"], false), (["get", "/api/items"], false), (["token"], true), (["get", "/api/items"], true),
    ])
    func whatNeedsNoListAsksForNone(command: [String], hasRunOut: Bool) async throws {
        try await Self.run { bench in
            let tokens = try Self.plant(bench)
            if hasRunOut {
                let json: JSONValue = [
                    "access_token": "old", "refresh_token": .string(tokens.refreshToken ?? ""),
                    "expires_at": "2020-01-01T00:00:00Z",
                ]
                try write(json.description, to: bench.tokenFile)
            }
            let place = hasRunOut ? ["--token-url", bench.sandbox.url + "/oauth/token"] : []
            let end = try await BuiltProgram(
                "auth-client",
                ["--provider", "oauth", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile]
                    + bench.options + place + command,
                in: bench.directory
            ).end()
            #expect(end.status == 0, "\(end.errors)")
            let expected = (hasRunOut ? ["POST /oauth/token"] : []) + (command.count > 1 ? ["GET /api/items"] : [])
            #expect(bench.routes == expected)
        }
    }

    /// What is wrong with a server's list is told as that, with where it is and what helps.
    @Test(
        arguments: [
            (["refresh"], "{}", 69), (["status"], "{}", 69), (["refresh"], #"{"issuer": "https://other.example"}"#, 77),
            (["token"], "{}", 69),
        ] as [([String], String, Int32)]
    )
    func aListThatIsNoneIsTold(command: [String], document: String, status: Int32) async throws {
        let server = try FaultServer { _ in .answer(body: document) }
        try await withTemporaryDirectory { directory in
            try write(
                #"{"access_token": "a", "refresh_token": "b", "expires_at": "2020-01-01T00:00:00Z"}"#,
                to: directory + "/tokens.json"
            )
            let url = "http://\(server.authority)"
            let options = ["--provider", "oauth", "--base-url", url, "--client-id", "cli"]
            let end = try await BuiltProgram(
                "auth-client",
                options + ["--token-file", directory + "/tokens.json"] + command,
                in: directory
            ).end()
            #expect(end.status == status, "\(end)")
            for word in ["\(url)/.well-known/openid-configuration", "--token-url"] {
                #expect(end.errors.contains(word), "\(end.errors)")
            }
            // The refresh token has gone nowhere, and may be used.
            #expect(server.receivedRequests.allSatisfy { $0.method == "GET" })
            #expect(try JSONValue(parsing: contents(of: directory + "/tokens.json"))["refresh_token"]?.string == "b")
        }
    }

    @Test func endpointsCanBeNamedWhereTheServerListsNone() async throws {
        try await Self.run { bench in
            var missing = SandboxFault(.status, path: "/.well-known/", times: 0)
            missing.status = 404
            bench.sandbox.add(missing)
            var bench = bench
            bench.options += [
                "--token-url", bench.sandbox.url + "/oauth/token", "--device-url", bench.sandbox.url + "/oauth/device",
            ]
            let run = try await answered(bench.start(["sign-in"]), bench, approves: true)
            #expect(run.status == 0)
        }
    }
}
