import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P8CancellationIsPrompt {
    @Test func itEndsAWaitAndIsNoFailure() async throws {
        let bench = Bench([.status(429, ["retry-after": "60"])])
        let task = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(bench.clock.sleepers == 0)
        #expect(bench.events.words.last == "done cancelled 1")
        #expect(!bench.events.words.contains { $0.hasPrefix("giving_up") })
    }

    @Test func itEndsATransfer() async throws {
        let bench = Bench([.hang])
        let task = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!bench.events.words.contains { $0.hasPrefix("failure") })
    }

    @Test func aTransportThatReportsItsOwnSideOfItIsNotBelieved() async throws {
        let bench = Bench([
            .run { _ in
                do {
                    try await Task.sleep(for: .seconds(86_400))
                } catch {
                    throw TransportError(.connectionLost, .unknown)
                }
                return .scripted(200)
            }
        ])
        let task = Task { try await bench.client.send(Bench.get) }
        await bench.transport.waitForRequests(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func itCostsNoBudget() async throws {
        let bench = Bench(then: .status(503)) { Recovery(budget: .ratio(.init(ratio: 0, burst: 1))) }
        for _ in 1...5 {
            let task = Task { try await bench.client.send(Bench.get) }
            await bench.clock.waitForSleepers(1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        // Five cancelled first attempts, then one call with the one resend that the budget pays for.
        #expect(bench.transport.received.count == 7)
    }
}
