#if AsyncHTTPClient
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import NIOCore
import NIOPosix
import ProcessSupport
import Testing

@testable import AsyncHTTPClientTransport

/// Answers that come while the client is in a state that it has no place for.
@Suite(.timeLimit(.minutes(10)))
struct EarlyAnswerTests {
    private static let large = MessageBody([UInt8](repeating: 1, count: 8 << 20))

    /// Whatever becomes of the rest of the request, it was answered.
    @Test(arguments: ["close", "reset"])
    func aSuccessThatIsWholeIsKeptThoughTheServerReadsNoMore(end: String) async throws {
        let gate = FaultServer.Gate()
        let answer = FaultServer.Reply.raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").then(.wait(for: gate))
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { _ in answer.then(end == "close" ? .close : .reset) }
        )
        let transport = AsyncHTTPClientTransport.patient()
        let request = HTTPRequest.to(server.authority, .post)
        let response = try await transport.send(request, body: Self.large, options: AttemptOptions())
        #expect(response.head.status == .ok)
        gate.open()
        #expect(try await response.body.collect(upTo: 9) == Array("ok".utf8))
        // What was left of the connection is in nobody's way.
        #expect(try await transport.send(request, body: nil, options: AttemptOptions()).head.status == .ok)
        await transport.shutdown()
    }

    /// What waits for the request's end goes with its connection.
    @Test
    func nothingIsKeptOfAConnectionThatIsLostMeanwhile() async throws {
        let gate = FaultServer.Gate()
        let answer = FaultServer.Reply.answer(body: "ok").then(.wait(for: gate)).then(.reset)
        let server = try FaultServer(plan: { _ in .answerWithoutReadingBodies }, reply: { _ in answer })
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        weak var kept: LoopPool?
        do {
            let pool = LoopPool(loop: loop, configuration: .init())
            kept = pool
            let request = try EncodedRequest(.to(server.authority, .post), body: Self.large, decompresses: true)
            let transfer = Transfer(request: request, options: AttemptOptions(), pool: pool)
            #expect(try await transfer.head().status == .ok)
            gate.open()
            while try await transfer.nextBytes() != nil {}
            await pool.shutDown()
        }
        // The suite's time limit is against its being kept for good.
        while kept != nil { try await loop.submit {}.get() }
    }

    @Test(.enabled(if: TLSFront.isAvailable), arguments: ["200", "204", "303", "401"], [true, false])
    func aStreamThatIsAnsweredAndResetIsAnswered(status: String, isAtOnce: Bool) async throws {
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.settings)
                    while let frame = HTTP2Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(HTTP2Frame.settingsAck) }
                        guard frame.type == 1 else { continue }
                        let head = HTTP2Frame.headers(frame.stream, status: status, endsStream: true)
                        let reset = HTTP2Frame.reset(frame.stream, code: 0)
                        if isAtOnce {
                            connection.write(head + reset)
                        } else {
                            connection.write(head)
                            connection.write(reset)
                        }
                    }
                }
            },
            reply: { _ in .answer() }
        )
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        for _ in 1...5 {
            let request = HTTPRequest.to(front.authority, .post, scheme: "https")
            do {
                let response = try await transport.fetch(request, Self.large)
                #expect(response.head.status.code == Int(status) && response.body.isEmpty)
            } catch let error as TransportError {
                // SwiftNIO may tell of the reset before it tells of the answer.
                #expect(error.code == .connectionLost && [.unknown, .answered].contains(error.certainty), "\(error)")
            }
        }
        await transport.shutdown()
        withExtendedLifetime(front) {}
    }

    /// The client would take it for an interim response.
    @Test(arguments: ["099", "050", "000"])
    func aStatusThatIsNoneIsNoResponse(status: String) async throws {
        let server = try FaultServer(.raw("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n").then(.stall))
        let error = try await AsyncHTTPClientTransport.patient().failure(.to(server.authority))
        #expect(error.code == .notHTTP && error.certainty == .unknown, "\(error)")
    }

    @Test func aSwitchToAnotherProtocolIsNoResponse() async throws {
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        let server = try FaultServer(.raw(head).then(.stall))
        let error = try await AsyncHTTPClientTransport.patient().failure(.to(server.authority))
        #expect(error.code == .notHTTP && error.certainty == .answered, "\(error)")
    }

    /// A negative one would end the program, and an interim one is never the last.
    @Test(
        .enabled(if: TLSFront.isAvailable),
        arguments: ["000", "050", "099", "20", "1000", "", " ", "-100", "-1", "+20", "+200", "2e2", "100", "103"]
    )
    func aStatusThatIsNoneIsNoResponseOverHTTP2(status: String) async throws {
        let server = try FaultServer.http2 { stream, _ in
            .init(HTTP2Frame.headers(stream, status: status, endsStream: true))
        }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = AsyncHTTPClientTransport.patient(.init(caFile: front.caFile))
        let error = try await transport.failure(.to(front.authority, scheme: "https"))
        #expect([.notHTTP, .connectionLost].contains(error.code), "\(error)")
        withExtendedLifetime(front) {}
    }
}
#endif
