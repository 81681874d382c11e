import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// The ways through a proxy: tunnels, SOCKS, TLS to the proxy itself, and hosts that are reached without it.
@Suite(.timeLimit(.minutes(30)))
struct ProxyWayTests {
    @Test(arguments: ["", "user:pass word@"])
    func socksLeadsToAName(credentials: String) async throws {
        let server = try FaultServer { .echo($0) }
        let login = credentials.isEmpty ? nil : "user:pass word"
        let proxy = try ProxyServer(.socks, credentials: login, target: server.port)
        let user = credentials.isEmpty ? "" : "user:pass%20word@"
        let transport = CurlTransport.patient(.init(proxy: .url("socks5h://\(user)\(proxy.authority)")))
        let (_, body) = try await transport.fetch(.to("origin.example:8080", .post, "/a"), MessageBody("hello"))
        // The name is the proxy's to look up, and the request is the origin's alone.
        #expect(body.hasPrefix("POST /a HTTP/1.1\r\nHost: origin.example:8080\r\n"), "\(body)")
        #expect(!body.lowercased().contains("proxy-"))
        #expect(proxy.asked == ["origin.example:8080 \(login ?? "-")"])
    }

    @Test
    func socksWithoutNamesGetsAnAddress() async throws {
        let server = try FaultServer { .echo($0) }
        let proxy = try ProxyServer(.socks, target: server.port)
        var configuration = CurlTransport.Configuration(proxy: .url("socks5://\(proxy.authority)"))
        configuration.addressFamily = .ipv4
        let transport = CurlTransport.patient(configuration)
        #expect(try await transport.fetch(.to("localhost:81")).head.status == .ok)
        #expect(proxy.asked == ["127.0.0.1:81 -"])
    }

    @Test
    func aProxyIsAskedForTheURLAsItIs() async throws {
        let proxy = try FaultServer { .echo($0) }
        let transport = CurlTransport.patient(.init(proxy: .url("http://127.0.0.1:\(proxy.port)")))
        for path in ["/a", "/a?b?", "/%2f%2F?%c3", "/"] {
            let (_, body) = try await transport.fetch(.to("origin.example:81", .get, path + "#fragment?"))
            #expect(body.hasPrefix("GET http://origin.example:81\(path) HTTP/1.1\r\n"), "\(body)")
        }
    }

