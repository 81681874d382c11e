import AuthSandbox
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Options from profiles and the environment.
@Suite("auth-client profiles and environment", .timeLimit(.minutes(30)), .bounded)
struct ProfileTests {
    private static func profile(_ name: String, _ text: String, in directory: String, mode: UInt32 = 0o600) throws {
        for folder in ["/auth-client", "/auth-client/profiles"] { unsafe mkdir(directory + folder, 0o700) }
        let path = "\(directory)/auth-client/profiles/\(name).json"
        try write(text, to: path)
        unsafe chmod(path, mode)
    }

    private static func run(
        _ arguments: [String],
        in directory: String,
        _ environment: [String: String] = [:]
    ) async throws -> BuiltProgram.End {
        try await BuiltProgram("auth-client", arguments, in: directory, environment: environment).end()
    }

    @Test func whatIsWrittenComesBeforeTheEnvironmentAndThatBeforeTheProfile() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            let (url, nowhere) = (bench.sandbox.url, "http://127.0.0.1:1")
            let rest = #""provider": "oauth", "client-id": "cli", "token-file": "\#(bench.tokenFile)""#
            try Self.profile("good", #"{"base-url": "\#(url)", \#(rest)}"#, in: bench.directory)
            try Self.profile("bad", #"{"base-url": "\#(nowhere)", \#(rest)}"#, in: bench.directory)
            let deadline = ["--deadline", "5"]
            for (arguments, environment, status) in [
                (["--profile", "good"], [:], 0), (["--profile", "bad"], [:], 69),
                ([], ["AUTH_CLIENT_PROFILE": "good"], 0),
                (["--profile", "good"], ["AUTH_CLIENT_PROFILE": "bad"], 0),
                (["--profile", "bad"], ["AUTH_CLIENT_BASE_URL": url], 0),
                (["--profile", "bad"], ["AUTH_CLIENT_ORG": url], 0),
                (["--profile", "good"], ["AUTH_CLIENT_BASE_URL": nowhere], 69),
                (["--profile", "good", "--base-url", url], ["AUTH_CLIENT_BASE_URL": nowhere], 0),
                (["--profile", "bad", "--org", url], [:], 0),
                // An empty variable is none.
                (["--profile", "good"], ["AUTH_CLIENT_BASE_URL": ""], 0),
                // What contradicts the profile takes its place.
                (["--profile", "good", "--no-token-file"], [:], 77),
                // What is said to be off contradicts nothing.
                (["--profile", "good"], ["AUTH_CLIENT_NO_TOKEN_FILE": "false"], 0),
                // Neither does what is not for this command.
                (["--profile", "good"], ["AUTH_CLIENT_TICKET_ENV": "TICKET"], 0),
                // What belongs to another command is left out.
                (["--profile", "good"], ["AUTH_CLIENT_IDENTIFIER": "ada", "AUTH_CLIENT_PASSWORD_STDIN": "yes"], 0),
                (["--profile", "good"], ["AUTH_CLIENT_DATA": "a=b", "AUTH_CLIENT_SHOW": "true"], 0),
            ] as [([String], [String: String], Int32)] {
                let end = try await Self.run(
                    deadline + arguments + ["get", "/api/items"],
                    in: bench.directory,
                    environment
                )
                #expect(end.status == status, "\(arguments) \(environment) \(end.errors)")
            }
        }
    }

