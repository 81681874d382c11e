import CCurl
import Glibc
import Synchronization

/// Resumes those whom a turn of the loop has made ready, all of them before the first one runs on the loop's own processor.
///
/// Resuming a task wakes a thread of its executor. If that is to run on the loop's processor, the kernel mostly lets it do so at
/// once, in the loop's place. Two changes of threads for each task would be the price, and their next requests would come one
/// by one. So whoever finds the loop in the middle of a batch has it finish that first.
///
/// `@unchecked` because no compiler says of a `ManagedBuffer` that any thread may use it; all else is atomic.
final class ResumptionBatch: @unchecked Sendable {
    /// Held while a batch is being resumed; a count of them, since a lock has to guard something.
    private let turn = Protected.make(0)
    /// The processor that the loop is on while it resumes a batch of several; otherwise -1.
    private let processor = Atomic<Int32>(-1)
    /// The loop's thread.
    private let thread = Atomic<UInt>(0)

    /// Resumes all of them; on the loop's thread, which is on the processor.
    func carryOut(_ resumptions: [Resumption], on own: Int32 = sched_getcpu()) {
        if resumptions.count > 1 {
            thread.store(UInt(pthread_self()), ordering: .relaxed)
            let isCarriedOut = turn.withLockIfFree { count in
                count &+= 1
                processor.store(own, ordering: .relaxed)
                for resumption in resumptions { resumption.carryOut() }
                processor.store(-1, ordering: .relaxed)
            }
            // One that has just waited may not have let go yet; the loop waits for nobody.
            if isCarriedOut { return }
        }
        for resumption in resumptions { resumption.carryOut() }
    }

    /// Has the loop finish, if this thread runs in its place while it is in the middle of a batch.
    ///
    /// It takes the loop microseconds. The wait is bounded all the same, for executors that run a task with a lock held that
    /// the loop needs to hand them the next one.
    @inline(__always)
    func giveWay(on own: @autoclosure () -> Int32 = sched_getcpu()) {
        let processor = processor.load(ordering: .relaxed)
        if processor >= 0, processor == own() { wait() }
    }

    @inline(never)
    private func wait() {
        // An executor may run what it is given at once, on the loop's own thread.
        if thread.load(ordering: .relaxed) == UInt(pthread_self()) { return }
        turn.wait(atMost: Self.longestWait)
    }

    /// In nanoseconds.
    private static let longestWait: UInt64 = 1_000_000
}
