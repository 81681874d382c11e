import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P7BoundedAmplification {
    @Test(arguments: [
        ScriptedTransport.Step.status(503), .fail(.cannotConnect, .neverSent), .status(429, ["retry-after": "1"]),
    ])
    func anOutageIsNotMadeWorse(step: ScriptedTransport.Step) async throws {
        let bench = Bench(then: step) { Recovery(maxAttempts: 5) }
        let calls = 500
        for _ in 1...calls {
            await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        }
        #expect(Double(bench.transport.received.count) <= Double(calls) * 1.2 + 10)
        #expect(bench.events.words.contains { $0.hasSuffix("budget_exhausted") })
    }

    @Test func manyCallersAtOnceAreBoundedToo() async throws {
        let bench = Bench(then: .status(503))
        try await bench.clock.skippingWaits {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<300 {
                    group.addTask {
                        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
                    }
                }
            }
        }
        #expect(bench.transport.received.count <= 300 + 60 + 10)
    }

    @Test func resendsThatSucceedDoNotUseTheBudgetUp() async throws {
        var steps: [ScriptedTransport.Step] = []
        for _ in 0..<100 { steps += [.status(503), .status(200)] }
        let bench = Bench(steps)
        for _ in 0..<100 { #expect(try await bench.sendSkippingWaits().status == .ok) }
    }

    @Test func anotherOriginHasItsOwnBudget() async throws {
        let bench = Bench(then: .status(503)) { Recovery(budget: .ratio(.init(ratio: 0, burst: 1))) }
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        var elsewhere = Bench.get
        elsewhere.authority = "other.example.com"
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits(elsewhere) }
        #expect(bench.transport.received.count == 4)
    }
}
