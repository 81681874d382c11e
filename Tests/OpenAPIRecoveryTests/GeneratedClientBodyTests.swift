import Foundation
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OpenAPIRecovery
import OpenAPIRuntime
import Testing

/// What becomes of bodies on their way, and of middlewares before and behind.
@Suite struct GeneratedClientBodyTests {
    typealias Way = GeneratedClientTests.Way

    private static let note = Operations.getNote.Input(path: .init(id: "1"))

    private static func streamed() -> RecoveringTransport.Rules {
        RecoveringTransport.Rules(adjust: { _, options in options.buffering = .streamed })
    }

    /// A server that answers with a body's first byte, and with no more of it.
    private static func stalling() -> InProcessTransport {
        InProcessTransport { _ in
            let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
            continuation.yield([1])
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: MessageBody(once: stream)
            )
        }
    }

    private static func binary(_ output: Operations.importNotes.Output) throws -> HTTPBody {
        try output.ok.body.binary
    }

    @Test(arguments: Way.allCases)
    func theAnswerToHEADHasNoBody(way: Way) async throws {
        let transport = ScriptedTransport([.status(503), .status(200, ["content-length": "10"])], then: .status(404))
        let clock = ManualClock()
        let api = try GeneratedClientTests.api(way, transport, clock)
        let input = Operations.findNote.Input(path: .init(id: "1"))
        #expect(try await clock.skippingWaits { try await api.findNote(input) } == .ok)
        #expect(try await api.findNote(input) == .notFound)
        #expect(transport.received.map(\.request.method) == [.head, .head, .head])
    }

    @Test(arguments: Way.allCases)
    func aLargeBodyArrivesWhole(way: Way) async throws {
        let size = 3 << 20
        let transport = InProcessTransport { call in
            TransportResponse(
                head: HTTPResponse(status: .ok),
                body: MessageBody(once: call.body, length: call.body.length)
            )
        }
        let api = try GeneratedClientTests.api(way, transport, ManualClock())
        let sent = [UInt8]((0..<size).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let body = try Self.binary(try await api.importNotes(.init(body: .binary(HTTPBody(sent)))))
        #expect(body.length == .known(Int64(size)))
        #expect(try await [UInt8](collecting: body, upTo: size) == sent)
    }

    @Test(arguments: Way.allCases)
    func aDeadlineEndsAnAnswerThatStalls(way: Way) async throws {
        let clock = ManualClock()
        var rules = Self.streamed()
        rules.adjust = { _, options in
            options.buffering = .streamed
            options.deadline = .seconds(5)
        }
        let api = try GeneratedClientTests.api(way, Self.stalling(), clock, rules: rules)
        let body = try Self.binary(try await api.importNotes(.init(body: .binary("x"))))
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() == [1])
        clock.advance(by: .seconds(6))
        do {
            _ = try await iterator.next()
            Issue.record("It has not ended")
        } catch {
            #expect(error is TransportError, "\(error)")
        }
    }

    @Test(arguments: Way.allCases)
    func cancellationEndsTheReadingOfAnAnswer(way: Way) async throws {
        let api = try GeneratedClientTests.api(way, Self.stalling(), ManualClock(), rules: Self.streamed())
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            let body = try Self.binary(try await api.importNotes(.init(body: .binary("x"))))
            for try await _ in body { beginning.yield() }
            try Task.checkCancellation()
        }
        for await _ in begun { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
    }

    private struct Failed: Error {}

    /// A body that can be read again, and breaks off each time.
    private struct Failing: AsyncSequence, Sendable {
        typealias Element = ArraySlice<UInt8>

        let readings = Locked(0)

        func makeAsyncIterator() -> AsyncThrowingStream<ArraySlice<UInt8>, any Error>.Iterator {
            readings.withLock { $0 += 1 }
            return AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                continuation.yield([1])
                continuation.finish(throwing: Failed())
            }.makeAsyncIterator()
        }
    }

    /// Who sends hears of it, and nothing is sent again that would fail again.
    @Test(arguments: Way.allCases)
    func aBodyThatFailsIsTheCause(way: Way) async throws {
        let transport = ScriptedTransport(then: .status(200))
        let clock = ManualClock()
        let url = try #require(URL(string: "https://notes.example/v1"))
        let runtime = Runtime.manual(clock)
        let api =
            way == .transport
            ? Client(
                serverURL: url,
                transport: RecoveringTransport(RecoveringClient(transport: transport, runtime: runtime))
            )
            : Client(
                serverURL: url,
                transport: PlainTransport(transport),
                middlewares: [RecoveringMiddleware(runtime: runtime)]
            )
        let bytes = Failing()
        let body = HTTPBody(bytes, length: .unknown, iterationBehavior: .multiple)
        let error = try await GeneratedClientTests.failure {
            _ = try await clock.skippingWaits { try await api.exportNotes(.init(body: .binary(body))) }
        }
        #expect(error.cause is Failed, "\(error)")
        #expect(bytes.readings.withLock { $0 } == 1)
    }

    /// Counts what passes, and says no to what it is told to.
    private struct Counting: ClientMiddleware {
        let passed = Locked(0)

        func intercept(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String,
            next: @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?) {
            passed.withLock { $0 += 1 }
            return try await next(request, body, baseURL)
        }
    }

    @Test func whatStandsBehindSeesAttemptsAndWhatStandsBeforeOperations() async throws {
        let transport = ScriptedTransport(then: .status(503))
        let clock = ManualClock()
        let runtime = Runtime.manual(clock)
        let (before, behind) = (Counting(), Counting())
        let api = Client(
            serverURL: try #require(URL(string: "https://notes.example/v1")),
            transport: PlainTransport(transport),
            middlewares: [before, RecoveringMiddleware(runtime: runtime), behind]
        )
        let error = try await GeneratedClientTests.failure {
            _ = try await clock.skippingWaits { try await api.getNote(Self.note) }
        }
        #expect(error.reason == .attemptsExhausted)
        #expect(before.passed.withLock { $0 } == 1)
        #expect(behind.passed.withLock { $0 } == error.history.attempts.count && transport.received.count > 1)
        #expect(transport.received.first?.request.path == "/v1/notes/1")
    }

    /// What the inner one has given up, the outer one does not begin again.
    @Test func oneInTheOtherDoesNotMultiplyAttempts() async throws {
        let clock = ManualClock()
        var counts: [Int] = []
        for number in 1...2 {
            let runtime = Runtime.manual(clock)
            let transport = ScriptedTransport(then: .status(503))
            let api = Client(
                serverURL: try #require(URL(string: "https://notes.example/v1")),
                transport: PlainTransport(transport),
                middlewares: (0..<number).map { _ in RecoveringMiddleware(runtime: runtime) }
            )
            let error = try await GeneratedClientTests.failure {
                _ = try await clock.skippingWaits { try await api.getNote(Self.note) }
            }
            #expect(error.kind == .unavailable)
            counts.append(transport.received.count)
        }
        #expect(counts[0] == counts[1])
    }
}
