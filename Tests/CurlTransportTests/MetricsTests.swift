import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// What is measured of an attempt, if somebody asks for it.
@Suite(.timeLimit(.minutes(30)))
struct MetricsTests {
    private static func transport(_ configuration: CurlTransport.Configuration = .init()) -> CurlTransport {
        var configuration = configuration
        configuration.reportsMetrics = true
        return CurlTransport.patient(configuration)
    }

    /// Whether each time is there and none is before the one in front of it.
    private static func areInOrder(_ times: [Duration?]) -> Bool {
        let known = times.compactMap { $0 }
        return known.count == times.count && known == known.sorted() && known.allSatisfy { $0 > .zero }
    }

    @Test
    func nothingIsMeasuredUnlessItIsAskedFor() async throws {
        let server = try FaultServer(.answer(body: "x"))
        let response = try await CurlTransport.patient()
            .send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(response.metrics == nil)
        #expect(response.report == nil)
    }

    @Test
    func aNewAndAUsedConnection() async throws {
        let server = try FaultServer(.answer(body: "hello"))
        let transport = Self.transport()
        for isUsed in [false, true] {
            let response = try await transport.send(
                .to(server.authority, .post),
                body: MessageBody("four"),
                options: AttemptOptions()
            )
            #expect(try await response.body.collect(upTo: 100).count == 5)
            let metrics = try #require(response.metrics)
            #expect(metrics.isConnectionReused == isUsed)
            #expect(metrics.connectionsOpened == (isUsed ? 0 : 1))
            #expect(metrics.wireAttempts == 1)
            #expect(metrics.waited != nil)
            if isUsed {
                #expect(metrics.nameLookup == nil)
                #expect(metrics.connect == nil)
            } else {
                #expect(Self.areInOrder([metrics.nameLookup, metrics.connect, metrics.requestStart]), "\(metrics)")
            }
            #expect(Self.areInOrder([metrics.requestStart, metrics.firstByte, metrics.total]), "\(metrics)")
            #expect(metrics.tlsHandshake == nil)
            #expect(metrics.bodyBytesReceived == 5)
            #expect(metrics.bodyBytesSent == 4)
            #expect(metrics.httpVersion == "1.1")
            #expect(metrics.localAddress == "127.0.0.1")
            #expect(metrics.remoteAddress == "127.0.0.1")
            #expect(metrics.remotePort == server.port)
            #expect((metrics.localPort ?? 0) > 0)
        }
    }

    @Test
    func theEndIsKnownWhenTheBodyHasEnded() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc").then(.wait(for: gate)).then(.raw("def"))
        )
        let response = try await Self.transport().send(.to(server.authority), body: nil, options: AttemptOptions())
        let early = try #require(response.metrics)
        #expect(early.firstByte != nil)
        #expect(early.total == nil)
        gate.open()
        #expect(try await response.body.collect(upTo: 100).count == 6)
        let late = try #require(response.metrics)
        #expect(Self.areInOrder([late.firstByte, late.total]))
        #expect(late.bodyBytesReceived == 6)
        #expect(late.connectionsOpened == 1)
    }

    @Test
    func aCompressedBodyCountsAsItCame() async throws {
        let bytes = Zlib.zeros(runs: 1000)
        let server = try FaultServer(.answer(headers: [("Content-Encoding", "deflate")], bytes: bytes))
        let response = try await Self.transport().send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(try await response.body.collect(upTo: 1 << 20).count == 258_001)
        #expect(response.metrics?.bodyBytesReceived == bytes.count)
    }

    @Test
    func theWaitForAPlaceIsMeasured() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { $0.path == "/first" ? .wait(for: gate).then(.answer()) : .answer() }
        let transport = Self.transport(.init(maxConnectionsPerOrigin: 1))
        async let first = transport.send(.to(server.authority, .get, "/first"), body: nil, options: AttemptOptions())
        _ = try await server.requests(count: 1)
        let begin = ContinuousClock.now
        async let second = transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        // Whatever the machine does meanwhile, the second cannot begin before the gate is open.
        for _ in 0..<100 { await Task.yield() }
        gate.open()
        _ = try await first
        let waited = try #require(try await second.metrics?.waited)
        #expect(waited > .zero)
        #expect(waited <= begin.duration(to: .now))
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func theHandshakeIsMeasured() async throws {
        let server = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port)
        let transport = Self.transport(.init(caFile: front.caFile))
        let response = try await transport.send(.to(front.authority, scheme: "https"), body: nil, options: .init())
        let metrics = try #require(response.metrics)
        #expect(Self.areInOrder([metrics.connect, metrics.tlsHandshake, metrics.requestStart]), "\(metrics)")
        withExtendedLifetime(front) {}
    }

    @Test
    func theVersionIsThatInUse() async throws {
        let server = try HTTP2Tests.server { HTTP2Frame.ok($0) }
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        let response = try await Self.transport(configuration)
            .send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(response.metrics?.httpVersion == "2")
    }

    @Test
    func theyReachTheCallerOfTheLastAttempt() async throws {
        let server = try FaultServer(.answer(503, headers: [("Retry-After", "0")]), .answer(body: "hello"))
        let client = RecoveringClient.patient(Self.transport())
        let response = try await client.send(.to(server.authority))
        #expect(response.history.attempts.count == 2)
        #expect(response.metrics?.bodyBytesReceived == 5)
        #expect(response.metrics?.isConnectionReused == true)
        #expect(response.metrics?.total != nil)
    }

    /// libcurl opens another connection to send it again, which is prevented.
    @Test
    func aUsedConnectionThatDiesIsAUsedOne() async throws {
        let server = try FaultServer { $0.method == "GET" ? .answer() : .close }
        let transport = Self.transport()
        let first = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        _ = try await first.body.collect(upTo: 100)
        let lost = try await transport.failure(.to(server.authority, .post), MessageBody("x"))
        #expect(lost.code == .connectionLost)
        #expect(lost.metrics?.isConnectionReused == true)
        #expect(lost.metrics?.localPort == first.metrics?.localPort)
        #expect(lost.metrics?.wireAttempts == 1)
    }

    @Test
    func anAttemptThatFailsIsMeasuredToo() async throws {
        let server = try FaultServer(.reset, .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.close))
        let transport = Self.transport()
        let lost = try await transport.failure(.to(server.authority))
        #expect(lost.code == .connectionLost)
        let first = try #require(lost.metrics)
        #expect(first.connectionsOpened == 1 && first.wireAttempts == 1 && first.remotePort == server.port)
        #expect(first.firstByte == nil)
        #expect(Self.areInOrder([first.connect, first.requestStart, first.total]), "\(first)")

        let cut = try await transport.failure(.to(server.authority))
        #expect(cut.code == .truncated)
        #expect(cut.metrics?.bodyBytesReceived == 3)
        #expect(cut.metrics?.firstByte != nil)

        let port = try RefusingPort()
        let refused = try await transport.failure(.to(port.authority))
        #expect(refused.code == .cannotConnect)
        #expect(refused.metrics?.wireAttempts == 0)
        #expect(refused.metrics?.isConnectionReused == nil, "there was none")
        #expect(try await CurlTransport.patient().failure(.to(port.authority)).metrics == nil)
        withExtendedLifetime(port) {}
    }
}
