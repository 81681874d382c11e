import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Transfers on which nothing moves are ended, and only those.
@Suite struct IdleTimeoutTests {
    /// A bench whose attempts may take an hour, and stand still for 10 s; its transport reads bodies as slowly as the clock
    /// says.
    private static func bench(_ steps: [ScriptedTransport.Step], maxAttempts: Int = 1) -> Bench {
        Bench(steps) {
            Recovery(maxAttempts: maxAttempts)
            AttemptTimeout(.seconds(3600), idle: .seconds(10))
        }
    }

    /// A body of which a piece comes after each of the pauses, in seconds; one that is endless has no end behind them.
    private static func body(_ pauses: [Int], isEndless: Bool = false, _ clock: ManualClock) -> MessageBody {
        let time = clock.timeSource()
        return MessageBody(
            once: AsyncThrowingStream { continuation in
                let task = Task {
                    for pause in pauses {
                        try await time.sleep(for: .seconds(pause))
                        continuation.yield([UInt8(ascii: "x")][...])
                    }
                    if !isEndless { continuation.finish() }
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        )
    }

    @Test func aServerThatNeverAnswersIsLeft() async throws {
        let bench = Self.bench([.hang])
        let start = bench.clock.now
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(error?.outcome.kind == .timedOut && error?.outcome.processed == .unknown)
        #expect(start.duration(to: bench.clock.now) == .seconds(10))
    }

    @Test(arguments: [[9, 9, 9, 9], [0], []])
    func aSlowBodyIsReadToItsEnd(pauses: [Int]) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([
            .run { _ in TransportResponse(head: HTTPResponse(status: .ok), body: Self.body(pauses, clock)) }
        ])
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: clock.timeSource())) {
            Recovery(maxAttempts: 1)
            AttemptTimeout(.seconds(3600), idle: .seconds(10))
        }
        let bytes = try await clock.skippingWaits {
            try await client.send(Bench.get).body.collect(upTo: 100)
        }
        #expect(bytes.count == pauses.count)
    }

    @Test(arguments: [RequestOptions.Buffering.upTo(100), .streamed])
    func aBodyThatStallsBreaksOff(buffering: RequestOptions.Buffering) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([
            .run { _ in TransportResponse(head: HTTPResponse(status: .ok), body: Self.body([1], isEndless: true, clock))
            }
        ])
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: clock.timeSource())) {
            Recovery(maxAttempts: 1)
            AttemptTimeout(.seconds(3600), idle: .seconds(10))
        }
        var options = RequestOptions()
        options.buffering = buffering
        let start = clock.now
        do {
            _ = try await clock.skippingWaits { [options] in
                try await client.send(Bench.get, options: options).body.collect(upTo: 100)
            }
            Issue.record("a body that stalls has ended")
        } catch let error as RecoveryError {
            #expect(error.outcome.transportError?.code == .timedOut)
        } catch let error as TransportError {
            #expect(error.code == .timedOut && error.certainty == .answered)
        }
        #expect(start.duration(to: clock.now) == .seconds(11))
    }

    @Test func anUploadThatMovesIsNoPause() async throws {
        let clock = ManualClock()
        let time = clock.timeSource()
        let transport = SlowReader(time: time, pause: .seconds(6))
        let client = RecoveringClient(transport: transport, runtime: Runtime(time: time)) {
            Recovery(maxAttempts: 1)
            AttemptTimeout(.seconds(3600), idle: .seconds(10))
        }
        let bodies = [
            MessageBody([UInt8](repeating: 1, count: 300_000)),
            MessageBody(
                once: AsyncStream { continuation in
                    for _ in 0..<4 { continuation.yield([UInt8](repeating: 1, count: 75_000)[...]) }
                    continuation.finish()
                }
            ),
        ]
        for body in bodies {
            let response = try await clock.skippingWaits { try await client.send(Bench.post, body: body) }
            #expect(response.headerFields[.contentLength] == "300000")
        }
    }

    @Test func whatIsIdleIsSentAgain() async throws {
        let bench = Self.bench([.hang, .status(200)], maxAttempts: 2)
        #expect(try await bench.sendSkippingWaits().history.attempts.count == 2)
    }

    @Test func whoIsCancelledIsCancelled() async throws {
        let bench = Self.bench([.hang])
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    /// Takes a while over each piece of a request's body.
    private struct SlowReader: HTTPTransport {
        let time: TimeSource
        let pause: Duration
        var name: String { "slow" }
        var enforcesTimeouts: Bool { true }

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            var count = 0
            if let body {
                for try await chunk in body {
                    try await time.sleep(for: pause)
                    count += chunk.count
                }
            }
            return .scripted(200, ["content-length": "\(count)"])
        }
    }
}
