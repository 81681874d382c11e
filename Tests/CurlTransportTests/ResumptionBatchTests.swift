import HTTPRecovery
import Testing

@testable import CurlTransport

@Suite struct ResumptionBatchTests {
    /// What resumes a task that runs the closure at once, on the thread that resumes it.
    private static func resumption(_ body: @escaping @Sendable () -> Void) async -> Resumption {
        let hasBegun = Locked(false)
        let task = Task<Void, Never> {
            await withTaskCancellationHandler {
                hasBegun.withLock { $0 = true }
                while !Task.isCancelled { await Task.yield() }
            } onCancel: {
                body()
            }
        }
        while !hasBegun.withLock({ $0 }) { await Task.yield() }
        return .cancellation(task)
    }

    /// What the function costs, in nanoseconds.
    private static func cost(of body: () -> Void) -> UInt64 {
        let start = Monotonic.now()
        body()
        return Monotonic.now() - start
    }

    @Test
    func allAreResumedInTheirOrder() async {
        let order = Locked([Int]())
        var resumptions: [Resumption] = []
        for number in 0..<5 { resumptions.append(await Self.resumption { order.withLock { $0.append(number) } }) }
        ResumptionBatch().carryOut(resumptions)
        #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
    }

    @Test
    func whoTakesTheLoopsProcessorInTheMiddleOfABatchWaits() async throws {
        let batch = ResumptionBatch()
        let waited = Locked(UInt64?.none)
        let first = await Self.resumption {
            // The loop, which goes on only when the other has given up.
            let thread = SystemThread {
                let cost = Self.cost { batch.giveWay(on: 3) }
                waited.withLock { $0 = cost }
            }
            thread?.join()
        }
        let second = await Self.resumption {}
        batch.carryOut([first, second], on: 3)
        let cost = try #require(waited.withLock { $0 })
        // The limit is one of the wall clock, which may be slewed.
        #expect(cost >= 900_000)
    }

    @Test(arguments: [(count: 2, own: Int32(4)), (count: 1, own: 3)])
    func nobodyWaitsOnAnotherProcessorOrForASingleOne(count: Int, own: Int32) async {
        let batch = ResumptionBatch()
        let waited = Locked(UInt64.max)
        var resumptions = [
            await Self.resumption {
                let thread = SystemThread {
                    let cost = Self.cost { for _ in 0..<10_000 { batch.giveWay(on: own) } }
                    waited.withLock { $0 = cost }
                }
                thread?.join()
            }
        ]
        while resumptions.count < count { resumptions.append(await Self.resumption {}) }
        batch.carryOut(resumptions, on: 3)
        // If each waited it would be ten seconds.
        #expect(waited.withLock { $0 } < 5_000_000_000)
    }

    @Test
    func theLoopDoesNotWaitForItself() async {
        let batch = ResumptionBatch()
        let waited = Locked(UInt64.max)
        let first = await Self.resumption {
            let cost = Self.cost { for _ in 0..<10_000 { batch.giveWay(on: 3) } }
            waited.withLock { $0 = cost }
        }
        let second = await Self.resumption {}
        batch.carryOut([first, second], on: 3)
        #expect(waited.withLock { $0 } < 5_000_000_000)
    }

    @Test
    func nobodyWaitsBehindABatch() async {
        let batch = ResumptionBatch()
        let waited = Locked(UInt64.max)
        batch.carryOut([await Self.resumption {}, await Self.resumption {}], on: 3)
        let thread = SystemThread {
            let cost = Self.cost { for _ in 0..<10_000 { batch.giveWay(on: 3) } }
            waited.withLock { $0 = cost }
        }
        thread?.join()
        #expect(waited.withLock { $0 } < 5_000_000_000)
    }
}
