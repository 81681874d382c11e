import Glibc
import HTTPRecovery
import HTTPTypes
import Testing

@testable import CurlTransport
@testable import HTTPRecoveryTesting

/// Parallel use, queues, timeouts, and the transport's end.
@Suite(.timeLimit(.minutes(30)))
struct LifetimeTests {
    @Test
    func twoHundredAtOnce() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { .wait(for: gate).then(.answer(body: $0.text)) }
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 200))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try await transport.fetch(.to(server.authority, .post), MessageBody("\(index)")).body == "\(index)"
                }
            }
            // All of them are in flight together, spread over several of libcurl's handles.
            _ = try await server.requests(count: 200)
            gate.open()
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.connectionCount == 200)
    }

    @Test
    func theLimitPerOriginIsKeptInTheOrderOfArrival() async throws {
        let server = try FaultServer { .answer(body: $0.path) }
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 3))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let (_, body) = try await transport.fetch(.to(server.authority, .get, "/\(index)"))
                    #expect(body == "/\(index)")
                }
            }
            try await group.waitForAll()
        }
        #expect(server.connectionCount <= 3)
        #expect(Set(server.receivedRequests.map(\.path)).count == 100)
    }

    @Test
    func whoHasWaitedLongestIsNext() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { request in
            request.path == "/first" ? .wait(for: gate).then(.answer(body: "")) : .answer(body: "")
        }
        let loop = try #require(EventLoop(configuration: .init(maxConnectionsPerOrigin: 1).normalized()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            func begin(_ path: String) throws {
                let request = try EncodedRequest(.to(server.authority, .get, path), body: nil, decompresses: false)
                let transfer = Transfer(request: request, deadline: Monotonic.never, loop: loop)
                loop.submit(.start(transfer))
            }
            try begin("/first")
            _ = try await server.requests(count: 1)
            for index in 0..<20 { try begin("/\(index)") }
            gate.open()
            _ = try await server.requests(count: 21)
        }
        #expect(server.receivedRequests.map(\.path) == ["/first"] + (0..<20).map { "/\($0)" })
        await loop.stop()
    }

    @Test
    func theTimeoutCoversTheQueue() async throws {
        let server = try FaultServer(.stall)
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        let first = Task { try await transport.fetch(.to(server.authority)) }
        _ = try await server.requests(count: 1)
        let error = try await transport.failure(
            .to(server.authority, .post),
            MessageBody("x"),
            timeout: .milliseconds(50)
        )
        #expect(error.code == .timedOut)
        #expect(error.certainty == .neverSent)
        first.cancel()
        _ = try? await first.value
    }

    @Test
    func theTimeoutCoversABodyNobodyReads() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n").then(.endless("x")))
        let transport = CurlTransport.patient()
        let response = try await transport.send(
            .to(server.authority),
            body: nil,
            options: AttemptOptions(timeout: .seconds(5))
        )
        // The transfer ends although it is paused: the server sees the connection go.
        try await server.hangups(count: 1)
        let error = try await #require(throws: TransportError.self) { _ = try await response.body.collect(upTo: .max) }
        #expect(error.code == .timedOut)
        #expect(error.certainty == .answered)
    }

    @Test
    func aTimeoutInTheHandshakeIsNeverSent() async throws {
        let server = try FaultServer(plan: { _ in .stall }, reply: { _ in .answer() })
        let error = try await CurlTransport.patient().failure(
            .to(server.authority, .post, scheme: "https"),
            MessageBody("x"),
            timeout: .milliseconds(100)
        )
        #expect(error.code == .timedOut)
        #expect(error.certainty == .neverSent)
    }

    @Test
    func aTimeoutOfNothingIsOver() async throws {
        let server = try FaultServer(.answer())
        let error = try await CurlTransport.patient().failure(.to(server.authority), timeout: .zero)
        #expect(error.code == .timedOut)
        #expect(error.certainty == .neverSent)
        #expect(try await CurlTransport.patient().fetch(.to(server.authority), timeout: .longest).head.status == .ok)
    }

    @Test
    func shutdownEndsWhatRunsAndWhatWaits() async throws {
        let server = try FaultServer(.stall)
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 2))
        let tasks = (0..<5).map { _ in
            Task { try await transport.failure(.to(server.authority, .post), MessageBody("x")) }
        }
        _ = try await server.requests(count: 2)
        await transport.shutdown()
        var certainties: [TransportError.Certainty] = []
        for task in tasks {
            let error = try await task.value
            #expect(error.code == .shutDown)
            certainties.append(error.certainty)
        }
        #expect(certainties.filter { $0 == .unknown }.count == 2)
        #expect(certainties.filter { $0 == .neverSent }.count == 3)
        try await server.hangups(count: 2)
        let error = try await transport.failure(.to(server.authority))
        #expect(error.code == .shutDown)
        await transport.shutdown()
    }

    /// Whatever was under way, nothing holds the loop of a transport that was shut down.
    @Test(arguments: [false, true])
    func aLoopThatWasShutDownIsGone(isUploading: Bool) async throws {
        weak var loop: AnyObject?
        do {
            let server = try FaultServer(
                plan: { _ in
                    .raw { connection in
                        var bytes: [UInt8] = []
                        let end = Array((isUploading ? "begun\r\n" : "\r\n\r\n").utf8)
                        while bytes.suffix(end.count) != end, let more = connection.read() { bytes += more }
                        connection.record(FaultServer.Request(method: "", path: "", connection: connection.id))
                        while connection.read() != nil {}
                    }
                },
                reply: { _ in .stall }
            )
            let transport = CurlTransport.patient()
            loop = transport.taskExecutor as AnyObject
            let source = ChunkSource()
            let body = isUploading ? MessageBody(once: source.stream) : nil
            async let failure = transport.failure(.to(server.authority, .post), body)
            source.send("begun")
            _ = try await server.requests(count: 1)
            await transport.shutdown()
            #expect(try await failure.code == .shutDown)
            source.finish()
        }
        // The task that read the body may be ending yet.
        while loop != nil { await Task.yield() }
    }

    @Test
    func shutdownFailsABodyThatIsStillComing() async throws {
        let server = try FaultServer(.raw("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").then(.stall))
        let transport = CurlTransport.patient()
        let response = try await transport.send(.to(server.authority), body: nil, options: AttemptOptions())
        await transport.shutdown()
        let error = try await #require(throws: TransportError.self) { _ = try await response.body.collect(upTo: 100) }
        #expect(error.code == .shutDown)
        #expect(error.certainty == .answered)
    }

    @Test
    func severalLoopsServeSeveralOrigins() async throws {
        let servers = try (0..<6).map { index in try FaultServer(.answer(body: "\(index)")) }
        let transport = CurlTransport.patient(.init(loops: 3))
        for (index, server) in servers.enumerated() {
            #expect(try await transport.fetch(.to(server.authority)).body == "\(index)")
        }
        await transport.shutdown()
    }

    @Test
    func tasksCanRunOnTheLoop() async throws {
        let server = try FaultServer { .answer(body: $0.path) }
        let transport = CurlTransport.patient()
        let executor = try #require(transport.taskExecutor)
        let task = Task(executorPreference: executor) {
            for index in 0..<50 {
                let body = try await transport.fetch(.to(server.authority, .get, "/\(index)")).body
                #expect(body == "/\(index)")
            }
            await transport.shutdown()
        }
        try await task.value
    }
}

