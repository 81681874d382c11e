import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// Secrets that options need can be told without standing where every process of the machine can read them.
@Suite("Secrets from the environment", .timeLimit(.minutes(30)), .bounded)
struct EnvironmentOptionTests {
    private static let secret = "s3cret-of-the-store"

    private static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> (end: BuiltProgram.End, events: String) {
        var result: (BuiltProgram.End, String)?
        try await withTemporaryDirectory { directory in
            let end = try await BuiltProgram(
                program,
                ["--events", directory + "/events", "--verbose"] + arguments,
                in: directory,
                environment: environment
            ).end()
            result = (end, contents(of: directory + "/events"))
        }
        return try #require(result)
    }

    @Test func theStateOfHTTPRecover() async throws {
        let server = try FaultServer(.answer())
        let url = "redis://user:\(Self.secret)@127.0.0.1:1"
        for (options, environment) in [
            (["--state-env", "TEST_STATE"], ["TEST_STATE": url]), (["--state", url], [:]),
        ] {
            let run = try await Self.run(
                "http-recover",
                options + ["http://\(server.authority)/"],
                environment: environment
            )
            #expect(run.end.status == 0, "\(run.end.errors)")
            #expect(run.end.errors.contains("cannot be reached"))
            #expect(!(run.end.errors + run.end.output + run.events).contains(Self.secret))
        }
    }

    @Test func theStateOfAuthClient() async throws {
        let server = try FaultServer(.answer(503))
        let url = "redis://user:\(Self.secret)@127.0.0.1:1"
        let run = try await Self.run(
            "auth-client",
            [
                "--provider", "clerk", "--base-url", "http://\(server.authority)", "--no-token-file", "--state-env",
                "TEST_STATE", "sign-in", "--identifier", "ada", "--password-stdin",
            ],
            environment: ["TEST_STATE": url]
        )
        #expect(!run.end.errors.contains("Usage"), "\(run.end.errors)")
        #expect(!(run.end.errors + run.end.output + run.events).contains(Self.secret))
    }

    @Test func theProxy() async throws {
        let proxy = try FaultServer { .echo($0) }
        for (options, environment) in [
            (["--proxy-env", "TEST_PROXY"], ["TEST_PROXY": "http://user:\(Self.secret)@\(proxy.authority)"]),
            (["--proxy", "http://user:\(Self.secret)@\(proxy.authority)"], [:]),
        ] {
            let run = try await Self.run(
                "http-recover",
                options + ["http://elsewhere.invalid/"],
                environment: environment
            )
            #expect(run.end.status == 0, "\(run.end.errors)")
            // The proxy's answer is the request as it came.
            #expect(run.end.output.hasPrefix("GET http://elsewhere.invalid/"))
            #expect(run.end.output.lowercased().contains("proxy-authorization: basic "))
            #expect(!(run.end.errors + run.events).contains(Self.secret))
        }
    }

    @Test(arguments: [
        ("--proxy", "http://user:\(secret)@127.0.0.1:1"), ("--proxy", "socks5://user:\(secret)@127.0.0.1:1"),
    ])
    func aProxyThatIsNotThereIsToldWithoutItsPassword(option: String, url: String) async throws {
        let run = try await Self.run("http-recover", [option, url, "--backoff", "0,0", "http://elsewhere.invalid/"])
        #expect(run.end.status == 7)
        #expect(!(run.end.errors + run.events).contains(Self.secret))
    }

    @Test(arguments: [
        ["--state-env", "NO_SUCH_VARIABLE_HERE"], ["--proxy-env", "NO_SUCH_VARIABLE_HERE"],
        ["--state-env", "TEST_VALUE", "--state", "memory"], ["--proxy-env", "TEST_VALUE", "--proxy", "http://h"],
        ["--state-env", "TEST_VALUE"], ["--proxy-env", "TEST_VALUE"],
    ])
    func whatIsWrongIsToldWithoutTheValue(options: [String]) async throws {
        let server = try FaultServer(.answer())
        let run = try await Self.run(
            "http-recover",
            options + ["http://\(server.authority)/"],
            environment: ["TEST_VALUE": Self.secret]
        )
        #expect(run.end.status == 64)
        #expect(run.end.errors.hasPrefix("Error: "))
        #expect(run.end.errors.contains(options[0]))
        #expect(!run.end.errors.contains(Self.secret))
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["http-recover", "auth-client"])
    func theHelpSaysSo(program: String) async throws {
        let end = try await BuiltProgram.run(program, ["--help"])
        #expect(end.output.contains("--state-env"))
        #expect(end.output.contains("--proxy-env"))
    }
}