    /// What the value of an option looks like is no question about the program, and a token is printed alone.
    @Test func aValueIsAValueAndATokenStandsAlone() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            let text = #"""
                {"provider": "oauth", "client-id": "cli", "base-url": "\#(bench.sandbox.url)", "json": true,
                "token-file": "\#(bench.tokenFile)"}
                """#
            try Self.profile("p", text, in: bench.directory)
            let arguments = ["--profile", "p", "request", "-X", "POST", "-d", "--version", "/api/items"]
            let sent = try await Self.run(arguments, in: bench.directory)
            #expect(!sent.errors.contains("--provider is missing") && !bench.routes.isEmpty, "\(sent.errors)")
            let token = try await Self.run(["--profile", "p", "token"], in: bench.directory)
            #expect(token.status == 0 && token.output.split(separator: "\n").count == 1, "\(token)")
            #expect(!token.output.contains("{"))
        }
    }

    /// A profile means the same files wherever it is used, and keeps nothing of another.
    @Test func whatIsKeptMeansTheSameEverywhere() async throws {
        try await withTemporaryDirectory { directory in
            let options = ["--provider", "clerk", "--token-file", "tokens.json", "--state", "sqlite:state.db"]
            let kept = try await Self.run(options + ["save-profile", "work"], in: directory)
            #expect(kept.status == 0, "\(kept.errors)")
            let json = try JSONValue(parsing: contents(of: directory + "/auth-client/profiles/work.json"))
            let file = try #require(json["token-file"]?.string)
            #expect(file.hasPrefix("/") && file.hasSuffix("/tokens.json"))
            #expect(json["state"]?.string == "sqlite:" + file.dropLast("tokens.json".count) + "state.db")
            let folder = file.dropLast("tokens.json".count)
            // Whatever option there is that takes a file.
            let dump = try JSONValue(parsing: try await Self.run(["--experimental-dump-help"], in: directory).output)
            let names =
                dump["command"]?["arguments"]?.array?.filter { $0["valueName"]?.string?.lowercased() == "file" }
                .compactMap { $0["preferredName"]?["name"]?.string } ?? []
            #expect(names.count >= 7 && names.contains("device-token"))
            let files =
                names.flatMap { ["--\($0)", "some"] } + ["-d", "@body", "-H", "@fields", "-d", "a@b", "-d", "@-"]
            let all = try await Self.run(files + ["save-profile", "all"], in: directory)
            #expect(all.status == 0, "\(all.errors)")
            let saved = try JSONValue(parsing: contents(of: directory + "/auth-client/profiles/all.json"))
            for name in names { #expect(saved[name]?.string == folder + "some", "\(name)") }
            #expect(saved["data"]?.array?.map(\.string) == ["@\(folder)body", "a@b", "@-"])
            #expect(saved["header"]?.string == "@\(folder)fields")
            let other = try await Self.run(["--profile", "work", "--quiet", "save-profile", "b"], in: directory)
            #expect(other.status == 65 && other.errors.contains("--profile"), "\(other.errors)")
        }
    }

    @Test func flagsAreTrueOrFalse() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            let rest = #""provider": "oauth", "client-id": "cli", "token-file": "\#(bench.tokenFile)""#
            for (value, isJSON) in [("true", true), ("false", false)] {
                try Self.profile(
                    "p",
                    #"{"base-url": "\#(bench.sandbox.url)", "max-wait": 7, "json": \#(value), \#(rest)}"#,
                    in: bench.directory
                )
                let end = try await Self.run(["--profile", "p", "status"], in: bench.directory)
                #expect(end.status == 0, "\(end.errors)")
                #expect(end.output.hasPrefix("{") == isJSON)
                let named = try await Self.run(
                    ["--profile", "p", "status"],
                    in: bench.directory,
                    ["AUTH_CLIENT_JSON": isJSON ? "no" : "1"]
                )
                #expect(named.output.hasPrefix("{") == !isJSON)
            }
        }
    }

    /// Of flags that exclude each other, and of a flag that has an opposite, what is nearer counts.
    @Test(
        arguments: [
            (#"{"ipv6": true}"#, ["-4"], [:]), (#"{"ipv6": true}"#, [], ["AUTH_CLIENT_IPV4": "1"]),
            (#"{"tlsv1.3": true}"#, ["--tlsv1.2"], [:]), (#"{"quiet": true}"#, ["--verbose"], [:]),
            (#"{"way": "sign_in_or_up"}"#, ["--ticket-env", "HOME"], [:]),
        ] as [(String, [String], [String: String])]
    )
    func whatIsNearerCounts(profile: String, arguments: [String], environment: [String: String]) async throws {
        try await Bench.run { bench in
            try Self.profile("p", profile, in: bench.directory)
            let options = ["--profile", "p", "--provider", "clerk", "--base-url", bench.sandbox.url, "sign-in"]
            let end = try await Self.run(options + arguments, in: bench.directory, environment)
            #expect(end.status != 64, "\(end.errors)")
        }
    }

    @Test(
        arguments: [
            ("{}", [], [:], nil), (#"{"allow-sign-up": true}"#, [], [:], true),
            (#"{"allow-sign-up": false}"#, [], [:], false),
            (#"{"no-allow-sign-up": true}"#, [], [:], false), (#"{"no-allow-sign-up": false}"#, [], [:], true),
            ("{}", [], ["AUTH_CLIENT_ALLOW_SIGN_UP": "false"], false),
            (#"{"no-allow-sign-up": true}"#, [], ["AUTH_CLIENT_ALLOW_SIGN_UP": "true"], true),
            (#"{"allow-sign-up": false}"#, ["--allow-sign-up"], [:], true),
            ("{}", ["--no-allow-sign-up"], ["AUTH_CLIENT_ALLOW_SIGN_UP": "true"], false),
            (#"{"allow-sign-up": true, "no-allow-sign-up": false}"#, [], [:], true),
        ] as [(String, [String], [String: String], Bool?)]
    )
    func falseMeansTheOpposite(
        profile: String,
        arguments: [String],
        environment: [String: String],
        allows: Bool?
    ) async throws {
        let server = try FaultServer { _ in .answer(404, body: "{}") }
        try await withTemporaryDirectory { directory in
            try Self.profile("p", profile, in: directory)
            let options = [
                "--profile", "p", "--provider", "auth0", "--base-url", "http://\(server.authority)", "--client-id",
                "cli",
                "--connection", "db", "--way", "database_email", "--no-token-file", "sign-in", "--identifier",
                "a@b.example",
            ]
            let end = try await Self.run(options + arguments, in: directory, environment)
            let request = try #require(server.receivedRequests.first, "\(end.errors)")
            #expect(try JSONValue(parsing: request.body)["allow_signup"]?.bool == allows)
        }
    }

    /// Whatever flags the parser takes for opposites, the nearer one counts: none is forgotten.
    @Test func everyPairOfFlagsThatExcludeEachOtherIsKnown() async throws {
        try await withTemporaryDirectory { directory in
            let dump = try JSONValue(parsing: try await Self.run(["--experimental-dump-help"], in: directory).output)
            let arguments = try #require(dump["command"]?["arguments"]?.array)
            let command = ["--provider", "http", "classify"]
            var flags: [String] = []
            for argument in arguments where argument["kind"]?.string == "flag" {
                guard let name = argument["preferredName"]?["name"]?.string, name != "help", name != "version" else {
                    continue
                }
                if try await Self.run(command + ["--\(name)"], in: directory).status == 0 { flags.append(name) }
            }
            var count = 0
            for (index, flag) in flags.enumerated() {
                let rivals = try await withThrowingTaskGroup(of: String?.self) { group in
                    for other in flags.dropFirst(index + 1) {
                        group.addTask {
                            let both = try await BuiltProgram.run("auth-client", command + ["--\(flag)", "--\(other)"])
                            return both.status == 64 ? other : nil
                        }
                    }
                    return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
                }
                count += rivals.count
                for other in rivals {
                    for (near, far) in [(flag, other), (other, flag)] {
                        try Self.profile("p", #"{"\#(far)": true}"#, in: directory)
                        let end = try await Self.run(command + ["--profile", "p", "--\(near)"], in: directory)
                        #expect(end.status == 0, "\(near) on the line, \(far) in the profile: \(end.errors)")
                    }
                }
            }
            #expect(count >= 3)
        }
    }

    @Test(arguments: [
        (#"{"base_url": "x"}"#, "\"base_url\"; did you mean base-url?", 0o600),
        (#"{"colour": "x"}"#, "\"colour\"", 0o600),
        (#"{"profile": "other"}"#, "\"profile\"", 0o600), (#"{"json": "yes"}"#, "json takes true or false", 0o600),
        (#"{"base-url": ["x"]}"#, "base-url takes a text", 0o600), (#"["x"]"#, "is not a JSON object", 0o600),
        ("{", "is not JSON", 0o600), (#"{"base-url": "x", "base-url": "y"}"#, "has the key \"base-url\" twice", 0o600),
        (#"{"provider": "clerk"}"#, "can be changed by others", 0o606),
        (#"{"state": "redis://me:s3cret@127.0.0.1"}"#, "hold a secret that others can read", 0o644),
        (#"{"header": "X-Api-Key: s3cret"}"#, "hold a secret that others can read", 0o644),
        (#"{"s3cret": 1}"#, "can be changed by others", 0o602),
    ])
    func aProfileThatIsWrongSaysWhat(text: String, message: String, mode: UInt32) async throws {
        try await Bench.run { bench in
            try Self.profile("work", text, in: bench.directory, mode: mode)
            let arguments = ["--profile", "work", "--base-url", bench.sandbox.url, "status"]
            let end = try await Self.run(arguments, in: bench.directory)
            #expect(end.status == 65 && end.output.isEmpty)
            #expect(end.errors.hasPrefix("auth-client: the profile ") && end.errors.contains(message), "\(end.errors)")
            #expect(!end.errors.contains("s3cret") && bench.routes.isEmpty)
            let report = try await Self.run(["--json"] + arguments, in: bench.directory)
            let json = try JSONValue(parsing: report.output)
            #expect(json["failure"]?["kind"]?.string == "invalid_request" && json["outcome"]?.string == "failed")
        }
    }

    @Test(arguments: [
        (["--profile", "work", "status"], "there is no profile work", 65),
        (["--profile", "../work", "status"], "a profile's name", 65),
        (["--profile=", "status"], "a profile's name", 65), (["save-profile", "work"], "there are none", 65),
        (["--json", "--provider", "clerk", "save-profile", "a/b"], "a profile's name", 65),
    ])
    func aProfileThatThereIsNot(arguments: [String], message: String, status: Int32) async throws {
        try await withTemporaryDirectory { directory in
            let end = try await Self.run(arguments, in: directory)
            #expect(end.status == status && end.errors.contains(message), "\(end.errors)")
        }
    }

    /// A message about an option that nobody has written says where it comes from.
    @Test func whereAnOptionComesFromIsTold() async throws {
        try await withTemporaryDirectory { directory in
            try Self.profile("work", #"{"provider": "clerk", "max-wait": "soon"}"#, in: directory)
            let profile = try await Self.run(["--profile", "work", "status"], in: directory)
            #expect(profile.status == 64)
            #expect(profile.errors.contains("--max-wait is set by the profile work."), "\(profile.errors)")
            let environment = try await Self.run(
                ["--provider", "clerk", "--base-url", "http://127.0.0.1:1", "status"],
                in: directory,
                ["AUTH_CLIENT_REALM": "alpha"]
            )
            #expect(environment.status == 64)
            #expect(environment.errors.contains("--realm is set by AUTH_CLIENT_REALM."), "\(environment.errors)")
            try Self.profile(
                "old",
                #"{"provider": "clerk", "base-url": "http://127.0.0.1:1", "tls-max": "1.2"}"#,
                in: directory
            )
            let versions = try await Self.run(["--profile", "old", "--tlsv1.3", "status"], in: directory)
            #expect(versions.status == 64)
            #expect(versions.errors.contains("--tls-max is set by the profile old."), "\(versions.errors)")
            let flag = try await Self.run(
                ["--provider", "clerk", "status"],
                in: directory,
                ["AUTH_CLIENT_JSON": "maybe"]
            )
            #expect(flag.status == 65 && flag.errors.contains("AUTH_CLIENT_JSON takes true or false"))
        }
    }

    @Test func aProfileIsKeptAndListed() async throws {
        try await OAuthTests.run { bench in
            _ = try OAuthTests.plant(bench)
            let options = [
                "--provider", "oauth", "--org=\(bench.sandbox.url)", "--client-id", "cli", "-q", "--token-file",
                bench.tokenFile,
            ]
            let kept = try await Self.run(options + ["save-profile", "work"], in: bench.directory)
            #expect(kept.status == 0, "\(kept.errors)")
            let path = bench.directory + "/auth-client/profiles/work.json"
            #expect(permissions(of: path) == 0o600 && permissions(of: bench.directory + "/auth-client") == 0o700)
            #expect(try JSONValue(parsing: contents(of: path))["quiet"]?.bool == true)
            let list = try await Self.run(["profiles"], in: bench.directory)
            #expect(list.status == 0 && list.output == "work  oauth  \(bench.sandbox.url)\n", "\(list)")
            let used = try await Self.run(["--profile", "work", "get", "/api/items"], in: bench.directory)
            #expect(used.status == 0, "\(used.errors)")
            // The shell asks so for what may follow --profile.
            let completion = try await Self.run(
                ["--generate-completion-script", "bash"],
                in: bench.directory,
                ["AUTH_CLIENT_PROFILE": "no-such"]
            )
            #expect(completion.status == 0 && completion.output.contains("---completion"))
            let names = try await Self.run(["---completion", "--", "--profile", "0", "0"], in: bench.directory)
            #expect(names.output.contains("work"), "\(names)")
        }
    }

    /// Whatever long option there is, it can be set from elsewhere: none is forgotten.
    @Test func everyLongOptionHasAVariable() async throws {
        try await withTemporaryDirectory { directory in
            let help = try await Self.run(["--help"], in: directory, ["AUTH_CLIENT_PROFILE": "no-such"])
            #expect(help.status == 0)
            let dump = try JSONValue(parsing: try await Self.run(["--experimental-dump-help"], in: directory).output)
            let arguments = try #require(dump["command"]?["arguments"]?.array)
            var count = 0
            for argument in arguments where argument["kind"]?.string == "option" {
                guard let name = argument["preferredName"]?["name"]?.string else { continue }
                // What belongs to other commands is left out, and what is no number, URL or provider is refused by name.
                let variable = "AUTH_CLIENT_" + name.uppercased().replacing("-", with: "_")
                let end = try await Self.run(
                    ["explain", "--provider", "http"],
                    in: directory,
                    [variable: "no such thing"]
                )
                count += 1
                let isRead = [
                    "request", "status", "max-wait", "deadline", "state", "state-env", "profile", "presented",
                ]
                if isRead.contains(name) { #expect(end.status != 0 && end.errors.contains(name), "\(name) \(end)") }
            }
            #expect(count > 30)
        }
    }
}
