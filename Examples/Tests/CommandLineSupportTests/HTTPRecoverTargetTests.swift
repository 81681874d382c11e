import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Where the built program connects to, and what it refuses before anything is sent.
@Suite("http-recover: connections", .timeLimit(.minutes(30)))
struct HTTPRecoverTargetTests {
    private static func run(_ arguments: [String]) async throws -> RunningProgram.Result {
        var result: RunningProgram.Result?
        try await withTemporaryDirectory { result = try await RunningProgram.httpRecover(arguments, in: $0).result() }
        return try #require(result)
    }

    @Test func aNameLeadsElsewhere() async throws {
        let server = try FaultServer { .echo($0) }
        let port = server.port
        for arguments in [
            ["--connect-to", "api.example.com:80:127.0.0.1:\(port)", "http://api.example.com/a"],
            ["--connect-to", "::127.0.0.1:\(port)", "http://api.example.com/a"],
            ["--resolve", "api.example.com:\(port):127.0.0.1", "http://api.example.com:\(port)/a"],
            ["--resolve", "*:\(port):127.0.0.1", "http://api.example.com:\(port)/a"],
            ["--resolve", "+api.example.com:\(port):127.0.0.1", "http://api.example.com:\(port)/a"],
        ] {
            let result = try await Self.run(arguments)
            #expect(result.status == 0)
            #expect(result.output.hasPrefix("GET /a HTTP/1.1\r\nHost: api.example.com"), "\(result.output)")
        }
    }

    @Test func someHostsAreReachedWithoutTheProxy() async throws {
        let server = try FaultServer { .echo($0) }
        let proxy = try FaultServer(.answer(body: "the proxy"))
        let url = "http://\(server.authority)/a"
        let direct = try await Self.run(["--proxy", "http://\(proxy.authority)", "--noproxy", "127.0.0.1", url])
        #expect(direct.output.hasPrefix("GET /a HTTP/1.1"))
        let other = try await Self.run(["--proxy", "http://\(proxy.authority)", "--noproxy", "a.example", url])
        #expect(other.output == "the proxy")
    }

    @Test(arguments: [
        ["--connect-to", "a:1:b"], ["--connect-to", "a:x:b:1"], ["--resolve", "a:1"], ["--resolve", "a:x:b"],
        ["--resolve", "a:80:127.0.0.1,127.0.0.2"],
        ["--pinnedpubkey", "nonsense"], ["--pinnedpubkey", "sha256//AAAA"], ["--pinnedpubkey", ""],
        ["--key-pass-env", "HOME"], ["--tlsv1.2", "--tlsv1.3"],
        ["--unix-socket", String(repeating: "x", count: 200)],
    ])
    func whatCannotBeMeantIsRefused(arguments: [String]) async throws {
        let server = try FaultServer(.answer())
        let result = try await Self.run(arguments + ["http://\(server.authority)/"])
        #expect(result.status == 64, "\(result.errors)")
        #expect(server.connectionCount == 0)
    }

    @Test func aFileThatIsMissingIsRefused() async throws {
        let server = try FaultServer(.answer())
        for arguments in [["--cert", "/nonexistent/c.pem"], ["--cert", "/dev/null", "--key", "/nonexistent/k.pem"]] {
            let result = try await Self.run(arguments + ["http://\(server.authority)/"])
            #expect(result.status == 65)
        }
        #expect(server.connectionCount == 0)
    }
}
