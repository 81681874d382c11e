import AuthSandbox
import HTTPRecovery
import Testing

@Suite("auth-client --provider forgerock: sessions and tokens", .timeLimit(.minutes(30)), .bounded)
struct ForgeRockSessionTests {
    private static let client = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]

    @Test(arguments: ["am", "openam"])
    func theStatusIsTheServersWord(dialect: String) async throws {
        try await AM.run {
            $0.sessionDialect = dialect
        } _: { bench in
            let none = try await bench.run("status")
            #expect(none.status == 77)
            #expect(none.kind == "reauthentication_required")
            #expect(bench.routes.isEmpty)
            try await bench.signInAtAM()
            let run = try await bench.run("status")
            #expect(run.status == 0)
            #expect(run.session?.hasPrefix("id=ada,") == true)
            let token = try #require(try bench.tokens["sso_token"]?.string)
            bench.sandbox.endForgeRockSessions()
            let dead = try await bench.run("status", secrets: [token])
            #expect(dead.status == 77)
            #expect(dead.kind == "reauthentication_required")
            #expect(dead.texts("clear", "credential") == ["session"])
            #expect(try bench.tokens["sso_token"] == nil)
        }
    }

    @Test func getSendsTheSession() async throws {
        try await AM.run { bench in
            try await bench.signInAtAM()
            let own = try await bench.run("get", "/json/realms/root/realms/alpha/users/ada")
            #expect(own.status == 0)
            #expect(own.output.contains("ada@example.com"))
            let app = try await bench.run("get", "/ig/app")
            #expect(app.status == 0)
            let other = try await bench.run("get", "/json/realms/root/realms/alpha/users/grace")
            #expect(other.status == 77)
            #expect(other.kind == "permission_denied")
            #expect(try bench.tokens["sso_token"] != nil, "a no to the request is no no to the session")
            let token = try #require(try bench.tokens["sso_token"]?.string)
            bench.sandbox.endForgeRockSessions()
            let dead = try await bench.run("get", "/json/realms/root/realms/alpha/users/ada", secrets: [token])
            #expect(dead.status == 77)
            #expect(dead.kind == "reauthentication_required")
            #expect(try bench.tokens["sso_token"] == nil)
        }
    }

    @Test(arguments: ["am", "openam"])
    func refreshExtendsTheSessionAndSigningOutEndsIt(dialect: String) async throws {
        try await AM.run { settings in
            settings.sessionDialect = dialect
            settings.sessionIdle = 100_000
        } _: { bench in
            #expect(try await bench.run("refresh").status == 77)
            try await bench.signInAtAM()
            bench.sandbox.advanceClock(by: .seconds(60))
            #expect(try await bench.run("refresh").status == 0)
            bench.sandbox.advanceClock(by: .seconds(60))
            #expect(try await bench.run("status").status == 0)
            let token = try #require(try bench.tokens["sso_token"]?.string)
            let out = try await bench.run("sign-out", secrets: [token])
            #expect(out.status == 0)
            #expect(out.texts("clear", "credential") == ["session"])
            #expect(try bench.tokens["sso_token"] == nil)
            // The server knows it no more; that it is gone already is as good.
            for command in ["sign-out", "status"] {
                try write(#"{"sso_token": "\#(token)"}"#, to: bench.tokenFile)
                let run = try await bench.run(command, secrets: [token])
                #expect(run.status == (command == "sign-out" ? 0 : 77))
                #expect(try bench.tokens["sso_token"] == nil)
            }
        }
    }

    // MARK: Step-up

    @Test(arguments: ["redirect", "header", "body"])
    func aTransactionIsConfirmedOnce(carrier: String) async throws {
        try await AM.run { bench in
            try await bench.signInAtAM()
            let path = "/ig/txn/\(carrier)"
            let token = try bench.tokens["sso_token"]?.string
            let alone = try await bench.run("get", path)
            #expect(alone.status == 65)
            #expect(alone.kind == "challenge_required")
            let wrong = try await bench.run("get", path, answers: #"{"password": "correct-horse-7"}"#)
            #expect(wrong.status == 77)
            #expect(wrong.kind == "invalid_credentials")
            #expect(bench.sandbox.requests(path: path).count == 2)
            let run = try await bench.run("get", path, answers: AM.password)
            #expect(run.status == 0)
            let body = try JSONValue(parsing: String(run.output.prefix { $0 != "\n" }))
            #expect(body["user"]?.string == "ada")
            #expect(bench.sandbox.requests(path: path).count == 4)
            #expect(bench.sandbox.forgeRockCounters.transactions == 1)
            #expect(bench.sandbox.forgeRockCounters.transactionsUsed == 1)
            #expect(try bench.tokens["sso_token"]?.string == token)
        }
    }

    @Test(arguments: ["redirect", "header", "body"])
    func aStrongerJourneyIsTakenOnce(carrier: String) async throws {
        try await AM.run {
            $0.adviceEncoding = "base64"
        } _: { bench in
            try await bench.signInAtAM()
            let before = try #require(try bench.tokens["sso_token"]?.string)
            let run = try await bench.run("get", "/ig/journey/\(carrier)", answers: AM.password, secrets: [before])
            #expect(run.status == 0)
            #expect(run.output.contains(#""user":"ada""#))
            #expect(try bench.tokens["sso_token"]?.string != before)
            #expect(try await bench.run("get", "/ig/journey/\(carrier)").status == 0)
        }
    }

    /// A resource that never has enough is not followed for ever.
    @Test func anAdviceIsFollowedOnceForARequest() async throws {
        try await AM.run {
            $0.transactionLifetime = 0
        } _: { bench in
            try await bench.signInAtAM()
            let run = try await bench.run(
                "get",
                "/ig/txn",
                answers: #"{"password": ["open-sesame-42", "open-sesame-42"]}"#
            )
            #expect(run.status != 0)
            #expect(bench.sandbox.requests(path: "/ig/txn").count <= 2)
            #expect(try bench.tokens["sso_token"] != nil)
        }
    }

    // MARK: Tokens

    @Test func aSessionIsExchangedForTokensThatRotate() async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += Self.client
            try await bench.signInAtAM()
            let first = try bench.tokens
            let access = try #require(first["access_token"]?.string)
            let refresh = try #require(first["refresh_token"]?.string)
            #expect(first["sso_token"] != nil && first["expires_at"] != nil)
            let run = try await bench.run("refresh", secrets: [access, refresh])
            #expect(run.status == 0)
            #expect(run.texts("refresh", "outcome") == ["refreshed"])
            #expect(try bench.tokens["refresh_token"]?.string != refresh)
            let api = try await bench.run("get", "/ig/api/items", secrets: [access, refresh])
            #expect(api.status == 0)
            #expect(api.output.contains(#""sub":"ada""#))
            try bench.sandbox.revokeForgeRockTokens(accessOnly: true)
            let renewed = try await bench.run("get", "/ig/api/items")
            #expect(renewed.status == 0)
            #expect(renewed.texts("refresh", "outcome") == ["refreshed"])
            // Tokens that were ended altogether are had anew by the session.
            try bench.sandbox.revokeForgeRockTokens()
            let exchanged = try await bench.run("get", "/ig/api/items")
            #expect(exchanged.status == 0)
            #expect(exchanged.named("clear").isEmpty || exchanged.texts("clear", "credential") == ["refresh"])
            #expect(bench.sandbox.forgeRockTokenCounters.violations == 0)
        }
    }

    @Test func withoutASessionAndWithDeadTokensAPersonIsNeeded() async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += Self.client
            try await bench.signInAtAM()
            bench.sandbox.endForgeRockSessions()
            #expect(try await bench.run("status").status == 0, "the tokens are good still")
            try bench.sandbox.revokeForgeRockTokens()
            let run = try await bench.run("refresh")
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(try bench.tokens["refresh_token"] == nil && bench.tokens["sso_token"] == nil)
        }
    }

    @Test(arguments: [
        #"{"kind": "status", "status": 503}"#, #"{"kind": "status", "status": 500, "code": "server_error"}"#,
        #"{"kind": "status", "status": 400, "code": "server_error"}"#, #"{"kind": "html"}"#, #"{"kind": "empty"}"#,
        #"{"kind": "status", "status": 401, "code": "invalid_client"}"#,
    ])
    func anOutageSignsNobodyOut(fault: String) async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += Self.client
            try await bench.signInAtAM()
            let before = contents(of: bench.tokenFile)
            var fault = try SandboxFault(json: fault)
            (fault.path, fault.times) = (AM.tokens, 0)
            bench.sandbox.add(fault)
            let run = try await bench.run("refresh")
            #expect(run.status == (fault.errorCode == "invalid_client" ? 77 : 69), "\(run.kind ?? "")")
            #expect(run.kind != "reauthentication_required")
            #expect(try bench.tokens["refresh_token"]?.string == JSONValue(parsing: before)["refresh_token"]?.string)
            #expect(try bench.tokens["access_token"]?.string == JSONValue(parsing: before)["access_token"]?.string)
            #expect(try bench.tokens["sso_token"]?.string == JSONValue(parsing: before)["sso_token"]?.string)
            bench.sandbox.clearFaults()
            #expect(try await bench.run("status").status == 0)
        }
    }

    @Test func signingOutRevokesAndEnds() async throws {
        try await AM.run { bench in
            var bench = bench
            bench.options += Self.client
            try await bench.signInAtAM()
            let held = try bench.tokens
            let secrets = ["access_token", "refresh_token", "sso_token"].compactMap { held[$0]?.string }
            let run = try await bench.run("sign-out", secrets: secrets)
            #expect(run.status == 0)
            #expect(try bench.tokens.members?.isEmpty == true)
            #expect(bench.sandbox.requests(path: "/oauth2/realms/root/realms/alpha/token/revoke").count == 1)
            #expect(bench.sandbox.forgeRockTokenCounters.familiesRevoked == 1)
            #expect(bench.sandbox.endForgeRockSessions() == 0)
        }
    }

    @Test func aFailureToSignOutKeepsTheSession() async throws {
        try await AM.run { bench in
            try await bench.signInAtAM()
            bench.sandbox.add(AM.fault(.status, AM.sessions, status: 500, times: 0))
            #expect(try await bench.run("sign-out").status == 69)
            #expect(try bench.tokens["sso_token"] != nil)
        }
    }
}
