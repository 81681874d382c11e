import AuthSandbox
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// The built `auth-sandbox` between the built clients and a server that knows what it was sent.
@Suite("auth-sandbox as a proxy", .timeLimit(.minutes(30)), .bounded)
struct ProxyTests {
    /// A proxy that runs, and the server behind it.
    private struct Setup {
        let server: AuthSandbox
        let url: String
        let program: BuiltProgram
        let directory: String

        /// Sets a fault at the proxy.
        func plant(_ fault: String) async throws {
            let end = try await BuiltProgram.run("http-recover", ["-d", fault, url + "/_sandbox/faults"])
            try #require(end.status == 0, "\(end.errors)")
        }

        /// Calls a resource of the server's through the proxy.
        func call(_ arguments: String..., path: String = "/api/items") async throws -> BuiltProgram.End {
            try await BuiltProgram.run("http-recover", ["--backoff", "0.01,0.05"] + arguments + [url + path])
        }

        /// How the proxy counted a route: what arrived, and what the upstream has.
        func counted(_ route: String) async throws -> [Int] {
            let end = try await BuiltProgram.run("http-recover", [url + "/_sandbox/requests"])
            let counts = try JSONValue(parsing: end.output)["counts"]?[route]
            let names = ["received", "processed"]
            return names.map { name in Int(counts?[name]?.number?.saturatedInt ?? -1) }
        }
    }

