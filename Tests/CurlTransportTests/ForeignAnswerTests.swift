import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// What is in a socket when libcurl closes it is the answer to the request that went out on it, and to no other; and only where
/// nobody but the server can have written it.
@Suite(.timeLimit(.minutes(30)))
struct ForeignAnswerTests {
    // MARK: Below TLS

    /// Somebody on the way, who carries bytes in both directions, and writes what is forged once the server has the request.
    private static func relay(to port: Int, forges: FaultServer.Gate) throws -> SocketServer {
        try SocketServer(try #require(SocketAddress(listening: "127.0.0.1:0"))) { connection, _ in
            guard let address = SocketAddress(listening: "127.0.0.1:\(port)"), let socket = try? address.connect()
            else { return }
            _ = fcntl(socket, F_SETFL, 0)
            let done = FaultServer.Gate()
            _ = SystemThread.run {
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while case let count = unsafe read(socket, &buffer, buffer.count), count > 0 {
                    connection.write(Array(buffer[..<count]))
                }
                done.open()
            }
            _ = SystemThread.run {
                forges.wait()
                // No record of TLS, of which five bytes are read to see that.
                connection.write(Array("AAAAAHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nFORGED".utf8))
            }
            while let bytes = connection.read() {
                guard unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { break }
            }
            _ = shutdown(socket, Int32(SHUT_RDWR))
            done.wait()
            close(socket)
        }
    }

    @Test(.enabled(if: TLSFront.isAvailable), arguments: [false, true])
    func whoIsOnTheWayCannotAnswerForAServerOrAProxyWithTLS(isProxy: Bool) async throws {
        let server = try FaultServer(.stall)
        let front = try await TLSFront.start(port: server.port)
        let forges = FaultServer.Gate()
        let relay = try Self.relay(to: front.port, forges: forges)
        var configuration = CurlTransport.Configuration(caFile: front.caFile)
        if isProxy { configuration.proxy = .url("https://\(relay.address.text)") }
        let transport = CurlTransport.patient(configuration)
        let request = HTTPRequest.to(
            isProxy ? "x.example" : relay.address.text,
            .post,
            scheme: isProxy ? "http" : "https"
        )
        async let failure = transport.failure(request, MessageBody("amount=1"))
        _ = try await server.requests(count: 1)
        forges.open()
        let error = try await failure
        #expect(error.certainty == .unknown, "\(error)")
        await transport.shutdown()
        relay.stop()
        withExtendedLifetime(front) {}
    }

    /// The session's word, that nothing more comes, is missing; of the saved answer it is told as of any other.
    @Test(.enabled(if: TLSFront.isAvailable))
    func aCutBodyIsNeverWhole() async throws {
        let front = try await TLSFront.start(
            port: 1,
            settings: #"early = b"HTTP/1.1 413 No\r\nConnection: close\r\n\r\nhalf of the bo""#
        )
        let transport = CurlTransport.patient(.init(caFile: front.caFile))
        for _ in 0..<100 {
            let body = MessageBody([UInt8](repeating: 0x78, count: 1 << 20))
            let error = try await transport.failure(.to(front.authority, .post, scheme: "https"), body)
            #expect(error.certainty == .answered || error.certainty == .unknown)
        }
        withExtendedLifetime(front) {}
        await transport.shutdown()
    }

    // MARK: Of another's connection

    private static let piece = 777_344
    /// As long as what libcurl takes at a time, and something behind it.
    private static let answerAndMore: [UInt8] = {
        let head = "HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 16317\r\n\r\n"
        let more = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
        return Array((head + String(repeating: "e", count: 16_384 - head.utf8.count) + more).utf8)
    }()

