import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// Who watches is told of each wait, and what has the call wait.
@Suite(.timeLimit(.minutes(30))) struct WaitCauseTests {
    private static func causes(_ bench: Bench) -> [RecoveryEvent.WaitCause] {
        bench.events.events.compactMap { event in
            switch event.kind {
            case .wait, .line: break
            default: #expect(event.waitCause == nil)
            }
            return event.waitCause
        }
    }

    @Test func ownDelaysAndThoseThatAreStated() async throws {
        let bench = Bench([.status(503), .status(429, ["retry-after": "2"])])
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(Self.causes(bench) == [.backoff, .gate])
    }

    @Test func whoComesToAGateWaitsThereToo() async throws {
        let bench = Bench([.status(429, ["retry-after": "2"])])
        async let first = bench.client.send(Bench.get)
        await bench.waitForWaits(1)
        async let second = bench.client.send(Bench.get)
        await bench.waitForWaits(2)
        bench.clock.advance(by: .seconds(9))
        #expect(try await [first.status, second.status] == [.ok, .ok])
        #expect(Self.causes(bench) == [.gate, .gate])
    }

    @Test func aPace() async throws {
        let bench = Bench { Recovery(admissions: [Recovery.Pacing(perSecond: 1)]) }
        for _ in 0..<2 { _ = try await bench.sendSkippingWaits() }
        #expect(Self.causes(bench) == [.pace])
    }

    @Test func whatLiesBetweenTheCallsOfAnOperation() async throws {
        let bench = Bench()
        try await bench.clock.skippingWaits {
            try await bench.client.operation { operation in
                try await operation.pause(.seconds(2), reason: .challengePending)
            }
        }
        #expect(Self.causes(bench) == [.operation])
    }

    /// How long it takes is not known before: the event says how long it may.
    @Test func aLine() async throws {
        let limit = Recovery.ConcurrencyLimit(.fixed(1))
        let bench = Bench([.hang]) { Recovery(maxWait: .seconds(40), admissions: [limit]) }
        let first = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        async let second = bench.client.send(Bench.get)
        while !bench.events.words.contains("line unavailable 40.0") { await Task.yield() }
        let start = bench.client.runtime.time.now
        bench.clock.advance(by: .seconds(3))
        first.cancel()
        _ = try? await first.value
        #expect(try await second.history.waits.map(\.duration) == [.seconds(3)])
        #expect(Self.causes(bench) == [.line])
        for event in bench.events.events {
            guard case .line(_, let longest, let until) = event.kind else { continue }
            #expect(event.call == 2 && longest == .seconds(40))
            #expect(until == bench.client.runtime.time.wallTime(at: start.advanced(by: .seconds(40))))
        }
    }
}
