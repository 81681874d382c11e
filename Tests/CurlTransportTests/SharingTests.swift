import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import ProcessSupport
import Testing

@testable import CurlTransport

/// Requests over HTTP/2 share connections, however many come at once, and wait for none past their deadlines.
@Suite(.enabled(if: TLSFront.isAvailable), .timeLimit(.minutes(30)))
struct SharingTests {
    private static func burst(of count: Int, to front: TLSFront, _ transport: CurlTransport) async throws {
        let request = HTTPRequest.to(front.authority, scheme: "https")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<count { group.addTask { try await transport.fetch(request).head.status.code } }
            for try await status in group { #expect(status == 200) }
        }
    }

    @Test(arguments: [(64, 1), (600, 6)])
    func aColdBurstOpensFewConnections(count: Int, connections: Int) async throws {
        let server = try HTTP2Server.start { _ in .init() }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(
            .init(maxConnectionsPerOrigin: count, httpVersion: .http2, caFile: front.caFile)
        )
        try await Self.burst(of: count, to: front, transport)
        #expect(server.receivedRequests.count == count)
        #expect(server.connectionCount <= connections)
        // Those that are there do for the next, too.
        try await Self.burst(of: count, to: front, transport)
        #expect(server.receivedRequests.count == 2 * count)
        #expect(server.connectionCount <= connections)
        withExtendedLifetime(front) {}
    }

