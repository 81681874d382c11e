import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

/// What is kept from one transfer for the next: connections, and TLS sessions whichever of libcurl's handles has them.
@Suite(.timeLimit(.minutes(30)))
struct KeptStateTests {
    /// By itself libcurl keeps four times as many connections as there are transfers at the moment.
    @Test
    func theConnectionsOfABurstAreThereForTheNext() async throws {
        let gates = (0..<2).map { _ in FaultServer.Gate() }
        let server = try FaultServer { request in
            Int(request.path.dropFirst()).map { .wait(for: gates[$0]).then(.answer()) } ?? .answer()
        }
        let transport = CurlTransport.patient()
        for (index, gate) in gates.enumerated() {
            let before = server.receivedRequests.count
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<64 {
                    group.addTask { _ = try await transport.fetch(.to(server.authority, .get, "/\(index)")) }
                }
                // None is answered before all are there.
                _ = try await server.requests(count: before + 64)
                gate.open()
                try await group.waitForAll()
            }
            for _ in 0..<20 { _ = try await transport.fetch(.to(server.authority, .get, "/alone")) }
        }
        #expect(server.receivedRequests.count == 168)
        #expect(server.connectionCount == 64)
    }

    /// A connection that is shared and one that is not are with different handles of libcurl.
    @Test(.enabled(if: TLSFront.isAvailable))
    func aSessionIsResumedByAnotherHandle() async throws {
        let end = FaultServer.Gate()
        let answer: @Sendable (UInt32, Int) -> HTTP2Answer = { stream, _ in
            var answer = HTTP2Answer(HTTP2Frame.headers(stream, endsStream: false))
            (answer.later, answer.gate) = (HTTP2Frame.data(stream, [], endsStream: true), end)
            return answer
        }
        let (new, resumed) = (try FaultServer.http2(answer), try FaultServer.http2(answer))
        let front = try await TLSFront.start(port: new.port, protocols: ["h2"], settings: "resumed = \(resumed.port)")
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, scheme: "https")
        var responses: [TransportResponse] = []
        for isOnNewConnection in [false, true] {
            var options = AttemptOptions()
            options.isOnNewConnection = isOnNewConnection
            responses.append(try await transport.send(request, body: nil, options: options))
        }
        end.open()
        for response in responses { #expect(try await response.body.collect(upTo: 1) == []) }
        #expect([new, resumed].map(\.connectionCount) == [1, 1])
        withExtendedLifetime(front) {}
    }

    /// 300 at a time need three of libcurl's handles, and what comes afterwards uses the first.
    @Test
    func whatABurstHasOpenedIsClosedWhenNobodyUsesIt() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { _ in .wait(for: gate).then(.answer()) }
        let transport = CurlTransport(
            configuration: .init(maxConnectionsPerOrigin: 300, connectTimeout: .seconds(3600), maxIdleTime: .seconds(1))
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await transport.fetch(.to(server.authority)) } }
            _ = try await server.requests(count: 300)
            gate.open()
            try await group.waitForAll()
        }
        try await server.hangups(count: 300 - 128)
        // With handles that are made anew.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<300 { group.addTask { _ = try await transport.fetch(.to(server.authority)) } }
            try await group.waitForAll()
        }
        #expect(server.receivedRequests.count == 600)
        await transport.shutdown()
    }

    /// That it has passed is the fact here: libcurl counts in whole seconds, and more than one have to be over.
    @Test
    func aConnectionThatWasIdleForTooLongIsNotUsed() async throws {
        let server = try FaultServer(.answer())
        let impatient = CurlTransport(configuration: .init(maxIdleTime: .seconds(1)))
        let patient = CurlTransport.patient()
        for transport in [impatient, patient] { _ = try await transport.fetch(.to(server.authority)) }
        try await Task.sleep(for: .milliseconds(2100))
        for transport in [impatient, patient] { _ = try await transport.fetch(.to(server.authority)) }
        #expect(server.receivedRequests.map(\.connection) == [0, 1, 2, 1])
    }
}