    /// Who is no proxy for HTTP is asked for the path, which newer versions of libcurl would change.
    @Test
    func onlyAProxyIsAskedForTheURL() async throws {
        let server = try FaultServer { .echo($0) }
        let socks = try ProxyServer(.socks, target: server.port)
        let tunnel = try ProxyServer(.connect, target: server.port)
        let direct = CurlTransport.Proxy.url("http://127.0.0.1:1", except: ["127.0.0.1"])
        let ways: [(CurlTransport.Proxy, path: String)] = [
            (.none, "/%2f?"), (.url(""), "/%2f?"), (.url("SOCKS5h://\(socks.authority)"), "/%2f?"), (direct, "/%2F"),
        ]
        for (proxy, path) in ways {
            let transport = CurlTransport.patient(.init(proxy: proxy))
            for path in [path, "/a"] {
                let (_, body) = try await transport.fetch(.to(server.authority, .get, path))
                #expect(body.hasPrefix("GET \(path) HTTP/1.1\r\n"), "\(body)")
            }
        }
        // What leads elsewhere is led through a tunnel.
        var configuration = CurlTransport.Configuration(proxy: .url("http://\(tunnel.authority)"))
        configuration.connectionOverrides = [.init(from: "origin.example:81", to: "other.example:82")]
        let transport = CurlTransport.patient(configuration)
        let (_, body) = try await transport.fetch(.to("origin.example:81", .get, "/%2F"))
        #expect(body.hasPrefix("GET /%2F HTTP/1.1\r\n"), "\(body)")
        #expect(tunnel.asked == ["other.example:82 -"])
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func aTunnelLeadsToTLS() async throws {
        let server = try FaultServer { .echo($0) }
        let front = try await TLSFront.start(port: server.port, name: "DNS:origin.example")
        let proxy = try ProxyServer(.connect, credentials: "user:pass", target: front.port)
        let transport = CurlTransport.patient(
            .init(proxy: .url("http://user:pass@\(proxy.authority)"), caFile: front.caFile)
        )
        for _ in 0..<2 {
            let request = HTTPRequest.to("origin.example", .post, "/a", scheme: "https")
            let (_, body) = try await transport.fetch(request, MessageBody("hello"))
            #expect(body.hasPrefix("POST /a HTTP/1.1\r\nHost: origin.example\r\n"), "\(body)")
            #expect(!body.lowercased().contains("proxy-"))
        }
        #expect(proxy.asked == ["origin.example:443 Basic dXNlcjpwYXNz"], "the tunnel is used again")
        withExtendedLifetime(front) {}
    }

    @Test(arguments: ["http", "socks5h"])
    func credentialsThatAreRefusedAreNotTold(scheme: String) async throws {
        let server = try FaultServer(.answer())
        let kind: ProxyServer.Kind = scheme == "http" ? .connect : .socks
        let proxy = try ProxyServer(kind, credentials: "user:right", target: server.port)
        let client = RecoveringClient(
            transport: CurlTransport.patient(.init(proxy: .url("\(scheme)://me:wr0ng@\(proxy.authority)")))
        )
        let recorder = EventRecorder(client.runtime.events)
        var options = RequestOptions()
        options.resend = .spending
        let error = try await #require(throws: RecoveryError.self) {
            let request = HTTPRequest.to("origin.example", .post, scheme: "https")
            return try await client.send(request, body: MessageBody("x"), options: options)
        }
        let cause = try #require(error.outcome.transportError)
        #expect(cause.certainty == .neverSent)
        #expect(cause.code == .cannotConnect)
        // Who tries a password again locks an account.
        #expect(!cause.isTransient)
        #expect(proxy.asked.count <= 1 && proxy.connectionCount == 1)
        let told = ["\(error)", String(reflecting: error), "\(cause)"] + recorder.events.map { "\($0)" }
        for text in told { #expect(!text.contains("wr0ng") && !text.contains("bWU6")) }
        #expect(server.receivedRequests.isEmpty)
    }

    @Test(arguments: [
        (400, false), (403, false), (404, false), (407, false), (408, true), (429, true), (500, true), (502, true),
        (503, true),
    ])
    func aRefusedTunnelIsTriedAgainWhereThatCanHelp(status: Int, isTransient: Bool) async throws {
        let proxy = try FaultServer(.answer(status).then(.close))
        let transport = CurlTransport.patient(.init(proxy: .url("http://\(proxy.authority)")))
        let error = try await transport.failure(.to("origin.example", .post, scheme: "https"), MessageBody("x"))
        #expect(error.code == .cannotConnect && error.certainty == .neverSent)
        #expect(error.isTransient == isTransient, "\(error)")
        #expect(proxy.receivedRequests.map(\.method) == ["CONNECT"])
    }

    /// libcurl reads what stands behind a refusal in one go; others on the loop must not wait for that, nor must the time.
    @Test(arguments: ["Content-Length: 99999999999", "Transfer-Encoding: chunked", "Connection: close"])
    func aRefusalWithoutEndHoldsNobodyUp(framing: String) async throws {
        let proxy = try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read() != nil,
                        connection.write(Array("HTTP/1.1 407 No\r\n\(framing)\r\n\r\n".utf8))
                    else { return }
                    let piece = Array("8000\r\n".utf8) + [UInt8](repeating: 0x61, count: 32_768) + Array("\r\n".utf8)
                    while connection.write(piece) {}
                }
            },
            reply: { _ in .stall }
        )
        let server = try FaultServer(.answer(body: "direct"))
        let transport = CurlTransport.patient(
            .init(proxy: .url("http://\(proxy.authority)", except: ["127.0.0.1"]))
        )
        async let refused = transport.failure(.to("origin.example", .post, scheme: "https"), MessageBody("x"))
        for _ in 0..<20 { #expect(try await transport.fetch(.to(server.authority)).body == "direct") }
        let error = try await refused
        #expect(error.code == .cannotConnect && error.certainty == .neverSent && !error.isTransient, "\(error)")
        await transport.shutdown()
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func aProxyMayBeReachedOverTLS() async throws {
        let proxy = try FaultServer { .echo($0) }
        let front = try await TLSFront.start(port: proxy.port)
        let pem = try await MessageBody(file: front.caFile).collect(upTo: 1 << 20)
        let authorities: [CurlTransport.TLS.Authorities] = [.file(front.caFile), .certificates(pem)]
        for authorities in authorities {
            let transport = CurlTransport.patient(
                .init(proxy: .url("HTTPS://user:pass@\(front.authority)"), tls: .init(authorities: authorities))
            )
            let (_, body) = try await transport.fetch(.to("origin.example", .get, "/a"))
            #expect(body.hasPrefix("GET http://origin.example/a HTTP/1.1\r\n"), "\(body)")
        }
        let stranger = CurlTransport.patient(.init(proxy: .url("https://\(front.authority)")))
        let error = try await stranger.failure(.to("origin.example"))
        #expect(error.code == .certificateRejected)
        #expect(error.certainty == .neverSent)
        withExtendedLifetime(front) {}
    }

    @Test(arguments: [
        (["127.0.0.1"], true), (["*"], true), (["127.0.0.0/8"], true), (["other.example", "127.0.0.1"], true),
        (["*", "other.example"], true), (["other.example", "*"], true),
        ([], false), (["127.0.0.2"], false), (["0.0.1"], false), (["10.0.0.0/8"], false),
    ])
    func someHostsAreReachedWithoutIt(hosts: [String], isDirect: Bool) async throws {
        let server = try FaultServer { .echo($0) }
        let proxy = try FaultServer { .echo($0) }
        let transport = CurlTransport.patient(.init(proxy: .url("http://\(proxy.authority)", except: hosts)))
        let (_, body) = try await transport.fetch(.to(server.authority, .get, "/a"))
        let target = isDirect ? "/a" : "http://\(server.authority)/a"
        #expect(body.hasPrefix("GET \(target) HTTP/1.1\r\n"), "\(body)")
        #expect((server.connectionCount, proxy.connectionCount) == (isDirect ? (1, 0) : (0, 1)))
    }

    @Test
    func namesBelowAreMeantToo() async throws {
        let proxy = try FaultServer(.answer())
        let server = try FaultServer(.answer())
        var configuration = CurlTransport.Configuration(
            proxy: .url("http://\(proxy.authority)", except: ["example.com"])
        )
        configuration.connectionOverrides = [.init(from: "api.example.com", to: server.authority)]
        let transport = CurlTransport.patient(configuration)
        _ = try await transport.fetch(.to("api.example.com"))
        #expect(server.receivedRequests.count == 1)
        _ = try await transport.fetch(.to("notexample.com"))
        #expect(proxy.receivedRequests.map(\.path) == ["http://notexample.com/"])
    }

    @Test(arguments: ["ftp://127.0.0.1:1", "gopher://x"])
    func anUnknownSchemeIsAMisconfiguration(url: String) async throws {
        let error = try await CurlTransport.patient(.init(proxy: .url(url))).failure(.to("origin.example"))
        #expect(error.code == .misconfigured || error.code == .cannotConnect, "\(error)")
        #expect(error.certainty == .neverSent)
    }
}
