import AuthSandbox
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Requests of any method with the session's credential, and the token itself, at every provider.
@Suite("auth-client request and token", .timeLimit(.minutes(30)), .bounded)
struct RequestCommandTests {
    /// A provider with somebody signed in.
    struct Place: Sendable, CustomTestStringConvertible {
        var name: String
        var path: String = ""
        var options: [String] = []
        /// The arguments of a request that changes something, and the route that arrives.
        var request: [String]
        var route: String
        /// A path that there is not.
        var missing: String
        /// The key of the token file that `token` prints; nil if it is made for the occasion.
        var key: String?
        /// Where the token is accepted by itself.
        var presented: @Sendable (String) -> (field: String, path: String)

        var testDescription: String { name + options.joined(separator: " ") }
    }

    static let places: [Place] = [
        Place(
            name: "clerk",
            request: ["-d", "name=Engines", "/v1/organizations"],
            route: "POST /v1/organizations",
            missing: "/v1/no-such-thing",
            presented: { ("Authorization: Bearer \($0)", "") }
        ),
        Place(
            name: "okta",
            request: ["-XPOST", "/api/v1/sessions/me/lifecycle/refresh"],
            route: "POST /api/v1/sessions/me/lifecycle/refresh",
            missing: "/api/v1/users/me/no-such-thing",
            key: "session_id",
            presented: { ("Cookie: sid=\($0)", "/api/v1/sessions/me") }
        ),
        Place(
            name: "forgerock",
            options: ["--realm", "alpha"],
            request: [
                "-X", "POST", "-H", "Accept-API-Version: resource=3.1, protocol=1.0", "-H",
                "content-type: application/json", "-d", "{}",
                "/json/realms/root/realms/alpha/sessions?_action=getSessionInfo",
            ],
            route: "POST /json/realms/root/realms/alpha/sessions",
            missing: "/json/realms/root/realms/alpha/no-such-thing",
            key: "sso_token",
            presented: { ("Cookie: iPlanetDirectoryPro=\($0)", "/ig/app") }
        ),
        Place(
            name: "facebook",
            options: ["--app-id", SandboxFacebookSettings().appID],
            request: ["-d", "message=hello", "me/feed"],
            route: "POST /v25.0/me/feed",
            missing: "999999999999999",
            key: "access_token",
            presented: { ("Authorization: Bearer \($0)", "/v25.0/me") }
        ),
        Place(
            name: "auth0",
            path: "/auth0",
            options: ["--client-id", "cli"],
            request: ["-H", "Accept-Language: de", "/userinfo"],
            route: "GET /auth0/userinfo",
            missing: "/no-such-thing",
            key: "access_token",
            presented: { ("Authorization: Bearer \($0)", "/auth0/userinfo") }
        ),
        Place(
            name: "oauth",
            options: ["--client-id", "cli"],
            request: ["-X", "DELETE", "/api/items/1"],
            route: "DELETE /api/items/1",
            missing: "/no-such-thing",
            key: "access_token",
            presented: { ("Authorization: Bearer \($0)", "/api/items") }
        ),
    ]

