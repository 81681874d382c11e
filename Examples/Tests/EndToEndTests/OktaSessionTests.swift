import AuthSandbox
import HTTPRecovery
import Testing

/// What is done with an org's session and an app's tokens.
@Suite("auth-client --provider okta: sessions", .timeLimit(.minutes(30)), .bounded)
struct OktaSessionTests {
    private static func signedIn(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.okta { bench in
            try #require(await bench.signIn("ada@example.com", answers: Bench.answers()).status == 0)
            try await body(bench)
        }
    }

    private static func withTokens(_ body: (Bench) async throws -> Void) async throws {
        try await Bench.okta { bench in
            var bench = bench
            bench.options = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]
            try #require(await bench.signIn("ada@example.com", answers: Bench.answers()).status == 0)
            try await body(bench)
        }
    }

    @Test func theStatusIsTheServersWord() async throws {
        try await Self.signedIn { bench in
            let run = try await bench.run("status")
            #expect(run.status == 0)
            #expect(run.session?.hasPrefix("00u") == true)
            #expect(bench.routes.last == "GET /api/v1/sessions/me")
            bench.sandbox.endOktaSessions()
            let held = try #require(try bench.tokens["session_id"]?.string)
            let over = try await bench.run("status", secrets: [held])
            #expect(over.status == 77)
            #expect(over.kind == "reauthentication_required")
            #expect(over.texts("clear", "credential") == ["session"])
            #expect(try bench.tokens["session_id"] == nil)
        }
    }

    @Test func withoutASessionNothingIsAsked() async throws {
        try await Bench.okta { bench in
            for command in [["status"], ["refresh"], ["get", "/api/v1/users/me"]] {
                let run = try await bench.finish(bench.start(command))
                #expect(run.status == 77)
                #expect(run.kind == "reauthentication_required")
            }
            #expect(try await bench.run("sign-out").status == 0)
            #expect(bench.routes.isEmpty)
        }
    }

    @Test func thePersonIsReadByTheSessionsCookie() async throws {
        try await Self.signedIn { bench in
            let run = try await bench.run("get", "/api/v1/users/me")
            #expect(run.status == 0)
            #expect(run.output.contains(#""login":"ada@example.com""#))
            #expect(try await bench.run("get", "/api/v1/users/00u00000000000000000").kind == "permission_denied")
            let held = try #require(try bench.tokens["session_id"]?.string)
            bench.sandbox.endOktaSessions()
            let over = try await bench.run("get", "/api/v1/users/me", secrets: [held])
            #expect(over.status == 77)
            #expect(try bench.tokens["session_id"] == nil)
        }
    }

    @Test func aRefreshMakesTheSessionLast() async throws {
        try await Self.signedIn { bench in
            let before = try await bench.run("status").report["session"]?["expires_at"]?.string ?? ""
            bench.sandbox.advanceClock(by: .seconds(3600))
            let run = try await bench.run("refresh")
            #expect(run.status == 0)
            #expect((run.report["session"]?["expires_at"]?.string ?? "") > before)
        }
    }

    @Test func signingOutEndsTheSession() async throws {
        try await Self.signedIn { bench in
            let held = try #require(try bench.tokens["session_id"]?.string)
            let run = try await bench.run("sign-out", secrets: [held])
            #expect(run.status == 0)
            #expect(bench.routes.last == "DELETE /api/v1/sessions/me")
            #expect(try bench.tokens["session_id"] == nil)
            #expect(run.texts("clear", "credential") == ["session"])
            #expect(try await bench.run("status").status == 77)
        }
    }

    @Test func aFailureToSignOutKeepsTheSession() async throws {
        try await Self.signedIn { bench in
            bench.sandbox.add(SandboxFault(.html, path: "/api/v1/sessions", times: 0))
            let run = try await bench.run("sign-out")
            #expect(run.status == 69)
            #expect(try bench.tokens["session_id"] != nil)
        }
    }

    // MARK: Tokens

    @Test func anAppsTokensAreObtainedWithPKCE() async throws {
        try await Self.withTokens { bench in
            #expect(
                bench.routes == [
                    "GET /.well-known/okta-organization", "POST /api/v1/authn", "GET /oauth2/v1/authorize",
                    "POST /oauth2/v1/token",
                ]
            )
            #expect(
                try Set(bench.tokens.members?.map(\.key) ?? [])
                    == ["access_token", "refresh_token", "expires_at", "id_token"]
            )
            #expect(bench.sandbox.requests()[2].fields.contains("sessionToken=***"))
            let get = try await bench.run("get", "/api/v1/users/me")
            #expect(get.status == 0)
            #expect(get.output.contains("ada@example.com"))
            let status = try await bench.run("status")
            #expect(status.status == 0)
            #expect(status.session?.hasPrefix("00u") == true)
        }
    }

    @Test func aScopeAndAServerAreAskedFor() async throws {
        try await Bench.okta { bench in
            var bench = bench
            bench.options = [
                "--client-id", "cli", "--redirect-uri", "com.example.cli:/callback", "--scope", "openid",
                "--auth-server",
                "default",
            ]
            bench.sandbox.updateSettings { $0.oauth.requiresOfflineAccess = true }
            let run = try await bench.signIn("ada@example.com", answers: Bench.answers())
            #expect(run.status == 0)
            #expect(bench.routes[2] == "GET /oauth2/default/v1/authorize")
            #expect(bench.sandbox.requests()[2].fields.contains("scope=openid"))
            #expect(try bench.tokens["refresh_token"] == nil)
        }
    }

    @Test func tokensAreRenewed() async throws {
        try await Self.withTokens { bench in
            let before = try bench.tokens
            let secrets = ["access_token", "refresh_token"].compactMap { before[$0]?.string }
            let run = try await bench.run("refresh", secrets: secrets)
            #expect(run.status == 0)
            #expect(run.session?.hasPrefix("00u") == true)
            #expect(run.texts("refresh", "outcome") == ["refreshed"])
            #expect(try bench.tokens["access_token"]?.string != before["access_token"]?.string)
            #expect(bench.sandbox.oauthCounters().refreshes == 1)
            // One that is refused is renewed on the way.
            try bench.sandbox.revokeTokens(accessOnly: true)
            #expect(try await bench.run("get", "/api/v1/users/me").status == 0)
            #expect(bench.sandbox.oauthCounters().refreshes == 2)
            #expect(bench.sandbox.oauthCounters().violations == 0)
        }
    }

    @Test func aLimitInTheWordsOfADeadTokenKeepsTheTokens() async throws {
        try await Self.withTokens { bench in
            let before = contents(of: bench.tokenFile)
            var fault = SandboxFault(.envelope, path: "/oauth2/v1/token", times: 0)
            fault.status = 429
            fault.envelope = "C"
            fault.errorCode = "invalid_grant"
            bench.sandbox.add(fault)
            // The limit of a minute is longer than a renewal may take: the token stays as good as it was.
            for command in [["refresh"], ["refresh", "--max-wait", "1"]] {
                let run = try await bench.finish(bench.start(command))
                #expect(run.status == 75)
                #expect(run.kind == "rate_limited")
                #expect(run.retryAt != nil)
                #expect(contents(of: bench.tokenFile) == before)
            }
            bench.sandbox.clearFaults()
            #expect(try await bench.run("refresh").status == 0)
        }
    }

    @Test func whatIsRevokedAltogetherIsCleared() async throws {
        try await Self.withTokens { bench in
            try bench.sandbox.revokeTokens()
            let run = try await bench.run("get", "/api/v1/users/me")
            #expect(run.status == 77)
            #expect(run.kind == "reauthentication_required")
            #expect(Set(run.texts("clear", "credential")) == ["access", "refresh"])
            #expect(try await bench.run("status").status == 77)
        }
    }

    @Test func signingOutRevokesTheTokens() async throws {
        try await Self.withTokens { bench in
            let held = ["access_token", "refresh_token", "id_token"].compactMap { try? bench.tokens[$0]?.string }
            let run = try await bench.run("sign-out", secrets: held)
            #expect(run.status == 0)
            #expect(bench.sandbox.requests(path: "/oauth2/v1/revoke").count == 2)
            #expect(try bench.tokens["refresh_token"] == nil && bench.tokens["access_token"] == nil)
            #expect(try bench.tokens["id_token"] == nil)
        }
    }

    @Test(arguments: ["login_required", "page"])
    func aSessionTokenThatIsNotGoodEndsTheSignIn(answer: String) async throws {
        try await Bench.okta { bench in
            var bench = bench
            bench.options = ["--client-id", "cli", "--redirect-uri", "com.example.cli:/callback"]
            bench.sandbox.updateSettings {
                $0.okta.authorizeFailure = answer
                $0.okta.sessionTokenLife = 0
            }
            let run = try await bench.signIn("ada@example.com", answers: Bench.answers())
            #expect(run.status != 0)
            #expect(names(in: bench.directory).contains("tokens.json") == false)
            // None is presented twice, and the new ones are few.
            let presented = bench.sandbox.requests(path: "/oauth2/v1/authorize").count
            #expect(bench.steps.filter { $0 == "authn" }.count == presented)
            #expect(presented <= 3)
        }
    }
}

