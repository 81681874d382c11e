#if AsyncHTTPClient
import AsyncHTTPClientTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// What the transport learns beside head and body.
@Suite(.timeLimit(.minutes(30)))
struct ReportTests {
    private static func measuring(_ configuration: AsyncHTTPClientTransport.Configuration = .init())
        -> AsyncHTTPClientTransport
    {
        var configuration = configuration
        configuration.reportsMetrics = true
        return .patient(configuration)
    }

    private static func areInOrder(_ times: [Duration?]) -> Bool {
        let known = times.compactMap { $0 }
        return known.count == times.count && known == known.sorted() && known.allSatisfy { $0 > .zero }
    }

    @Test
    func nothingIsMeasuredUnlessItIsAskedFor() async throws {
        let server = try FaultServer(.answer(body: "x"), .reset)
        let transport = AsyncHTTPClientTransport.patient()
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        #expect(response.report == nil)
        #expect(try await transport.failure(.to(server.authority)).metrics == nil)
    }

    @Test
    func aNewAndAUsedConnection() async throws {
        let server = try FaultServer(.answer(body: "hello"))
        let transport = Self.measuring()
        for isUsed in [false, true] {
            let response = try await transport.send(
                .to(server.authority, .post),
                body: MessageBody("four"),
                options: AttemptOptions()
            )
            #expect(try await response.body.collect(upTo: 100).count == 5)
            let metrics = try #require(response.metrics)
            #expect(metrics.isConnectionReused == isUsed)
            #expect(metrics.wireAttempts == 1)
            #expect(Self.areInOrder([metrics.requestStart, metrics.firstByte, metrics.total]), "\(metrics)")
            #expect(metrics.bodyBytesReceived == 5)
            #expect(metrics.bodyBytesSent == 4)
            #expect(metrics.httpVersion == "1.1")
            #expect(metrics.localAddress == "127.0.0.1")
            #expect(metrics.remoteAddress == "127.0.0.1")
            #expect(metrics.remotePort == server.port)
            #expect((metrics.localPort ?? 0) > 0)
        }
        #expect(server.connectionCount == 1)
    }

    @Test(.enabled(if: TLSFront.isAvailable))
    func aStreamIsOnItsConnection() async throws {
        let server = try FaultServer.http2 { stream, _ in .init(HTTP2Frame.ok(stream)) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = Self.measuring(.init(caFile: front.caFile))
        for isUsed in [false, true] {
            let response = try await transport.send(
                .to(front.authority, scheme: "https"),
                body: nil,
                options: AttemptOptions()
            )
            _ = try await response.body.collect(upTo: 100)
            #expect(response.metrics?.isConnectionReused == isUsed)
            #expect(response.metrics?.httpVersion == "2")
            #expect(response.metrics?.remotePort == front.port)
        }
        withExtendedLifetime(front) {}
    }

    @Test
    func anAttemptThatFailsIsMeasuredToo() async throws {
        let server = try FaultServer(.reset, .raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.close))
        let transport = Self.measuring()
        let lost = try await transport.failure(.to(server.authority))
        #expect(lost.code == .connectionLost)
        let first = try #require(lost.metrics)
        #expect(first.connectionsOpened == 1 && first.wireAttempts == 1 && first.remotePort == server.port)
        #expect(first.firstByte == nil)
        #expect(Self.areInOrder([first.requestStart, first.total]), "\(first)")

        let cut = try await transport.failure(.to(server.authority))
        #expect(cut.certainty == .answered)
        #expect(cut.metrics?.bodyBytesReceived == 3)
    }

    @Test
    func fieldsBehindABodyAreKept() async throws {
        let sum = try #require(HTTPField.Name("X-Sum"))
        let gate = FaultServer.Gate()
        let server = try FaultServer(
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
                .then(.wait(for: gate))
                .then(.raw("0\r\nX-Sum: abc\r\nx-two: 1\r\nX-Two: 2\r\n\r\n"))
        )
        let response = try await AsyncHTTPClientTransport.patient()
            .send(.to(server.authority), body: nil, options: AttemptOptions())
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == ArraySlice("hello".utf8))
        #expect(response.trailers == nil)
        gate.open()
        #expect(try await iterator.next() == nil)
        #expect(response.trailers?[sum] == "abc")
        #expect(response.trailers?.map { "\($0.name.rawName)=\($0.value)" } == ["X-Sum=abc", "x-two=1", "X-Two=2"])
        #expect(response.head.headerFields[sum] == nil)
        #expect(response.metrics == nil)
    }
}
#endif
