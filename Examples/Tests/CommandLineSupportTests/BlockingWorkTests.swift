import CommandLineSupport
import Dispatch
import Testing

/// What may be stuck is done on a thread of its own.
@Suite(.timeLimit(.minutes(10)))
struct BlockingWorkTests {
    /// The time may be over before the waiting has begun.
    @Test func aTimeThatIsOverIsNoCancellation() async throws {
        let work = BlockingWork()
        let isStuck = DispatchSemaphore(value: 0)
        defer { isStuck.signal() }
        work.enqueue { isStuck.wait() }
        for _ in 0..<500 {
            await #expect(throws: BlockingWork.TimedOut.self) { try await work.run(leaving: true, within: .zero) {} }
        }
    }
}