    private func withProxy(
        _ scenario: SandboxScenario? = nil,
        options: [String] = [],
        _ body: (Setup) async throws -> Void
    ) async throws {
        var open = SandboxScenario.unlimited
        open.settings.oauth.requiresAuthorization = false
        let server = try await AuthSandbox.start(scenario: scenario ?? open)
        defer { server.stop() }
        try await withTemporaryDirectory { directory in
            let arguments = ["--upstream", server.url, "--provider", "none", "--seed", "1"]
            let program = try BuiltProgram("auth-sandbox", arguments + options, in: directory)
            defer { program.signal(SIGKILL) }
            while !program.output.contains("\n") { try await Task.sleep(for: .milliseconds(5)) }
            let line = program.output.prefix { $0 != "\n" }
            try #require(line.hasPrefix("listening on http://127.0.0.1:"))
            let url = String(line.dropFirst("listening on ".count))
            try await body(Setup(server: server, url: url, program: program, directory: directory))
            program.signal(SIGTERM)
            #expect(await program.end().status == 0)
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var fault: String
        var options: [String] = []
        var status: Int32
        /// How many requests the proxy got, and how many of them the server.
        var received: Int
        var reached: Int

        var testDescription: String { "\(options.joined(separator: " ")) \(fault)" }
    }

    @Test(arguments: [
        // A read is repeated, whether or not the server has answered it before the answer was cut.
        Case(fault: #"{"kind": "reset_before"}"#, status: 0, received: 2, reached: 1),
        Case(fault: #"{"kind": "reset_after"}"#, status: 0, received: 2, reached: 2),
        Case(fault: #"{"kind": "truncate"}"#, status: 0, received: 2, reached: 2),
        Case(fault: #"{"kind": "close_after", "times": 2}"#, status: 0, received: 3, reached: 3),
        Case(fault: #"{"kind": "status", "status": 503, "retry_after": 1}"#, status: 0, received: 2, reached: 1),
        // Something that has an effect is not: nobody can know whether it had it.
        Case(fault: #"{"kind": "reset_before"}"#, options: ["-d", "a=1"], status: 56, received: 1, reached: 0),
        Case(fault: #"{"kind": "reset_after"}"#, options: ["-d", "a=1"], status: 56, received: 1, reached: 1),
        Case(fault: #"{"kind": "close_after"}"#, options: ["-d", "a=1"], status: 56, received: 1, reached: 1),
        Case(fault: #"{"kind": "truncate_reset"}"#, options: ["-d", "a=1"], status: 56, received: 1, reached: 1),
        Case(
            fault: #"{"kind": "hang", "processed": true}"#,
            options: ["-d", "a=1", "--attempt-timeout", "5"],
            status: 28,
            received: 1,
            reached: 1
        ),
        // Unless the answer proves that it had none, or the server can tell a repetition.
        Case(
            fault: #"{"kind": "status", "status": 429, "retry_after": 1}"#,
            options: ["-d", "a=1"],
            status: 0,
            received: 2,
            reached: 1
        ),
        Case(
            fault: #"{"kind": "reset_after"}"#,
            options: ["-d", "a=1", "--idempotency-key", "auto"],
            status: 0,
            received: 2,
            reached: 2
        ),
    ])
    func whatIsRepeated(_ one: Case) async throws {
        try await withProxy { setup in
            try await setup.plant(one.fault)
            let end = try await BuiltProgram.run(
                "http-recover",
                ["--backoff", "0.01,0.05"] + one.options + [setup.url + "/api/items"]
            )
            #expect(end.status == one.status, "\(end.errors)")
            let requests = setup.server.requests(path: "/api/items")
            #expect(requests.count == one.reached)
            let method = one.options.contains("-d") ? "POST" : "GET"
            let counted = try await setup.counted("\(method) /api/items")
            #expect(counted == [one.received, one.reached])
            #expect(Set(requests.map { $0.headers.first { $0.hasPrefix("idempotency-key") } }).count <= 1)
        }
    }

    /// The answer to a password was cut: it has had its effect, and is not sent again.
    @Test func aPasswordIsNotSentTwice() async throws {
        try await withProxy { setup in
            try await setup.plant(
                #"{"kind": "close_after", "match": {"method": "POST", "path": "*/sign_ins"}, "times": 0}"#
            )
            let arguments = [
                "--provider", "clerk", "--base-url", setup.url, "--json", "--password-stdin", "sign-in", "--identifier",
                "ada@example.com",
            ]
            let end = try await BuiltProgram.run("auth-client", arguments, input: "open-sesame-42\n")
            #expect(end.status == 69)
            let passwords = setup.server.requests(method: "POST").filter { $0.fields.contains("password=***") }
            #expect(passwords.count == 1)
            #expect(!setup.program.output.contains("open-sesame-42"))
            _ = try await BuiltProgram.run("http-recover", ["-X", "DELETE", setup.url + "/_sandbox/faults"])
            let again = try await BuiltProgram.run("auth-client", arguments, input: "open-sesame-42\n")
            #expect(again.status == 0)
        }
    }

    @Test func aServerThatIsNotThere() async throws {
        let nobody = try RefusingPort()
        try await withProxy(options: ["--upstream", "http://\(nobody.authority)"]) { setup in
            let end = try await setup.call("--max-attempts", "1")
            #expect(end.status == 22 && end.output.contains("upstream_unreachable"))
            let counted = try await setup.counted("GET /api/items")
            #expect(counted == [1, 0])
        }
    }

    @Test func aSlowServerEndsInTime() async throws {
        var scenario = SandboxScenario.unlimited
        scenario.faults = [SandboxFault(.hang, times: 0)]
        try await withProxy(scenario, options: ["--upstream-timeout", "2"]) { setup in
            let end = try await setup.call("--max-attempts", "1")
            #expect(end.status == 22 && end.output.contains("upstream_timeout"))
            #expect(setup.server.requests().count == 1)
        }
    }

    @Test func faultsOfAScenarioFile() async throws {
        try await withTemporaryDirectory { directory in
            try write(
                #"{"faults": [{"kind": "status", "status": 503, "retry_after": 1}]}"#,
                to: directory + "/scenario"
            )
            try await withProxy(options: ["--scenario", directory + "/scenario"]) { setup in
                let end = try await setup.call()
                #expect(end.status == 0)
                let counted = try await setup.counted("GET /api/items")
                #expect(counted == [2, 1])
            }
        }
    }

    @Test(
        arguments: [
            (["--upstream", "https://api.example.com"], 64, "TLS terminator"),
            (["--upstream", "http://127.0.0.1:1", "--provider", "clerk"], 64, "--provider clerk"),
            (["--upstream", "http://127.0.0.1:1", "--provider", "all"], 64, "--provider all"),
            (["--upstream", "nonsense"], 64, "http://127.0.0.1:8080"), (["--provider", "none"], 64, "--upstream"),
            (["--upstream-host", "x"], 64, "need --upstream"), (["--upstream-timeout", "1"], 64, "need --upstream"),
            (["--upstream", "http://127.0.0.1:1", "--upstream-timeout", "nan"], 64, "--upstream-timeout takes"),
            (["--upstream", "http://127.0.0.1:1", "--upstream-timeout", "0"], 64, "--upstream-timeout takes"),
            (["--upstream", "http://nowhere.invalid"], 69, "cannot look up the upstream nowhere.invalid"),
        ] as [([String], Int32, String)]
    )
    func wrongUsageIsRefused(arguments: [String], status: Int32, reason: String) async throws {
        let end = try await BuiltProgram.run("auth-sandbox", arguments)
        #expect(end.status == status && end.errors.contains(reason) && end.output.isEmpty)
    }
}
