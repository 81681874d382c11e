import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// An upload gives its place up when it fails, and takes one again to read the answer that came before: who waits for the
/// same origin, and for others, comes to an end all the same.
@Suite(.timeLimit(.minutes(30)))
struct SavedAnswersAndOrigins {
    private static let early = "HTTP/1.1 401 No\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"
    /// A size of pieces that no other test has.
    private static let piece = 777_248

    /// The loop's thread does what matters in its order; only whether the upload fails before its answer is read is up to
    /// the system.
    @Test
    func whoWaitsForTheOriginOfASavedAnswerIsNotForgotten() async throws {
        var saved = 0
        for _ in 0..<100 where saved < 3 {
            if try await isSaved() { saved += 1 }
        }
        #expect(saved == 3)
    }

    /// One upload, and those that come while its answer is read; false if it was read where it came.
    private func isSaved() async throws -> Bool {
        let isReset = FaultServer.Gate()
        defer { isReset.open() }
        Interposed.state.withLock { $0.heldPieces[Self.piece] = isReset }
        let server = try FaultServer(
            plan: { connection in
                guard connection == 0 else { return .stall }
                return .raw { connection in
                    _ = connection.read()
                    connection.write(Array(Self.early.utf8))
                    connection.reset()
                    isReset.open()
                }
            },
            reply: { _ in .stall }
        )
        let other = try FaultServer(.stall)
        let configuration = CurlTransport.Configuration(
            maxConnectionsPerOrigin: 1,
            httpVersion: .http1,
            bufferSize: Self.piece
        )
        let loop = try #require(EventLoop(configuration: configuration.normalized()))
        func make(_ request: HTTPRequest, _ body: MessageBody? = nil) throws -> Transfer {
            let request = try EncodedRequest(request, body: body, decompresses: false)
            return Transfer(request: request, deadline: Monotonic.never, loop: loop)
        }
        let body = MessageBody([UInt8](repeating: 0x78, count: 2 * Self.piece + 1))
        let upload = try make(.to(server.authority, .post), body)
        let others = try (0..<2).map { _ in try make(.to(other.authority)) }
        let followers = try (0..<3).map { _ in try make(.to(server.authority)) }
        let isSaved = await Task(executorPreference: loop) {
            loop.admit(upload)
            loop.admit(others[0])
            while !upload.isOver, upload.sendFailure == nil { await Task.yield() }
            let isSaved = !upload.isOver
            for transfer in followers { loop.admit(transfer) }
            loop.admit(others[1])
            while !upload.isOver { await Task.yield() }
            return isSaved
        }.value
        #expect(upload.facts.sawHead)
        await loop.stop()
        for transfer in followers + others { #expect(transfer.isOver) }
        return isSaved
    }

    /// The same from outside, at any moment.
    @Test(arguments: [1, 2])
    func everyCallEnds(places: Int) async throws {
        let answers: @Sendable (FaultServer.Request) -> FaultServer.Reply = { request in
            switch request.path {
            case "/early": .raw(Self.early).then(.close)
            case "/slow": .stall
            default: .answer()
            }
        }
        let body = MessageBody([UInt8](repeating: 0x78, count: 1 << 20))
        for round in 0..<40 {
            let servers = try (0..<2).map { _ in
                try FaultServer(plan: { _ in .answerWithoutReadingBodies }, reply: answers)
            }
            defer { for server in servers { server.stop() } }
            let transport = CurlTransport.patient(.init(loops: 1, maxConnectionsPerOrigin: places))
            let ended = Locked(0)
            let call: @Sendable (Int) async throws -> Void = { index in
                defer { ended.withLock { $0 += 1 } }
                let authority = servers[index % 2].authority
                do {
                    switch index % 6 {
                    case 0: _ = try await transport.fetch(.to(authority, .post, "/early"), body)
                    case 1...4: _ = try await transport.fetch(.to(authority))
                    // It keeps its place until the end, so that there are some that wait then.
                    default: _ = try await transport.fetch(.to(authority, .get, index > 60 ? "/slow" : "/"))
                    }
                } catch is TransportError {}
            }
            // A call that nobody brings back is cancelled at last, and says so.
            let end = TimeSource.Instant(sinceStart: .seconds(300))
            try await TimeSource(clock: ContinuousClock()).withTimeout(until: end) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for index in 0..<90 { group.addTask { try await call(index) } }
                    while ended.withLock({ $0 }) < round { await Task.yield() }
                    await transport.shutdown()
                    try await group.waitForAll()
                }
            }
        }
    }
}

extension Transfer {
    fileprivate var isOver: Bool { shared.withLock { $0.isOver } }
}