/// In a process of its own, because it counts the process's threads and descriptors.
@Suite(.timeLimit(.minutes(30)))
struct LeakTests {
    @Test
    func aDroppedTransportLeavesNothingBehind() async {
        await #expect(processExitsWith: .success) {
            let server = try FaultServer { .answer(body: $0.path) }
            // What libcurl makes once stays, and what the runtime opens for its first sleep.
            try await Task.sleep(for: .milliseconds(1))
            try await Self.use(server)
            try await server.hangups(count: 1)
            let before = ProcessHoldings.now()
            for round in 0..<20 { try await Self.use(server, isShutDown: round % 2 == 0) }
            // Each transport has closed its connection: its loop's last work.
            try await server.hangups(count: 21)
            // The threads are about to end then, the server's too. The runtime's come and go: less than one for each transport.
            var after = ProcessHoldings.now()
            let end = ContinuousClock.now + .seconds(300)
            while after.threads >= before.threads + 20 || after.descriptors >= before.descriptors + 20, .now < end {
                try await Task.sleep(for: .milliseconds(1))
                after = .now()
            }
            #expect(after.threads < before.threads + 20)
            #expect(after.descriptors < before.descriptors + 20)
        }
    }

    private static func use(_ server: FaultServer, isShutDown: Bool = true) async throws {
        let transport = CurlTransport.patient(.init(loops: 2))
        #expect(try await transport.fetch(.to(server.authority)).body == "/")
        if isShutDown { await transport.shutdown() }
    }
}

/// Connections that are left because of what came over them.
@Suite(.timeLimit(.minutes(30)))
struct NewConnectionTests {
    @Test func aRequestCanHaveAConnectionOfItsOwn() async throws {
        let server = try FaultServer(.answer(body: "ok"))
        let transport = CurlTransport.patient()
        for (isOnNewConnection, count) in [(false, 1), (false, 1), (true, 2), (false, 2)] {
            var options = AttemptOptions()
            options.isOnNewConnection = isOnNewConnection
            let response = try await transport.send(.to(server.authority), body: nil, options: options)
            _ = try await response.body.collect(upTo: 100)
            #expect(server.connectionCount == count)
        }
        await transport.shutdown()
    }
}
