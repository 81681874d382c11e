import CurlTransport
import Glibc
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// What the options of loops and shards do, seen at the system's functions.
@Suite(.timeLimit(.minutes(30)))
struct LoopOptionTests {
    /// libcurl walks all of a multi handle's connections at the end of each transfer.
    @Test
    func noMultiHandleHasManyTransfers() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { _ in .wait(for: gate).then(.answer()) }
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 300, httpVersion: .http1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await transport.fetch(.to(server.authority)) } }
            _ = try await server.requests(count: 300)
            #expect((64...100).contains(Interposed.state.withLock { $0.mostTransfers }))
            gate.open()
            try await group.waitForAll()
        }
        await transport.shutdown()
    }

    /// It would set the process's own handler aside, and back, at each of its steps, on whatever thread.
    @Test
    func theSignalOfABrokenPipeIsTheProcesss() async throws {
        let server = try FaultServer(.answer())
        // A handler tells apart who ignores it. It stays: to who writes it is as good as ignoring.
        var handler = sigaction()
        unsafe handler.__sigaction_handler.sa_handler = { _ in }
        // Another test may ignore it in this process, or shut a transport down, where libcurl does so for a moment. A loop that
        // ignores it does so whenever it opens a socket.
        var kept = 0
        for _ in 0..<30 {
            #expect(unsafe sigaction(SIGPIPE, &handler, nil) == 0)
            Interposed.state.withLock { state in (state.sockets, state.socketsWithSignalIgnored) = (0, 0) }
            _ = try await CurlTransport.patient().fetch(.to(server.authority))
            if Interposed.state.withLock({ $0.sockets > 0 && $0.socketsWithSignalIgnored == 0 }) { kept += 1 }
        }
        #expect(kept > 15)
    }

    /// Each multi handle has a cache of its own otherwise, and a loop of many requests to an origin has several.
    @Test
    func aNameIsLookedUpOnceForALoop() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { $0.path == "/" ? .answer() : .wait(for: gate).then(.answer()) }
        let name = "shared" + Interposed.lookedUp
        let authority = "\(name):\(server.port)"
        let transport = CurlTransport.patient(.init(loops: 1, maxConnectionsPerOrigin: 300, httpVersion: .http1))
        _ = try await transport.fetch(.to(authority))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await transport.fetch(.to(authority, .get, "/waits")) } }
            _ = try await server.requests(count: 301)
            gate.open()
            try await group.waitForAll()
        }
        let lookups = try #require(Interposed.state.withLock { $0.lookups[name] })
        #expect(Set(lookups.values) == [1], "\(lookups)")
        if CurlTransport.libcurlVersion.hasPrefix("7.") { #expect(lookups.count == 1) }
    }

    /// libcurl's own pieces are of 64 KiB.
    @Test
    func aLargeBodyGoesOutInPiecesOfTheBuffersSize() async throws {
        let server = try FaultServer(.answer())
        // A size that no other test has.
        let size = 777_216
        let transport = CurlTransport.patient(.init(httpVersion: .http1, bufferSize: size))
        let body = MessageBody([UInt8](repeating: 0x78, count: 2 * size + 1))
        _ = try await transport.fetch(.to(server.authority, .post), body)
        #expect(Interposed.state.withLock { $0.largePieces.contains(size) })
        await transport.shutdown()
    }

    /// Without the option the end of a transfer joins the thread that looks its name up.
    @Test
    func aNameThatNobodyKnowsHoldsOnlyWhoAsksForIt() async throws {
        defer { Interposed.resolver.open() }
        let server = try FaultServer(.answer())
        let name = "nobody" + Interposed.hanging
        let transport = CurlTransport.patient(.init(loops: 1, httpVersion: .http1))
        let leaving = Task { try await transport.fetch(.to("\(name):\(server.port)"), timeout: .seconds(86_400)) }
        while Interposed.state.withLock({ $0.lookups[name] }) == nil { await Task.yield() }
        leaving.cancel()
        await #expect(throws: CancellationError.self) { _ = try await leaving.value }
        // A loop that waits keeps no time either.
        let end = TimeSource.Instant(sinceStart: .seconds(300))
        let status = try await TimeSource(clock: ContinuousClock()).withTimeout(until: end) {
            try await transport.fetch(.to(server.authority)).head.status
        }
        #expect(status == .ok)
    }
}