    /// The connection from which a saved answer is read is closed with something left on it.
    @Test
    func whatIsBehindASavedAnswerIsNobodys() async throws {
        let victims = try FaultServer(.stall)
        let loop = try #require(EventLoop(configuration: Self.configuration.normalized()))
        let victim = try Self.make(.to(victims.authority, .post), MessageBody("amount=1"), loop)
        await Task(executorPreference: loop) { loop.admit(victim) }.value
        _ = try await victims.requests(count: 1)
        var saved = 0
        for _ in 0..<100 where saved < 3 {
            if try await isSaved(on: loop) { saved += 1 }
            #expect(await Task(executorPreference: loop) { victim.unread == nil }.value)
        }
        #expect(saved == 3)
        await loop.stop()
        #expect(!victim.facts.sawStatus)
    }

    private static let configuration = CurlTransport.Configuration(httpVersion: .http1, bufferSize: piece)

    private static func make(_ request: HTTPRequest, _ body: MessageBody?, _ loop: EventLoop) throws -> Transfer {
        let request = try EncodedRequest(request, body: body, decompresses: false)
        return Transfer(request: request, deadline: Monotonic.never, loop: loop)
    }

    /// One upload that is answered early; false if the answer was read where it came.
    private func isSaved(on loop: EventLoop) async throws -> Bool {
        let isReset = FaultServer.Gate()
        defer { isReset.open() }
        Interposed.state.withLock { $0.heldPieces[Self.piece] = isReset }
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    _ = connection.read()
                    connection.write(Self.answerAndMore)
                    connection.reset()
                    isReset.open()
                }
            },
            reply: { _ in .stall }
        )
        let body = MessageBody([UInt8](repeating: 0x78, count: 2 * Self.piece + 1))
        let upload = try Self.make(.to(server.authority, .post), body, loop)
        return await Task(executorPreference: loop) {
            loop.admit(upload)
            while !upload.shared.withLock({ $0.isOver }) { await Task.yield() }
            return upload.sendFailure != nil
        }.value
    }

    // MARK: Of two connections with one port

    /// Linux gives a port to several connections, if they are to different peers.
    @Test
    func connectionsWithOneLocalPortAreToldApart() throws {
        let listeners = try ["127.0.0.1:0", "127.0.0.2:0"].map { address in
            try SocketServer(try #require(SocketAddress(listening: address))) { connection, _ in
                while connection.read() != nil {}
            }
        }
        defer { for listener in listeners { listener.stop() } }
        var port: UInt16 = 0
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        for listener in listeners {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            sockets.append(client)
            var one: Int32 = 1
            _ = unsafe setsockopt(client, SOL_SOCKET, SO_REUSEADDR, &one, 4)
            try unsafe Self.call(bind, client, "127.0.0.1", port)
            let peer = listener.address.text.split(separator: ":")
            try unsafe Self.call(connect, client, String(peer[0]), try #require(UInt16(peer[1])))
            port = UInt16(try #require(ConnectionLedger.ends(of: client)).localPort)
        }
        var ledger = ConnectionLedger()
        for socket in sockets { ledger.opened(socket) }
        let ends = try sockets.map { try #require(ConnectionLedger.ends(of: $0)) }
        #expect(ends[0].localPort == ends[1].localPort)
        #expect(ends.map(\.peerAddress) == ["127.0.0.1", "127.0.0.2"])
        // Whichever is thought likely.
        #expect(ledger.socket(of: ends[1], likely: sockets[0]) == sockets[1])
        #expect(ledger.socket(of: ends[0], likely: -1) == sockets[0])
        ledger.goAway(sockets[0], lastStream: 3)
        #expect(ledger.lastStream(of: sockets[1]) == nil)
        ledger.closed(sockets[0])
        #expect(ledger.socket(of: ends[0], likely: sockets[0]) == nil)
        #expect(ledger.socket(of: ends[1], likely: sockets[0]) == sockets[1])
        // The number is used again, and has forgotten what was said.
        ledger.opened(sockets[0])
        #expect(ledger.lastStream(of: sockets[0]) == nil)
    }

    private static func call(
        _ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32,
        _ socket: Int32,
        _ address: String,
        _ port: UInt16
    ) throws {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = unsafe inet_addr(address)
        let result = unsafe withUnsafePointer(to: &name) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe function(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0)
    }
}
