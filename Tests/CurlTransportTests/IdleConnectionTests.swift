import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// What a server says on a connection that nobody uses is never the answer to the next request, however the one before ended.
@Suite(.timeLimit(.minutes(30)))
struct IdleConnectionTests {
    /// Answers the first request of the first connection with `body`, says something unasked on it later, and answers all others
    /// with their number.
    private final class Server: Sendable {
        let answered = FaultServer.Gate()
        let isIdle = FaultServer.Gate()
        /// That it has answered, and that it has spoken unasked.
        let events: AsyncStream<Void>
        let socket: SocketServer

        init(body: String) throws {
            let (answered, isIdle) = (answered, isIdle)
            let (events, told) = AsyncStream<Void>.makeStream()
            self.events = events
            socket = try SocketServer(try #require(SocketAddress(listening: "127.0.0.1:0"))) { connection, _ in
                var head: [UInt8] = []
                var count = 0
                while let bytes = connection.read() {
                    head += bytes
                    guard head.suffix(4) == [13, 10, 13, 10] else { continue }
                    head = []
                    count += 1
                    let isFirst = connection.id == 0 && count == 1
                    Self.answer(connection, isFirst ? body : "\(connection.id) \(count)")
                    guard isFirst else { continue }
                    answered.open()
                    told.yield()
                    isIdle.wait()
                    connection.write(Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8))
                    told.yield()
                }
            }
        }

        private static func answer(_ connection: FaultServer.Connection, _ body: String) {
            connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
        }

        var authority: String { socket.address.text }
    }

    /// Nothing of its connection was ever waited for: the answer was there when libcurl looked for the first time.
    @Test
    func afterAnAnswerThatWasThereAtOnce() async throws {
        let server = try Server(body: "first")
        let path = "/\(server.authority)"
        Interposed.state.withLock { $0.answered[path] = server.answered }
        let transport = CurlTransport.patient()
        let method = try #require(HTTPRequest.Method(rawValue: Interposed.immediate))
        #expect(try await transport.fetch(.to(server.authority, method, path)).body == "first")
        for await _ in server.events.prefix(1) {}
        try await expectNoAnswer(server, transport)
    }

    /// libcurl had taken its connection off when it paused, and the end of the body was there when it went on.
    @Test
    func afterABodyThatEndedBehindAPause() async throws {
        let body = String(repeating: "x", count: 20_000)
        let server = try Server(body: body)
        var configuration = CurlTransport.Configuration()
        configuration.maxBufferedBytes = 4096
        configuration.bufferSize = 4096
        let transport = CurlTransport.patient(configuration)
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        for await _ in server.events.prefix(1) {}
        #expect(try await String(decoding: response.body.collect(upTo: 1 << 20), as: UTF8.self) == body)
        try await expectNoAnswer(server, transport)
    }

    private func expectNoAnswer(_ server: Server, _ transport: CurlTransport) async throws {
        server.isIdle.open()
        for await _ in server.events.prefix(1) {}
        let (head, body) = try await transport.fetch(.to(server.authority, .post, "/next"))
        #expect(head.status == .ok)
        #expect(body == "1 1", "on a connection of its own")
        await transport.shutdown()
        server.socket.stop()
    }
}
