import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import CurlTransport

/// Cancelling ends an attempt at once, whatever it is doing, and the server sees the connection go.
@Suite(.timeLimit(.minutes(30)))
struct CancellationTests {
    /// Starts an attempt, waits for `fact`, cancels, and waits for the caller, whom nothing else brings back.
    private func cancel(
        _ transport: CurlTransport,
        _ request: HTTPRequest,
        _ body: MessageBody? = nil,
        after fact: () async throws -> Void
    ) async throws {
        let task = Task { try await transport.fetch(request, body, timeout: .seconds(86_400)) }
        try await fact()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test
    func whileTheHandshakeIsUnanswered() async throws {
        let server = try FaultServer(plan: { _ in .stall }, reply: { _ in .answer() })
        try await cancel(CurlTransport.patient(), .to(server.authority, scheme: "https")) {
            try await server.connections(count: 1)
        }
        try await server.hangups(count: 1)
    }

    /// Waits until something is so on the loop's own thread.
    private func wait(
        on transport: CurlTransport,
        until isMet: @escaping @Sendable (EventLoop) -> Bool
    ) async throws {
        let loop = try #require(transport.taskExecutor as? EventLoop)
        await Task(executorPreference: loop) {
            while !isMet(loop) { await Task.yield() }
        }.value
    }

    @Test(arguments: [HTTPRequest.Method.get, .post])
    func whileTheAnswerIsAwaited(method: HTTPRequest.Method) async throws {
        let server = try FaultServer(.stall)
        try await cancel(
            CurlTransport.patient(),
            .to(server.authority, method),
            MessageBody(method == .post ? "x" : "")
        ) {
            _ = try await server.requests(count: 1)
        }
        try await server.hangups(count: 1)
    }

    @Test
    func whileTheBodyIsSent() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer(plan: { _ in .serve(readingBodiesAfter: gate) }, reply: { _ in .answer() })
        let source = ChunkSource()
        source.send("the beginning")
        try await cancel(CurlTransport.patient(), .to(server.authority, .post), MessageBody(once: source.stream)) {
            try await server.connections(count: 1)
        }
        try await server.hangups(count: 1)
    }

    @Test
    func whileTheBodyIsRead() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall))
        let transport = CurlTransport.patient()
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        let task = Task { try await response.body.collect(upTo: 100) }
        // The reader waits for what does not come.
        try await wait(on: transport) { loop in
            loop.running.items.contains { $0.shared.withLock { $0.bodyWaiter != nil } }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await server.hangups(count: 1)
    }

    @Test
    func whileInTheQueue() async throws {
        let server = try FaultServer { $0.path == "/first" ? .stall : .answer() }
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        let first = Task { try await transport.fetch(.to(server.authority, .get, "/first"), timeout: nil) }
        _ = try await server.requests(count: 1)
        try await cancel(transport, .to(server.authority, .post, "/queued"), MessageBody("x")) {
            // The loop has a deadline to see to: that of who waits, as the first has none.
            try await wait(on: transport) { $0.deadlines.first != Monotonic.never }
        }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        // The queue moves on, past the one that was cancelled.
        #expect(try await transport.fetch(.to(server.authority)).head.status == .ok)
        #expect(server.receivedRequests.map(\.path) == ["/first", "/"])
    }

    @Test
    func beforeTheStart() async throws {
        let server = try FaultServer(.answer())
        let transport = CurlTransport.patient()
        let task = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await transport.fetch(.to(server.authority))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.connectionCount == 0)
    }

    @Test
    func manyAtRandomMoments() async throws {
        let server = try FaultServer { $0.path.hasSuffix("1") ? .stall : .answer(body: "fine") }
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 8))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let task = Task {
                        try await transport.fetch(.to(server.authority, .post, "/\(index % 3)"), MessageBody("x"))
                    }
                    for _ in 0..<(index % 17) { await Task.yield() }
                    if index % 3 == 1 || index % 5 == 0 { task.cancel() }
                    do {
                        let body = try await task.value.body
                        #expect(body == "fine")
                    } catch {
                        #expect(error is CancellationError, "\(error)")
                    }
                }
            }
        }
        #expect(try await transport.fetch(.to(server.authority)).body == "fine")
    }
}
