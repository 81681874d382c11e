import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

/// A client on a manual clock and a scripted transport.
struct Bench {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: RecoveringClient
    let events: EventRecorder

    init(
        _ steps: [ScriptedTransport.Step] = [],
        then fallback: ScriptedTransport.Step = .status(200),
        @PipelineBuilder middlewares: () -> [any Middleware] = { [Recovery()] }
    ) {
        transport = ScriptedTransport(steps, then: fallback)
        let runtime = Runtime(time: clock.timeSource(), random: RandomSource(seed: 1))
        client = RecoveringClient(transport: transport, runtime: runtime, middlewares: middlewares)
        events = EventRecorder(runtime.events)
    }

    static let get = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/items?key=s3cret")
    static let post = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/items")
}

@Suite("P1 Nothing is spent twice")
struct P1NothingIsSpentTwice {
    @Test func aPostWhoseAnswerWasLostIsNotSentAgain() async throws {
        let bench = Bench([.fail(.connectionLost, .unknown)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.post) }
        #expect(error?.reason == .methodNotIdempotent)
        #expect(error?.kind == .transport)
        #expect(bench.transport.received.count == 1)
    }

    @Test(arguments: [TransportError.Certainty.neverSent, .notProcessed])
    func aPostThatTheServerCertainlyHasNotProcessedIsSentAgain(certainty: TransportError.Certainty) async throws {
        let bench = Bench([.fail(.connectionLost, certainty)])
        async let response = bench.client.send(Bench.post, body: HTTPBody("x"))
        await bench.clock.advanceToNextDeadline()
        #expect(try await response.status == .ok)
        #expect(bench.transport.received.map(\.text) == ["x", "x"])
    }

    @Test func spendingIsNeverRepeatedOnDoubtWhateverTheMethod() async throws {
        let bench = Bench([.fail(.connectionLost, .unknown)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: RequestOptions(resend: .spending))
        }
        #expect(error?.reason == .processedUnknown)
        #expect(bench.transport.received.count == 1)
    }
}

@Suite("P3 The server's word is kept")
struct P3TheServersWordIsKept {
    @Test func noTaskSendsBeforeRetryAfterHasPassed() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])])
        async let first = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(1)
        async let second = bench.client.send(Bench.get)
        await bench.clock.waitForSleepers(2)
        bench.clock.advance(by: .milliseconds(1999))
        #expect(bench.transport.received.count == 1)
        bench.clock.advance(by: .seconds(2))
        #expect(try await first.status == .ok)
        #expect(try await second.status == .ok)
        #expect(bench.clock.requestedDelays.allSatisfy { $0 >= .seconds(2) })
        #expect(Set(bench.clock.requestedDelays).count == 2)
    }
}