    /// How many find out at once what a server speaks doubles with each failure, without an end.
    @Test
    func anOutageOfAnyLengthIsNotCountedTooFar() async throws {
        let port = try RefusingPort()
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: .max, httpVersion: .http2))
        for _ in 0..<70 {
            #expect(try await transport.failure(.to(port.authority, scheme: "https")).code == .cannotConnect)
        }
    }

    @Test
    func anOriginHasOneNameForItself() throws {
        func origin(_ scheme: String, _ authority: String) throws -> EncodedRequest.Origin {
            try EncodedRequest(.to(authority, scheme: scheme), body: nil, decompresses: false).origin
        }
        for (scheme, port) in [("http", 80), ("https", 443)] {
            for authority in ["A.example", "a.example:", "a.example:\(port)", "a.example:00\(port)"] {
                #expect(try origin(scheme, authority) == origin(scheme, "a.example"))
            }
            #expect(try origin(scheme, "a.example:8080") != origin(scheme, "a.example"))
        }
        #expect(try origin("http", "a.example:443") != origin("https", "a.example:443"))
    }

    /// As many connections as there are requests past its limit is what libcurl 7.88 would open.
    @Test
    func aServerThatAllowsFewStreamsGetsFewConnections() async throws {
        let server = try HTTP2Server.start(maxStreams: 10) { _ in .init() }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(
            .init(maxConnectionsPerOrigin: 200, httpVersion: .http2, caFile: front.caFile)
        )
        try await Self.burst(of: 200, to: front, transport)
        #expect(server.receivedRequests.count == 200)
        #expect(server.connectionCount <= 8)
        withExtendedLifetime(front) {}
    }

    /// libcurl's handle opens four connections at most, and keeps who has no place on them past any deadline.
    @Test
    func allOfABurstAreThereTogether() async throws {
        // It takes a hundred streams on a connection, and answers none.
        let server = try FaultServer(
            plan: { _ in
                .raw { connection in
                    guard connection.read(exactly: 24) != nil else { return }
                    connection.write(HTTP2Frame.bytes(type: 4, flags: 0, stream: 0, [0, 3] + HTTP2Frame.big(100)))
                    while let frame = HTTP2Frame.read(from: connection) {
                        if frame.type == 4, frame.flags & 1 == 0 { connection.write(HTTP2Frame.settingsAck) }
                        guard frame.endsStream else { continue }
                        connection.record(.init(method: "", path: "/\(frame.stream)", connection: connection.id))
                    }
                }
            },
            reply: { _ in .answer() }
        )
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(
            .init(maxConnectionsPerOrigin: 600, httpVersion: .http2, caFile: front.caFile)
        )
        let request = HTTPRequest.to(front.authority, scheme: "https")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<600 { group.addTask { _ = try? await transport.fetch(request) } }
            _ = try? await TimeSource(clock: ContinuousClock()).withTimeout(
                until: TimeSource.Instant(sinceStart: .seconds(300))
            ) {
                _ = try await server.requests(count: 600)
            }
            group.cancelAll()
        }
        #expect(server.receivedRequests.count == 600)
        withExtendedLifetime(front) {}
    }

    private static let ping = HTTP2Frame.bytes(type: 6, flags: 0, stream: 0, [0, 1, 2, 3, 4, 5, 6, 7])

    /// Asks a server, and again when the loop has met what has come meanwhile on the connection that nobody uses.
    private static func askTwice(
        _ server: FaultServer,
        opening isIdle: FaultServer.Gate,
        between: (CurlTransport, HTTPRequest) async throws -> Void = { _, _ in }
    ) async throws {
        let other = try FaultServer(.answer())
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"])
        let transport = CurlTransport.patient(.init(loops: 1, httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, scheme: "https")
        #expect(try await transport.fetch(request).head.status == .ok)
        try await between(transport, request)
        isIdle.open()
        // The loop turns, and meets what has come.
        for _ in 0..<100 { _ = try await transport.fetch(.to(other.authority)) }
        #expect(try await transport.fetch(request).head.status == .ok)
        withExtendedLifetime(front) {}
    }

    /// Who leaves before an answer leaves a connection with frames to read behind, and no stray answer.
    @Test
    func aConnectionOutlivesItsOnlyTransfer() async throws {
        let hasLeft = FaultServer.Gate()
        let server = try FaultServer.http2 { stream, index in
            var answer = HTTP2Answer(HTTP2Frame.ok(stream))
            if index == 1 { (answer.bytes, answer.later, answer.gate) = ([], Self.ping, hasLeft) }
            return answer
        }
        try await Self.askTwice(server, opening: hasLeft) { transport, request in
            let leaving = Task { try await transport.fetch(request) }
            _ = try await server.requests(count: 2)
            leaving.cancel()
            await #expect(throws: CancellationError.self) { _ = try await leaving.value }
        }
        // Where the server would not hear that the stream was given up, the connection is given up with it.
        let staysOpen = Libcurl.sendsResets
        #expect(server.receivedRequests.map(\.path) == ["/1", "/3", staysOpen ? "/5" : "/1"])
        #expect(server.connectionCount == (staysOpen ? 1 : 2))
    }

    /// What comes on an idle connection is read with the next request's answer, and ends nothing.
    @Test
    func anIdleConnectionWithFramesToReadIsUsedAgain() async throws {
        let isIdle = FaultServer.Gate()
        let server = try FaultServer.http2 { stream, index in
            var answer = HTTP2Answer(HTTP2Frame.ok(stream))
            if index == 0 { (answer.later, answer.gate) = (Self.ping, isIdle) }
            return answer
        }
        try await Self.askTwice(server, opening: isIdle)
        #expect(server.receivedRequests.map(\.path) == ["/1", "/3"])
        #expect(server.connectionCount == 1)
    }

    /// Nothing is shared with a server of HTTP/1.1: thirty requests that wait for each other are there together.
    @Test
    func aServerWithoutHTTP2IsNotWaitedFor() async throws {
        let gate = FaultServer.Gate()
        let server = try FaultServer { _ in .wait(for: gate).then(.answer()) }
        let front = try await TLSFront.start(port: server.port, protocols: ["http/1.1"])
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        async let burst: Void = Self.burst(of: 30, to: front, transport)
        _ = try await server.requests(count: 30)
        gate.open()
        try await burst
        #expect(server.connectionCount == 30)
        // The first connection, which was made to be shared, is of use too.
        for _ in 0..<3 { #expect(try await transport.fetch(.to(front.authority, scheme: "https")).head.status == .ok) }
        #expect(server.connectionCount == 30)
        withExtendedLifetime(front) {}
    }

    /// One request makes a connection that never stands; another, which could share it, has a deadline.
    @Test(arguments: [false, true])
    func whoWaitsForAConnectionKeepsTheDeadline(isKnown: Bool) async throws {
        // The only answer comes on a connection that takes no further request.
        let server = try HTTP2Tests.server { HTTP2Frame.goAway(lastStream: $0) + HTTP2Frame.ok($0) }
        let front = try await TLSFront.start(port: server.port, protocols: ["h2"], handshakes: isKnown ? 1 : 0)
        let transport = CurlTransport.patient(.init(httpVersion: .http2, caFile: front.caFile))
        let request = HTTPRequest.to(front.authority, scheme: "https")
        if isKnown { #expect(try await transport.fetch(request).head.status == .ok) }
        let first = Task { try await transport.fetch(request, timeout: nil) }
        let error = try await transport.failure(request, timeout: .seconds(2))
        #expect(error.code == .timedOut)
        #expect(error.certainty == .neverSent)
        first.cancel()
        await #expect(throws: CancellationError.self) { _ = try await first.value }
        withExtendedLifetime(front) {}
    }
}
