#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// Proxies are used when they are asked for, and never because of the environment.
@Suite(.timeLimit(.minutes(30)))
struct ProxyTests {
    @Test
    func aPlainRequestGoesThroughATunnel() async throws {
        let proxy = try FaultServer { $0.method == "CONNECT" ? .raw("HTTP/1.1 200 OK\r\n\r\n") : .echo($0) }
        let transport = AsyncHTTPClientTransport.patient(.init(proxy: .url("http://user:pass@\(proxy.authority)")))
        _ = try await transport.fetch(.to("origin.example", .get, "/a?b"))
        #expect(proxy.receivedRequests.map(\.path) == ["origin.example:80", "/a?b"])
        let (tunnel, request) = (try #require(proxy.receivedRequests.first), try #require(proxy.receivedRequests.last))
        #expect(tunnel.headers[.proxyAuthorization] == "Basic dXNlcjpwYXNz")
        #expect(request.headers[.proxyAuthorization] == nil)
        #expect(request.headers[.authorization] == nil)
    }

    @Test
    func aTunnelThatIsRefusedSendsNothing() async throws {
        let proxy = try FaultServer(.answer(502).then(.close))
        let transport = AsyncHTTPClientTransport.patient(.init(proxy: .url("http://\(proxy.authority)")))
        let error = try await transport.failure(.to("origin.example", .post, scheme: "https"), MessageBody("x"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(proxy.receivedRequests.map(\.method) == ["CONNECT"])
        #expect(proxy.receivedRequests.map(\.path) == ["origin.example:443"])
    }

    /// Who tries a password again locks an account.
    @Test
    func aPasswordThatAProxyRefusesIsNotTriedAgain() async throws {
        let proxy = try FaultServer(.answer(407, headers: [("Proxy-Authenticate", "Basic")]).then(.close))
        let transport = AsyncHTTPClientTransport.patient(.init(proxy: .url("http://u:wrong@\(proxy.authority)")))
        let error = try await transport.failure(.to("origin.example", scheme: "https"))
        #expect(error.code == .cannotConnect && error.certainty == .neverSent && !error.isTransient, "\(error)")
    }

    @Test
    func aProxyThatIsNotThereSendsNothing() async throws {
        let port = try RefusingPort()
        let transport = AsyncHTTPClientTransport.patient(.init(proxy: .url("http://u:secret@\(port.authority)")))
        let error = try await transport.failure(.to("origin.example"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(!error.description.contains("secret"))
    }

    @Test(arguments: [
        ("https://h:1", nil), ("socks4://h:1", nil), ("socks5://u:secret@h:1", "secret"), ("nonsense", nil),
        ("http://:1", nil), ("http://h:99999", nil),
    ])
    func whatTheClientCannotUseIsAMisconfiguration(url: String, secret: String?) async throws {
        let proxy = AsyncHTTPClientTransport.Proxy.url(url)
        #expect(proxy.problem != nil)
        let error = try await AsyncHTTPClientTransport.patient(.init(proxy: proxy)).failure(.to("origin.example"))
        #expect(error.code == .misconfigured && error.certainty == .neverSent && !error.isTransient)
        for text in [error.description, proxy.description, "\(String(reflecting: proxy))"] {
            #expect(secret.map { !text.contains($0) } ?? true, "\(text)")
        }
    }

    @Test(arguments: ["http://h:1", "http://u:p%40@[::1]:3128/", "socks5h://h", "HTTP://h"])
    func whatTheClientCanUseHasNoProblem(url: String) {
        #expect(AsyncHTTPClientTransport.Proxy.url(url).problem == nil)
    }
}
#endif
