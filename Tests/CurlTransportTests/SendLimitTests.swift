import CurlTransport
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// The limit is looked at when a request is about to be written, on every sort of connection.
@Suite(.timeLimit(.minutes(30)))
struct SendLimitTests {
    /// A clock that goes one second further each time somebody looks at it.
    private final class LookingClock: Clock, Sendable {
        typealias Instant = ManualClock.Instant
        private let looks = Locked<Int64>(-1)

        var now: Instant {
            looks.withLock { looks in
                looks += 1
                return Instant(offset: .seconds(looks))
            }
        }

        var minimumResolution: Duration { .seconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws { throw CancellationError() }
    }

    /// A limit that has not come at the first look, when the transfer starts, and has at the second, before the write.
    private func passingInBetween() -> AttemptOptions.SendLimit {
        let time = TimeSource(clock: LookingClock())
        return AttemptOptions.SendLimit(TimeSource.Instant(sinceStart: .seconds(2)), time: time)
    }

    private func expectTooLate(
        _ transport: CurlTransport,
        _ request: HTTPRequest,
        _ limit: AttemptOptions.SendLimit
    ) async throws {
        let error = try await #require(throws: TransportError.self) {
            _ = try await transport.send(request, body: MessageBody("x"), options: AttemptOptions(sendLimit: limit))
        }
        #expect(error.code == .sendLimitPassed && error.certainty == .neverSent && !error.isTransient)
    }

    @Test
    func onANewConnection() async throws {
        let server = try FaultServer(.answer())
        let transport = CurlTransport.patient()
        try await expectTooLate(transport, .to(server.authority, .post), passingInBetween())
        try await server.connections(count: 1)
        #expect(server.receivedRequests.isEmpty)
        #expect(try await transport.fetch(.to(server.authority)).head.status == .ok)
    }

    @Test
    func onAUsedConnection() async throws {
        let server = try FaultServer(.answer())
        let transport = CurlTransport.patient()
        _ = try await transport.fetch(.to(server.authority, .get, "/first"))
        try await expectTooLate(transport, .to(server.authority, .post), passingInBetween())
        _ = try await transport.fetch(.to(server.authority, .get, "/last"))
        #expect(server.receivedRequests.map(\.path) == ["/first", "/last"])
    }

    @Test
    func onHTTP2NewAndUsed() async throws {
        let server = try HTTP2Tests.server { HTTP2Frame.ok($0) }
        var configuration = CurlTransport.Configuration()
        configuration.speaksHTTP2WithPriorKnowledge = true
        let transport = CurlTransport.patient(configuration)
        try await expectTooLate(transport, .to(server.authority, .post), passingInBetween())
        _ = try await transport.fetch(.to(server.authority))
        try await expectTooLate(transport, .to(server.authority, .post), passingInBetween())
        #expect(server.receivedRequests.count == 1)
    }

    @Test
    func inTheQueue() async throws {
        let server = try FaultServer(.stall)
        let transport = CurlTransport.patient(.init(maxConnectionsPerOrigin: 1))
        let clock = ManualClock()
        let time = clock.timeSource()
        let limit = AttemptOptions.SendLimit(time.now.advanced(by: .seconds(1)), time: time)
        let first = Task { try await transport.fetch(.to(server.authority)) }
        _ = try await server.requests(count: 1)
        let second = Task { try await expectTooLate(transport, .to(server.authority, .post), limit) }
        clock.advance(by: .seconds(1))
        first.cancel()
        try await second.value
        #expect(server.connectionCount == 1)
        #expect(server.receivedRequests.count == 1)
    }

    @Test
    func whatIsInTimeIsSent() async throws {
        let server = try FaultServer(.answer())
        let time = ManualClock().timeSource()
        let limit = AttemptOptions.SendLimit(time.now.advanced(by: .nanoseconds(1)), time: time)
        let options = AttemptOptions(sendLimit: limit)
        let response = try await CurlTransport.patient().send(.to(server.authority), body: nil, options: options)
        #expect(response.head.status == .ok)
        #expect(server.receivedRequests.count == 1)
    }
}
