import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// Requests over QUIC, where libcurl and a server for it are there: `Scripts/newer-curl --http3 run …`.
@Suite(
    .enabled(if: Libcurl.hasHTTP3, "this libcurl has no HTTP/3"),
    .enabled(if: QUICFront.isAvailable, "caddy is not installed"),
    .timeLimit(.minutes(30))
)
struct HTTP3Tests {
    /// A transport that has a connection over QUIC to the front.
    ///
    /// libcurl tries HTTP/2 as well if QUIC takes its time, and on a busy machine it does.
    private static func transport(_ front: QUICFront) async throws -> CurlTransport {
        var configuration = CurlTransport.Configuration(httpVersion: .http3, caFile: front.caFile)
        configuration.reportsMetrics = true
        while true {
            let transport = CurlTransport.patient(configuration)
            let response = try await transport.send(request(front, .head), body: nil, options: AttemptOptions())
            if response.metrics?.httpVersion == "3" { return transport }
            await transport.shutdown()
        }
    }

    /// A plain server that answers what makes the connection at once.
    private static func server(
        _ reply: @escaping @Sendable (FaultServer.Request) -> FaultServer.Reply
    ) throws -> FaultServer {
        try FaultServer { $0.method == "HEAD" ? .answer() : reply($0) }
    }

    /// What has come in, but for what made the connection.
    private static func requests(of server: FaultServer) -> [FaultServer.Request] {
        server.receivedRequests.filter { $0.method != "HEAD" }
    }

    private static func sent(_ count: Int, to server: FaultServer) async throws {
        while requests(of: server).count < count {
            _ = try await server.requests(count: server.receivedRequests.count + 1)
        }
    }

    private static func request(
        _ front: QUICFront,
        _ method: HTTPRequest.Method = .get,
        _ path: String = "/"
    ) -> HTTPRequest {
        .to(front.authority, method, path, scheme: "https")
    }

    @Test
    func requestsShareAConnectionAndBodiesGoBothWays() async throws {
        let server = try Self.server { .answer(bytes: $0.body) }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let large = [UInt8](repeating: 7, count: 1 << 20)
        let pieces = ChunkSource()
        for _ in 0..<1000 { pieces.send("a piece") }
        pieces.finish()
        let bodies: [(MessageBody?, Int)] = [
            (nil, 0), (MessageBody("small"), 5), (MessageBody(large), large.count),
            (MessageBody(once: pieces.stream, length: 7000), 7000),
        ]
        var opened = 0
        for (body, count) in bodies {
            let request = Self.request(front, body == nil ? .get : .post)
            let response = try await transport.send(request, body: body, options: AttemptOptions())
            #expect(response.head.status == .ok)
            #expect(try await response.body.collect(upTo: 2 << 20).count == count)
            let metrics = try #require(response.metrics)
            #expect(metrics.httpVersion == "3")
            opened += metrics.connectionsOpened ?? 0
            #expect(metrics.wireAttempts == 1)
        }
        #expect(opened == 0)
        #expect(Self.requests(of: server).map(\.body.count) == bodies.map(\.1))
        await transport.shutdown()
    }