/// Plain requests that recover by Okta's words.
@Suite("http-recover --provider okta", .timeLimit(.minutes(30)), .bounded)
struct OktaRecoverTests {
    private static func limited(_ settings: (inout SandboxOktaSettings) -> Void) async throws -> AuthSandbox {
        var scenario = SandboxScenario.unlimited
        settings(&scenario.settings.okta)
        let sandbox = try await AuthSandbox.start(scenario: scenario)
        var fault = SandboxFault(.status, path: "/api/v1/sessions/me")
        fault.status = 429
        sandbox.add(fault)
        return sandbox
    }

    /// An hour off in either direction changes nothing: the reset is measured from the server's own date.
    @Test(arguments: [3600, -3600, 0]) func theResetIsMeasuredByTheServersClock(skew: Int64) async throws {
        let sandbox = try await Self.limited {
            $0.clockSkew = skew * 1000
            $0.resets = [30, 2]
        }
        defer { sandbox.stop() }
        let end = try await BuiltProgram.run(
            "http-recover",
            ["--provider", "okta", "--events", "-", sandbox.url + "/api/v1/sessions/me"]
        )
        #expect(end.status == 22)
        let requests = sandbox.requests()
        try #require(requests.map(\.status) == [429, 404])
        #expect(requests[1].receivedAt - requests[0].receivedAt >= 3000)
        let events = try end.errors.split(separator: "\n").filter { $0.hasPrefix("{") }
            .map { try JSONValue(parsing: String($0)) }
        let waits = events.filter { $0["event"]?.string == "wait" }.compactMap { $0["seconds"]?.number?.double }
        #expect(waits.count == 1 && waits[0] >= 3 && waits[0] < 20)
    }

    @Test func aConcurrencyLimitIsWaitedForBriefly() async throws {
        let sandbox = try await Self.limited {
            $0.isConcurrencyLimit = true
            $0.resets = [3000]
        }
        defer { sandbox.stop() }
        let end = try await BuiltProgram.run(
            "http-recover",
            ["--provider", "okta", sandbox.url + "/api/v1/sessions/me"]
        )
        #expect(end.status == 22)
        #expect(sandbox.requests().map(\.status) == [429, 404])
    }
}
