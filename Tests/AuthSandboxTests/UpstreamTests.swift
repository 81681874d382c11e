import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@testable import AuthSandbox

@Suite("Upstreams and what is sent to them")
struct UpstreamTests {
    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, "", "127.0.0.1:8080"),
        ("HTTP://example.com", "example.com", 80, "", "example.com"),
        ("http://example.com/", "example.com", 80, "", "example.com"),
        ("http://[::1]:81/a/b//", "::1", 81, "/a/b", "[::1]:81"),
        ("http://[::1]/a", "::1", 80, "/a", "[::1]"),
        ("http://localhost:65535/a%20b", "localhost", 65535, "/a%20b", "localhost:65535"),
    ])
    func areRead(url: String, name: String, port: Int, prefix: String, host: String) throws {
        let upstream = try SandboxUpstream(url)
        #expect(upstream.name == name && upstream.port == port && upstream.prefix == prefix && upstream.host == host)
        #expect(upstream.timeoutMilliseconds == 30_000)
        #expect(try SandboxUpstream(upstream.url) == upstream)
    }

    @Test(arguments: [
        ("", "such as http://127.0.0.1:8080"), ("example.com", "such as http"), ("ftp://x", "plain HTTP"),
        ("https://api.example.com", "TLS terminator"), ("HTTPS://x", "TLS terminator"), ("http://", "is not a host"),
        ("http://:80", "is not a host"), ("http://x:", "is not a host"), ("http://x:0", "is not a host"),
        ("http://x:65536", "is not a host"), ("http://x:8x", "is not a host"), ("http://::1", "is not a host"),
        ("http://[::1", "is not a host"), ("http://[x]", "is not a host"), ("http://[::1]x", "is not a host"),
        ("http://me:secret@x", "password cannot stand"), ("http://x/?a", "no query"), ("http://x/#a", "no query"),
        ("http://x/a b", "blanks"), ("http://x/\r\nA: b", "blanks"), ("http://é", "not ASCII"),
    ])
    func areRefused(url: String, reason: String) {
        #expect {
            try SandboxUpstream(url)
        } throws: { error in
            (error as? SandboxError).map { $0.code == .invalidInput && $0.message.contains(reason) } ?? false
        }
    }

    @Test(arguments: [
        (Duration.zero, Int64(1)), (.milliseconds(-5), 1), (.milliseconds(1500), 1500),
        (.seconds(1_000_000), 86_400_000),
    ])
    func timesAreBounded(timeout: Duration, milliseconds: Int64) throws {
        #expect(try SandboxUpstream("http://x", timeout: timeout).timeoutMilliseconds == milliseconds)
    }

    @Test(arguments: ["", "a b", "a\r\nB: c", "é"])
    func hostsThatAreNone(host: String) {
        #expect(throws: SandboxError.self) { try SandboxUpstream("http://x", host: host) }
    }

    @Test func addressesComeFromTheSystem() throws {
        #expect(try SocketAddress.resolve("127.0.0.1", port: 81).get().map(\.text) == ["127.0.0.1:81"])
        #expect(try SocketAddress.resolve("::1", port: 82).get().map(\.text) == ["[::1]:82"])
        let error = #expect(throws: SandboxError.self) {
            try AuthSandbox(providers: [], upstream: try SandboxUpstream("http://nowhere.invalid:1"))
        }
        #expect(error?.code == .cannotResolve && error?.message.contains("nowhere.invalid") == true)
    }

    private func text(
        _ method: String,
        _ target: String,
        _ headers: [(String, String)] = [],
        body: String = "",
        upstream: String = "http://up:81/p"
    ) throws -> String {
        let request = SandboxRequest(
            method: method,
            target: target,
            headers: headers.map { .init(name: $0.0, value: $0.1) },
            body: Array(body.utf8)
        )
        let bytes = try UpstreamRequest.bytes(of: request, to: SandboxUpstream(upstream)).get()
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("/", "http://up", "GET / "), ("/a?b=%20c", "http://up", "GET /a?b=%20c "),
        ("/a?", "http://up/p", "GET /p/a? "),
        ("/a//b%2Fc", "http://up/p", "GET /p/a//b%2Fc "), ("?x", "http://up", "GET /?x "), ("*", "http://up", "GET * "),
        ("http://other:1/a?b", "http://up/p", "GET /p/a?b "), ("http://other?b=/c", "http://up", "GET /?b=/c "),
    ])
    func targets(target: String, upstream: String, beginning: String) throws {
        #expect(try text("GET", target, upstream: upstream).hasPrefix(beginning + "HTTP/1.1\r\nhost: up\r\n"))
    }

    @Test func fieldsOfTheConnectionStayBehind() throws {
        let sent = try text(
            "POST",
            "/a",
            [
                ("host", "sandbox"), ("connection", "keep-alive, X-Hop"), ("x-hop", "1"), ("keep-alive", "5"),
                ("te", "x"),
                ("transfer-encoding", "chunked"), ("expect", "100-continue"), ("upgrade", "h2c"), ("trailer", "T"),
                ("proxy-authorization", "Basic x"), ("proxy-connection", "close"), ("cookie", "a=1"), ("cookie", "b=2"),
                ("authorization", "Bearer x"), ("x-line", "a\rb\0c"),
            ],
            body: "abc"
        )
        #expect(
            sent == """
                POST /p/a HTTP/1.1\r\nhost: up:81\r\ncookie: a=1\r\ncookie: b=2\r\nauthorization: Bearer x\r\n\
                x-line: a b c\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabc
                """
        )
    }

    @Test(arguments: [([("content-length", "0")], true), ([("transfer-encoding", "chunked")], true), ([], false)])
    func emptyBodies(headers: [(String, String)], isStated: Bool) throws {
        #expect(try text("POST", "/", headers).contains("content-length: 0\r\n") == isStated)
    }

    @Test(arguments: [("CONNECT", "x:443", 501), ("GET", "x:443", 400)])
    func whatIsNotForwarded(method: String, target: String, status: Int) throws {
        let failure = #expect(throws: UpstreamFailure.self) { try text(method, target) }
        #expect(failure?.code == .notForwarded && failure?.response.status == status)
    }
}
