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
            #expect((100...128).contains(Interposed.state.withLock { $0.mostTransfers }))
            gate.open()
            try await group.waitForAll()
        }
        await transport.shutdown()
    }

    /// It would set the process's own handler aside, and back, at each of its steps, on whatever thread.
    @Test
    func theSignalOfABrokenPipeIsTheProcesss() async throws {
        let server = try FaultServer(.answer())
        while true {
            // A handler tells apart who ignores it. It stays: to who writes it is as good as ignoring.
            var handler = sigaction()
            unsafe handler.__sigaction_handler.sa_handler = { _ in }
            #expect(unsafe sigaction(SIGPIPE, &handler, nil) == 0)
            Interposed.state.withLock { state in (state.sockets, state.socketsWithSignalIgnored) = (0, 0) }
            _ = try await CurlTransport.patient().fetch(.to(server.authority))
            let (count, ignored) = Interposed.state.withLock { ($0.sockets, $0.socketsWithSignalIgnored) }
            // Another test may have said that this process ignores it.
            if Interposed.isBrokenPipeIgnored { continue }
            #expect(count > 0)
            #expect(ignored == 0)
            return
        }
    }
}
