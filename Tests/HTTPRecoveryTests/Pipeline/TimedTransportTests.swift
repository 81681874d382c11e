import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What becomes of an attempt whose transport keeps no time, after it was cut off.
@Suite(.timeLimit(.minutes(30))) struct TimedTransportTests {
    /// A transport whose attempt hangs until it is let go or cancelled, and says which.
    private final class Hanging: HTTPTransport {
        let name = "hanging"
        let answer = Flight<TransportResponse>()
        let ends = Locked<[String]>([])
        let begun = Flight<Void>()

        func send(_ request: HTTPRequest, body: HTTPBody?, options: AttemptOptions) async throws -> TransportResponse {
            begun.land(.success(()))
            do {
                let response = try await answer.value
                ends.withLock { $0.append("answered") }
                return response
            } catch {
                ends.withLock { $0.append(error is CancellationError ? "cancelled" : "failed") }
                throw error
            }
        }

        func shutdown() async {
            ends.withLock { $0.append("shut down") }
            answer.land(.failure(TransportError(.shutDown, .unknown)))
        }

        func waitForEnds(_ count: Int) async {
            while ends.withLock({ $0.count }) < count { await Task.yield() }
        }

        var all: [String] { ends.withLock { $0 } }
    }

    private let clock = ManualClock()
    private let hanging = Hanging()

    private func timed() -> TimedTransport {
        TimedTransport(hanging, time: clock.timeSource())
    }

    private func cutOff(_ transport: TimedTransport) async throws {
        let attempt = Task {
            try await transport.send(Bench.get, body: nil, options: AttemptOptions(timeout: .seconds(2)))
        }
        _ = try await hanging.begun.value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TransportError.self) { try await attempt.value }
        #expect(error?.code == .timedOut)
    }

    @Test func itIsCancelledWhenNoAnswerComesForAWhile() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        #expect(hanging.all == [])
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(1)
        #expect(hanging.all == ["cancelled"])
        await transport.shutdown()
        #expect(hanging.all == ["cancelled", "shut down"])
    }

    @Test func anAnswerThatIsALittleLateEndsItByItself() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        hanging.answer.land(.success(TransportResponse(head: HTTPResponse(status: .ok))))
        await hanging.waitForEnds(1)
        clock.advance(by: TimedTransport.grace)
        #expect(hanging.all == ["answered"])
    }

    @Test func aShutdownEndsItAlone() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        await transport.shutdown()
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(2)
        #expect(hanging.all == ["shut down", "failed"])
    }

    @Test func whoIsCancelledDoesNotWaitForTheTransport() async throws {
        let transport = timed()
        let attempt = Task { try await transport.send(Bench.get, body: nil, options: AttemptOptions()) }
        _ = try await hanging.begun.value
        attempt.cancel()
        await #expect(throws: CancellationError.self) { try await attempt.value }
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(1)
        #expect(hanging.all == ["cancelled"])
    }
}