    @Test
    func aBurstSharesAConnection() async throws {
        let server = try Self.server { _ in .answer(body: "x") }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let opened = try await withThrowingTaskGroup { group in
            for _ in 0..<64 {
                group.addTask {
                    let response = try await transport.send(Self.request(front), body: nil, options: AttemptOptions())
                    _ = try await response.body.collect(upTo: 10)
                    return response.metrics?.connectionsOpened ?? 100
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(opened == 0)
        #expect(Self.requests(of: server).count == 64)
        await transport.shutdown()
    }

    @Test(arguments: [401, 413, 429])
    func anAnswerBeforeTheBodyWasReadIsKept(status: Int) async throws {
        let server = try FaultServer(
            plan: { _ in .answerWithoutReadingBodies },
            reply: { request in
                let fields = [("Retry-After", "7"), ("Connection", "close")]
                return request.method == "HEAD" ? .answer() : .answer(status, headers: fields, body: "early")
            }
        )
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let body = MessageBody([UInt8](repeating: 1, count: 200_000))
        let response = try await transport.send(Self.request(front, .post), body: body, options: AttemptOptions())
        // What the proxy makes of a body that nobody reads is its own: then it says 502.
        #expect([status, 502].contains(response.head.status.code))
        #expect(Self.requests(of: server).count == 1)
        await transport.shutdown()
    }

    @Test(arguments: [FaultServer.Reply.shortBody, .resetInBody])
    func aBodyThatIsCutIsAnswered(reply: FaultServer.Reply) async throws {
        let server = try Self.server { _ in reply }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let error = try await transport.failure(Self.request(front, .post), MessageBody("x"))
        #expect(error.certainty == .answered, "\(error)")
        #expect(Self.requests(of: server).count == 1)
        await transport.shutdown()
    }

    @Test
    func aServerThatDiesLeavesAPostInDoubt() async throws {
        let server = try Self.server { _ in .stall }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        async let failure = transport.failure(Self.request(front, .post), MessageBody("x"), timeout: .seconds(5))
        try await Self.sent(1, to: server)
        front.stop()
        let error = try await failure
        #expect(error.certainty == .unknown, "\(error)")
        #expect(Self.requests(of: server).count == 1)
        // On the same connection, which nobody has closed.
        let next = try await transport.failure(Self.request(front, .post), MessageBody("x"), timeout: .seconds(5))
        #expect([.unknown, .neverSent].contains(next.certainty), "\(next)")
        #expect(Self.requests(of: server).count == 1)
        await transport.shutdown()
    }

    @Test
    func whoIsCancelledLeavesAtOnceAndTheOthersGoOn() async throws {
        let server = try Self.server { $0.path == "/slow" ? .stall : .answer(body: "x") }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let slow = Task { try await transport.fetch(Self.request(front, .post, "/slow"), MessageBody("x")) }
        try await Self.sent(1, to: server)
        slow.cancel()
        await #expect(throws: CancellationError.self) { try await slow.value }
        let response = try await transport.send(Self.request(front), body: nil, options: AttemptOptions())
        _ = try await response.body.collect(upTo: 10)
        #expect(response.metrics?.httpVersion == "3")
        #expect(response.metrics?.isConnectionReused == true)
        await transport.shutdown()
    }

    @Test
    func aTimeLimitHoldsAndNothingIsSentAgain() async throws {
        let server = try Self.server { _ in .stall }
        let front = try await QUICFront.start(port: server.port)
        let transport = try await Self.transport(front)
        let error = try await transport.failure(Self.request(front, .post), MessageBody("x"), timeout: .seconds(2))
        #expect(error.code == .timedOut)
        #expect([.unknown, .neverSent].contains(error.certainty), "\(error)")
        #expect(Self.requests(of: server).count <= 1)
        await transport.shutdown()
    }

    @Test
    func whereThereIsNoQUICItIsHTTP2() async throws {
        let server = try Self.server { .answer(bytes: $0.body) }
        let front = try await QUICFront.start(port: server.port, hasQUIC: false)
        var configuration = CurlTransport.Configuration(httpVersion: .http3, caFile: front.caFile)
        configuration.reportsMetrics = true
        let transport = CurlTransport.patient(configuration)
        let response = try await transport.send(
            Self.request(front, .post),
            body: MessageBody("x"),
            options: AttemptOptions()
        )
        #expect(try await response.body.collect(upTo: 10).count == 1)
        #expect(response.metrics?.httpVersion == "2")
        #expect(Self.requests(of: server).count == 1)
        await transport.shutdown()
    }

    @Test
    func aCertificateThatNobodyTrustsEndsItBeforeAnythingIsSent() async throws {
        let server = try FaultServer(.answer())
        let front = try await QUICFront.start(port: server.port)
        let transport = CurlTransport.patient(.init(httpVersion: .http3))
        let error = try await transport.failure(Self.request(front, .post), MessageBody("x"))
        #expect(error.code == .certificateRejected, "\(error)")
        #expect(error.certainty == .neverSent)
        #expect(Self.requests(of: server).isEmpty)
        await transport.shutdown()
    }

    @Test
    func overPlainTextItIsHTTP11() async throws {
        let server = try FaultServer(.answer(body: "x"))
        let transport = CurlTransport.patient(.init(httpVersion: .http3))
        let (head, _) = try await transport.fetch(.to(server.authority))
        #expect(head.status == .ok)
        await transport.shutdown()
    }
}
