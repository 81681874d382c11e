import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

@Suite("Amounts that nobody should trust")
struct BudgetBoundTests {
    @Test func aStoredBalanceNearTheEndOfTheNumbersTrapsNobody() async throws {
        let bench = SharedStateBench()
        let budget = RetryBudget(.init(ratio: 1, burst: 10), key: "a")
        let full = SharedState.BudgetEntry(key: "a", limit: .max, initial: .max)
        _ = await bench.store.contents.settle(full, at: bench.now)
        for _ in 0..<3 {
            // What is added while the store is asked, and after it has told.
            async let isGranted = budget.withdraw(sharedBy: bench.state)
            for _ in 0..<20 { budget.recordCall() }
            #expect(try await isGranted)
            budget.refund()
        }
        for _ in 0..<100 { budget.recordCall() }
        #expect(budget.hasBalance)
    }

    @Test(arguments: [Int.min, -1, 0, 1, 1000, .max - 1, .max])
    func anEntryOfAnySizeIsBooked(amount: Int) {
        for other in [Int.min, -1, 0, 1, 1000, .max - 1, .max] {
            for stored in [nil, Int.min, -1, 0, .max - 1, .max] {
                var entry = SharedState.BudgetEntry(key: "a", limit: 0, initial: 0)
                (entry.deposit, entry.withdrawal, entry.limit, entry.initial) = (amount, other, amount, other)
                let result = entry.applied(to: stored)
                #expect(result.balance >= 0)
                if amount >= 0, other >= 0, let stored, stored >= 0, result.isGranted {
                    #expect(result.balance <= max(stored, amount))
                }
            }
        }
    }

    @Test func sizesAreClampedWhenTheyAreSetToo() {
        var configuration = RetryBudget.Configuration()
        configuration.ratio = .nan
        configuration.burst = .max
        #expect(configuration == RetryBudget.Configuration(ratio: .nan, burst: .max))
        #expect(RetryBudget(configuration).hasBalance)
        configuration.ratio = .infinity
        configuration.burst = .min
        #expect(configuration.ratio == 1)
        #expect(configuration.burst == 0)
        let budget = RetryBudget(configuration)
        budget.recordCall()
        #expect(budget.withdraw())
        #expect(!budget.withdraw())
    }

    @Test func aStatedLengthReservesLittle() async throws {
        for length in [Int.max, Int.max / 2, -1] {
            let body = MessageBody(length: length) {
                AsyncStream<ArraySlice<UInt8>> { continuation in
                    continuation.yield([1, 2, 3])
                    continuation.finish()
                }
            }
            #expect(try await body.collect(upTo: .max) == [1, 2, 3])
        }
    }
}

@Suite("Paying before waiting", .timeLimit(.minutes(30)))
struct BudgetOrderTests {
    private static let nothing = RetryBudget.Configuration(ratio: 0, burst: 0)
    private static let one = RetryBudget.Configuration(ratio: 0, burst: 1)

    /// A client of a fleet: its store is not its own memory.
    private static func fleet(
        _ steps: [ScriptedTransport.Step],
        budget: RetryBudget.Configuration
    ) -> (bench: Bench, store: UnreliableStore) {
        let clock = ManualClock()
        let store = UnreliableStore(clock: clock)
        let bench = Bench(steps, clock: clock, store: store) {
            Recovery(budget: .ratio(budget)) { TransientRetry(backoff: .constant(.seconds(5))) }
        }
        return (bench, store)
    }

    private static func empty(_ store: UnreliableStore, at now: Timestamp) async {
        let key = "\(Origin(of: Bench.get))"
        let entry = SharedState.BudgetEntry(key: key, withdrawal: 10_000, limit: 10_000, initial: 10_000)
        _ = await store.contents.settle(entry, at: now)
    }

    @Test func anEmptySharedBudgetFailsAtOnce() async throws {
        // Somebody else has used it up; this process does not know yet.
        let (bench, store) = Self.fleet([.status(503), .status(503)], budget: .init(ratio: 0, burst: 10))
        await Self.empty(store, at: bench.client.runtime.time.wallTime)
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.reason == .budgetExhausted)
        #expect(error?.history.waits == [])
        #expect(bench.transport.received.count == 1)
    }

    @Test func aCancelledWaitGivesBackWhatItHasPaid() async throws {
        let bench = Bench([.status(503), .status(503)]) {
            Recovery(budget: .ratio(Self.one)) { TransientRetry(backoff: .constant(.seconds(5))) }
        }
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        let other = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(other?.reason == .budgetExhausted, "what is waited for is paid for")
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        bench.transport.append([.status(503), .status(200)])
        #expect(try await bench.sendSkippingWaits().status == .ok)
    }

    @Test func aCancelledWaitGivesBackToTheSharedBudgetToo() async throws {
        let (bench, _) = Self.fleet([.status(503)], budget: Self.one)
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.waitForWaits(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        bench.transport.append([.status(503), .status(200)])
        let second = Task { try await bench.client.send(Bench.get) }
        await bench.waitForWaits(2)
        bench.clock.advance(by: .seconds(5))
        #expect(try await second.value.status == .ok)
    }

    @Test func aWithdrawalThatNobodyWaitsForAnyMoreIsGivenBack() async throws {
        let bench = SharedStateBench()
        let budget = RetryBudget(Self.one, key: "a")
        bench.store.become(.answersLate)
        let call = Task { try await budget.withdraw(sharedBy: bench.state) }
        let question = SharedState.BudgetEntry(key: "a", limit: 1000, initial: 1000)
        while await bench.store.contents.settle(question, at: bench.now).balance != 0 { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        bench.store.become(.answers)
        bench.store.release()
        // The late answer comes some time, and with it what was paid.
        while try await !budget.withdraw(sharedBy: bench.state) { await Task.yield() }
        #expect(try await !budget.withdraw(sharedBy: bench.state))
    }

    @Test func aResendThatAGateForbidsGivesBack() async throws {
        let bench = Bench([.status(503), .status(429, ["retry-after": "7200"])]) {
            Recovery(budget: .ratio(Self.one)) {
                RateLimitBackoff()
                TransientRetry(backoff: .constant(.seconds(5)))
            }
        }
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        bench.clock.advance(by: .seconds(5))
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.reason == .waitExceedsLimit)
        bench.clock.advance(by: .seconds(7200))
        bench.transport.append([.status(503), .status(200)])
        #expect(try await bench.sendSkippingWaits().status == .ok)
    }

    @Test func anOutageOfAFleetIsNotMadeWorse() async throws {
        let store = InMemoryRecoveryStore()
        let clock = ManualClock()
        let benches = (0..<4).map { _ in
            Bench([], then: .status(503), clock: clock, store: SharedMemory(store)) {
                Recovery(maxAttempts: 5) { TransientRetry(backoff: .constant(.zero)) }
            }
        }
        for _ in 0..<50 {
            for bench in benches {
                await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            }
        }
        let sent = benches.reduce(0) { $0 + $1.transport.received.count }
        #expect(sent <= 250, "200 calls, a fifth of them, and the burst")
    }
}