    private static func run(_ place: Place, _ body: (Bench) async throws -> Void) async throws {
        try await Bench.run { bench in
            var bench = bench
            bench.provider = place.name
            bench.options =
                place.path.isEmpty ? place.options : ["--base-url", bench.sandbox.url + place.path] + place.options
            bench.secretKeys.append("id_token")
            switch place.name {
            case "oauth": _ = try OAuthTests.plant(bench)
            case "facebook":
                bench.heldSecrets = { [sandbox = bench.sandbox] in sandbox.facebookSecrets }
                try bench.plantToken()
            default:
                let identifier = place.name == "forgerock" ? "ada" : "ada@example.com"
                let run = try await bench.signIn(identifier, answers: #"{"password": "open-sesame-42"}"#)
                try #require(run.status == 0, "\(run.errors)")
            }
            try await body(bench)
        }
    }

    @Test(arguments: places) func anyMethodAndBody(place: Place) async throws {
        try await Self.run(place) { bench in
            let run = try await bench.finish(bench.start(["request"] + place.request))
            #expect(run.status == 0, "\(run.errors)")
            #expect(bench.routes.last == place.route)
            // The body of the answer, and the report behind it.
            #expect(run.output.split(separator: "\n").count >= 2)
        }
    }

    @Test(arguments: places) func aPathThatThereIsNotSaysNothingOfTheSession(place: Place) async throws {
        try await Self.run(place) { bench in
            let held = try bench.tokens
            for command in ["get", "request"] {
                let run = try await bench.run(command, place.missing)
                #expect(run.status == 22, "\(command): \(run.report)")
                #expect(run.kind == "not_found", "\(command)")
                #expect(run.errors.contains("HTTP 4") && run.errors.contains("ot found"), "\(run.errors)")
                #expect(!run.errors.contains("refused"))
                // The body of the answer stands before the report.
                #expect(run.output.split(separator: "\n").count >= 2, "\(run.output)")
            }
            #expect(try bench.tokens == held)
        }
    }

    @Test(arguments: places) func aTokenAlone(place: Place) async throws {
        try await Self.run(place) { bench in
            // Not by way of the bench, which sees to it that no other command shows one.
            let end = try await Self.token(bench)
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.errors.isEmpty)
            let token = end.output.split(separator: "\n", omittingEmptySubsequences: false)
            try #require(token.count == 2 && token[1].isEmpty && !token[0].isEmpty)
            if let key = place.key { #expect(try bench.tokens[key]?.string == String(token[0])) }
            let (field, path) = place.presented(String(token[0]))
            guard !path.isEmpty else { return #expect(token[0].split(separator: ".").count == 3) }
            let answer = try await BuiltProgram.run("http-recover", ["-H", field, bench.sandbox.url + path])
            #expect(answer.status == 0, "\(answer.errors)")
        }
    }

    @Test(arguments: places) func nobodyIsSignedIn(place: Place) async throws {
        try await Self.run(place) { bench in
            try write("{}", to: bench.tokenFile)
            let run = try await bench.finish(bench.start(["request"] + place.request))
            #expect(run.status == 77, "\(run.report)")
            #expect(run.kind == "reauthentication_required")
            #expect(run.output.split(separator: "\n").count == 1)
            let token = try await Self.token(bench)
            #expect(token.status == 77 && token.output.isEmpty && !token.errors.isEmpty, "\(token)")
        }
    }

    private static func token(_ bench: Bench, _ more: [String] = []) async throws -> BuiltProgram.End {
        try await BuiltProgram(
            "auth-client",
            ["--provider", bench.provider, "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile]
                + bench.options + ["token"] + more,
            in: bench.directory,
            environment: bench.environment
        ).end()
    }

    @Test func aTokenThatHasRunOutIsRenewedFirst() async throws {
        try await OAuthTests.run { bench in
            let tokens = try OAuthTests.plant(bench)
            let json: JSONValue = [
                "access_token": .string(tokens.accessToken), "refresh_token": .string(tokens.refreshToken ?? ""),
                "expires_at": "2020-01-01T00:00:00Z",
            ]
            try write(json.description, to: bench.tokenFile)
            let end = try await Self.token(bench)
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.output != tokens.accessToken + "\n")
            #expect(try bench.tokens["access_token"]?.string.map { $0 + "\n" } == end.output)
            // What cannot be renewed is not printed.
            bench.sandbox.updateSettings { $0.oauth.deviceInterval = 1000 }
            let dead: JSONValue = [
                "access_token": "old", "refresh_token": "no-such", "expires_at": "2020-01-01T00:00:00Z",
            ]
            try write(dead.description, to: bench.tokenFile)
            let refused = try await Self.token(bench)
            #expect(refused.status == 77 && refused.output.isEmpty, "\(refused)")
        }
    }

    @Test func aTokenIsNotShownOnAScreenUnlessThatIsWanted() async throws {
        try await OAuthTests.run { bench in
            let tokens = try OAuthTests.plant(bench)
            for (more, status) in [([], 64), (["--show"], 0)] as [([String], Int32)] {
                let program = try TerminalProgram(
                    "auth-client",
                    ["--provider", "oauth", "--base-url", bench.sandbox.url, "--token-file", bench.tokenFile]
                        + bench.options + ["token"] + more,
                    in: bench.directory,
                    showsOutput: true
                )
                let end = await program.end()
                #expect(end.status == status)
                #expect(end.errors.contains(tokens.accessToken) == (status == 0))
                #expect(end.errors.contains("--show") == (status != 0))
            }
        }
    }

    @Test func theBodyComesFromAFileOrStandardInput() async throws {
        try await Bench.facebook { bench in
            try bench.plantToken()
            try write("message=from a file", to: bench.directory + "/body")
            for (data, input) in [("@\(bench.directory)/body", ""), ("@-", "message=from a pipe")] {
                let run = try await bench.finish(bench.start(["request", "-d", data, "me/feed"], input: input))
                #expect(run.status == 0, "\(run.errors)")
            }
            let feed = try await bench.run("get", "me/feed").output
            #expect(feed.contains("from a file") && feed.contains("from a pipe"))
            let missing = try await bench.run("request", "-d", "@\(bench.directory)/nothing", "me/feed")
            #expect(missing.status == 65 && missing.named("attempt").isEmpty)
        }
    }

    /// What is left out is not sent, and a length that is that of the body says nothing new.
    @Test(arguments: [
        ([], "content-type: application/x-www-form-urlencoded", true),
        (["-H", "Content-Type:"], "content-type:", false),
        (["-H", "Accept:"], "\naccept:", false), (["-H", "content-type: a/b"], "content-type: a/b", true),
        (["-H", "Content-Length: 3"], "content-length: 3", true),
    ])
    func aFieldIsLeftOut(options: [String], field: String, isSent: Bool) async throws {
        let server = try FaultServer { .echo($0) }
        try await withTemporaryDirectory { directory in
            try write(#"{"access_token": "abc"}"#, to: directory + "/tokens.json")
            let end = try await BuiltProgram(
                "auth-client",
                [
                    "--provider", "oauth", "--base-url", "http://\(server.authority)", "--client-id", "cli",
                    "--token-file", directory + "/tokens.json", "request", "-d", "abc", "/x",
                ] + options,
                in: directory
            ).end()
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.output.lowercased().contains(field) == isSent, "\(end.output)")
        }
    }

    /// A token endpoint that is not there says nothing about the path.
    @Test func aRenewalThatFailsIsNotThePaths() async throws {
        try await OAuthTests.run { bench in
            let tokens = try OAuthTests.plant(bench)
            let json: JSONValue = [
                "access_token": "revoked", "refresh_token": .string(tokens.refreshToken ?? ""),
            ]
            try write(json.description, to: bench.tokenFile)
            var bench = bench
            bench.options += ["--token-url", bench.sandbox.url + "/oauth/no-such"]
            bench.options += ["--device-url", bench.sandbox.url + "/oauth/device_authorization"]
            let run = try await bench.run("get", "/api/items")
            #expect(run.status != 22 && run.status != 0, "\(run.report)")
            #expect(!run.errors.contains("HTTP 404"), "\(run.errors)")
            #expect(run.output.split(separator: "\n").count == 1, "\(run.output)")
        }
    }

    /// A write whose answer is lost may have been done: it is not sent again.
    @Test func aLostAnswerToAWriteIsNotRepeated() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            bench.sandbox.add(SandboxFault(.resetAfter, path: "/api/items", times: 1))
            let run = try await bench.run("request", "-d", "a=b", "/api/items")
            #expect(run.status == 69 && run.kind == "transport", "\(run.report)")
            #expect(bench.routes.filter { $0 == "POST /api/items" }.count == 1)
        }
    }

    @Test(arguments: ["auth-client", "http-recover", "auth-sandbox"]) func theVersion(program: String) async throws {
        let end = try await BuiltProgram.run(program, ["--version"])
        #expect(end.status == 0 && end.errors.isEmpty)
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let releases = contents(of: root + "/CHANGELOG.md").split(separator: "\n").filter {
            $0.hasPrefix("## [") && !$0.contains("Unreleased")
        }
        // Before the first release it is that one's.
        let newest = releases.first?.dropFirst(4).prefix { $0 != "]" } ?? "0.1.0"
        #expect(end.output == newest + "\n")
    }
}
