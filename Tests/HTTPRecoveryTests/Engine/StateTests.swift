import HTTPRecovery
import HTTPTypes
import Testing

@Suite struct InMemoryRecoveryStoreTests {
    private let start = Timestamp(secondsSinceEpoch: 1000)

    private func gate(_ name: String, opensAt seconds: Int64?) -> SharedState.Gate {
        SharedState.Gate(
            key: SharedState.Gate.Key(
                scope: .endpoint,
                origin: Origin(scheme: "https", authority: "a.example"),
                name: name
            ),
            reason: .rateLimited,
            opensAt: seconds.map { Timestamp(secondsSinceEpoch: $0) }
        )
    }

    @Test func theGateThatOpensLastCounts() async {
        let store = InMemoryRecoveryStore()
        let keys = ["a", "b", "c"].map { gate($0, opensAt: 0).key }
        #expect(await store.closedGate(among: keys, at: start) == nil)
        await store.close(gate("a", opensAt: 1010), at: start)
        await store.close(gate("b", opensAt: 1020), at: start)
        #expect(await store.closedGate(among: keys, at: start)?.key.name == "b")
        await store.close(gate("c", opensAt: nil), at: start)
        #expect(await store.closedGate(among: keys, at: start)?.key.name == "c")
        await store.open(keys[2])
        #expect(await store.closedGate(among: keys, at: Timestamp(secondsSinceEpoch: 1020)) == nil)
    }

    @Test func aGateIsOnlyEverClosedLonger() async {
        let store = InMemoryRecoveryStore()
        let key = gate("a", opensAt: 0).key
        await store.close(gate("a", opensAt: 1020), at: start)
        await store.close(gate("a", opensAt: 1010), at: start)
        #expect(await store.closedGate(among: [key], at: start)?.opensAt == Timestamp(secondsSinceEpoch: 1020))
        await store.close(gate("a", opensAt: nil), at: start)
        await store.close(gate("a", opensAt: 5000), at: start)
        #expect(await store.closedGate(among: [key], at: start)?.opensAt == .some(nil))
    }

    @Test func endlessHostsDoNotFillTheMemory() async {
        let store = InMemoryRecoveryStore(limit: 10)
        for index in 0..<1000 { await store.close(gate("\(index)", opensAt: 2000 + Int64(index)), at: start) }
        var known = 0
        for index in 0..<1000 where await store.closedGate(among: [gate("\(index)", opensAt: 0).key], at: start) != nil
        {
            known += 1
        }
        #expect(known == 10)
    }

    @Test func theQueueIsCountedFromTheClosing() async {
        let store = InMemoryRecoveryStore()
        let first = gate("a", opensAt: 1010)
        await store.close(first, at: start)
        #expect(await store.joinQueue(at: first.key) == 0)
        #expect(await store.joinQueue(at: first.key) == 1)
        await store.close(gate("a", opensAt: 1030), at: start)
        #expect(await store.joinQueue(at: first.key) == 0)
    }
}

@Suite struct RetryBudgetTests {
    @Test func depositsAndWithdrawalsAreExact() {
        let budget = RetryBudget(.init(ratio: 0.2, burst: 1))
        #expect(budget.withdraw())
        #expect(!budget.withdraw())
        for _ in 0..<4 { budget.recordCall() }
        #expect(!budget.hasBalance)
        budget.recordCall()
        #expect(budget.withdraw())
        #expect(!budget.withdraw())
        budget.refund()
        #expect(budget.withdraw())
    }

    @Test func aBudgetOfNothingNeverPays() {
        let budget = RetryBudget(.init(ratio: 0, burst: 0))
        for _ in 0..<1000 { budget.recordCall() }
        #expect(!budget.withdraw())
    }
}
