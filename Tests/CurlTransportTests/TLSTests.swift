import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// TLS with a certificate authority of our own, and HTTP/2 as it is negotiated there.
@Suite(.enabled(if: TLSFront.isAvailable), .timeLimit(.minutes(30)))
struct TLSTests {
    @Test
    func anOwnAuthorityIsTrusted() async throws {
        let server = try FaultServer { .echo($0) }
        let front = try await TLSFront.start(port: server.port)
        let transport = CurlTransport.patient(.init(caFile: front.caFile))
        for _ in 0..<3 {
            let (head, body) = try await transport.fetch(
                .to(front.authority, .post, scheme: "https"),
                MessageBody("hello")
            )
            #expect(head.status == .ok)
            #expect(body.hasSuffix("hello"))
        }
        #expect(server.connectionCount == 1)
        withExtendedLifetime(front) {}
    }

    @Test
    func anUnknownAuthorityIsRejected() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port)
        let other = try await TLSFront.start(port: server.port)
        for configuration in [CurlTransport.Configuration(), .init(caFile: other.caFile)] {
            let transport = CurlTransport.patient(configuration)
            let error = try await transport.failure(.to(front.authority, .post, scheme: "https"), MessageBody("x"))
            #expect(error.code == .certificateRejected)
            #expect(error.certainty == .neverSent)
            #expect(!error.isTransient)
        }
        #expect(server.receivedRequests.isEmpty)
        withExtendedLifetime((front, other)) {}
    }

    @Test
    func anotherNameIsRejectedUnlessVerificationIsOff() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, name: "DNS:elsewhere.example")
        let error = try await CurlTransport.patient(.init(caFile: front.caFile))
            .failure(.to(front.authority, scheme: "https"))
        #expect(error.code == .certificateRejected)
        let trusting = CurlTransport.patient(.init(isCertificateVerificationDisabled: true))
        #expect(try await trusting.fetch(.to(front.authority, scheme: "https")).head.status == .ok)
        withExtendedLifetime(front) {}
    }

    @Test
    func aMissingAuthorityFileIsAMisconfiguration() async throws {
        let server = try FaultServer(.answer())
        let transport = CurlTransport.patient(.init(caFile: "/nonexistent/ca.pem"))
        let error = try await transport.failure(.to(server.authority, scheme: "https"))
        #expect(error.code == .misconfigured)
        #expect(error.certainty == .neverSent)
        #expect(!error.isTransient)
    }

    @Test
    func plainTextIsNotTLS() async throws {
        let server = try FaultServer(
            plan: { _ in .raw { $0.write(Array("hello?\r\n\r\n".utf8)) } },
            reply: { _ in .answer() }
        )
        let error = try await CurlTransport.patient().failure(.to(server.authority, scheme: "https"))
        #expect(error.code == .tlsFailed)
        #expect(error.certainty == .neverSent)
    }

    // MARK: HTTP/2

    /// Answers the first stream of each connection, and does with the second as it is told.
    private static func http2(_ second: @escaping @Sendable (UInt32) -> [UInt8]?) throws -> FaultServer {
        try HTTP2Tests.server { $0 == 1 ? HTTP2Frame.ok($0) : second($0) }
    }

    /// From version 8.19 on libcurl names the refusal.
    ///
    /// 8.14 does not, but its sources leave no other explanation. In 7.88 a frame that HTTP/2 does not allow is another.
    @Test(arguments: ["refused", "past a GOAWAY"])
    func aRefusalOnAUsedConnectionIsNotProcessed(how: String) async throws {
        let server = try Self.http2 {
            how == "refused" ? HTTP2Frame.reset($0, code: 7) : HTTP2Frame.goAway(lastStream: 1)
        }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        #expect(try await transport.fetch(request, MessageBody("x")).head.status == .ok)
        let error = try await transport.failure(request, MessageBody("x"))
        let isKnown = RefusalEvidence.canExclude || Libcurl.number >= 0x081300 || how != "refused"
        #expect(error.certainty == (isKnown ? .notProcessed : .unknown), "\(error)")
        #expect(error.code == (isKnown ? .streamRefused : .connectionLost))
        #expect(server.receivedRequests.map(\.path) == ["/1", "/3"])
        #expect(server.receivedRequests.map(\.connection) == [0, 0])
        withExtendedLifetime(front) {}
    }

    @Test(arguments: ["closed", "cancelled", "failed and gone"])
    func aLossOnAUsedConnectionIsUnknown(how: String) async throws {
        let server = try Self.http2 { stream in
            switch how {
            case "closed": nil
            case "cancelled": HTTP2Frame.reset(stream, code: 8)
            default: HTTP2Frame.reset(stream, code: 2) + HTTP2Frame.goAway(lastStream: stream)
            }
        }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, .post, scheme: "https")
        #expect(try await transport.fetch(request, MessageBody("x")).head.status == .ok)
        let error = try await transport.failure(request, MessageBody("x"))
        #expect(error.certainty == .unknown, "\(error)")
        #expect(server.receivedRequests.count == 2)
        withExtendedLifetime(front) {}
    }

    @Test
    func manyShareOneConnection() async throws {
        let server = try HTTP2Tests.server { HTTP2Frame.ok($0) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask { _ = try await transport.fetch(.to(front.authority, scheme: "https")) }
            }
            try await group.waitForAll()
        }
        #expect(server.receivedRequests.count == 40)
        #expect(server.connectionCount == 1)
        withExtendedLifetime(front) {}
    }
}

/// Proxies are used when they are asked for, and never because of the environment.
@Suite(.timeLimit(.minutes(30)))
struct ProxyTests {
    @Test
    func aPlainRequestGoesThroughInAbsoluteForm() async throws {
        let proxy = try FaultServer { .echo($0) }
        let transport = CurlTransport.patient(.init(proxy: .url("http://user:pass@\(proxy.authority)")))
        _ = try await transport.fetch(.to("origin.example", .get, "/a?b"))
        let request = try #require(proxy.receivedRequests.first)
        #expect(request.path == "http://origin.example/a?b")
        #expect(request.headers[.proxyAuthorization] == "Basic dXNlcjpwYXNz")
        #expect(request.headers[.authorization] == nil)
    }

    @Test
    func aTunnelThatIsRefusedSendsNothing() async throws {
        let proxy = try FaultServer(.answer(502).then(.close))
        let transport = CurlTransport.patient(.init(proxy: .url("http://\(proxy.authority)")))
        let error = try await transport.failure(.to("origin.example", .post, scheme: "https"), MessageBody("x"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(proxy.receivedRequests.map(\.method) == ["CONNECT"])
        #expect(proxy.receivedRequests.map(\.path) == ["origin.example:443"])
    }

    @Test
    func aProxyThatIsNotThereSendsNothing() async throws {
        let port = try RefusingPort()
        let transport = CurlTransport.patient(.init(proxy: .url("http://u:secret@\(port.authority)")))
        let error = try await transport.failure(.to("origin.example"))
        #expect(error.code == .cannotConnect)
        #expect(error.certainty == .neverSent)
        #expect(!error.description.contains("secret"))
    }
}
