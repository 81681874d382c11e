import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P11TimeIsInjected {
    @Test func theSameSeedGivesTheSameSchedule() async throws {
        func schedule(seed: UInt64) async throws -> [Duration] {
            let bench = Bench(then: .status(503), seed: seed) { Recovery(maxAttempts: 6) }
            await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
            return bench.clock.requestedDelays
        }
        let first = try await schedule(seed: 7)
        #expect(first.count == 5)
        #expect(try await schedule(seed: 7) == first)
        #expect(try await schedule(seed: 8) != first)
    }

    @Test(.timeLimit(.minutes(30))) func aWaitOfAnHourTakesNoTime() async throws {
        let bench = Bench([.status(503, ["retry-after": "3599"])]) {
            Recovery(maxWait: .seconds(3600))
        }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.clock.now.offset >= .seconds(3599))
    }
}
