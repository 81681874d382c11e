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
                    Self.speakUnasked(connection)
                    told.yield()
                    break
                }
            }
        }

        /// Returns when the client has given the connection up, as it should; a client that does not is waited for no longer than
        /// it takes to have it told of.
        static func speakUnasked(_ connection: FaultServer.Connection) {
            connection.write(Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8))
            let isLeft = FaultServer.Gate()
            _ = SystemThread.run {
                if connection.read() == nil { isLeft.open() }
            }
            isLeft.wait(milliseconds: 10_000)
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

    /// The answer came early, and the connection was looked at no more while the request's body waited for its source.
    @Test(arguments: [false, true])
    func afterAnUploadThatWasAnsweredEarly(isQueued: Bool) async throws {
        let (events, told) = AsyncStream<Void>.makeStream()
        let mayEnd = FaultServer.Gate()
        let server = try SocketServer(try #require(SocketAddress(listening: "127.0.0.1:0"))) { connection, _ in
            var bytes: [UInt8] = []
            while let more = connection.read() {
                bytes += more
                let text = String(decoding: bytes, as: UTF8.self)
                let isUpload = text.hasPrefix("PUT")
                guard text.hasSuffix(isUpload ? "first\r\n" : "\r\n\r\n") else { continue }
                bytes = []
                connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.id)".utf8))
                guard isUpload else { continue }
                mayEnd.wait()
                connection.write(Array("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n".utf8))
                told.yield()
                // The rest of the upload, and then the end.
                while connection.read() != nil {}
                told.yield()
            }
        }
        let authority = server.address.text
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        #expect(try await transport.fetch(.to(authority)).body == "0", "the connection is a used one")
        let source = ChunkSource()
        source.send("first")
        let body = MessageBody(once: source.stream)
        let response = try await transport.send(.to(authority, .put), body: body, options: AttemptOptions())
        #expect(response.head.status == .ok)
        mayEnd.open()
        for await _ in events.prefix(1) {}
        // It takes the place of the upload in the turn in which that ends.
        let next = Task { isQueued ? try await transport.fetch(.to(authority, .post, "/next")) : nil }
        source.finish()
        #expect(try await response.body.collect(upTo: 10) == Array("0".utf8))
        let (head, text) =
            if let queued = try await next.value { queued } else {
                try await transport.fetch(.to(authority, .post, "/next"))
            }
        #expect(head.status == .ok)
        #expect(text == "1")
        await transport.shutdown()
        server.stop()
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
