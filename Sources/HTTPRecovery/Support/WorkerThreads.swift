/// Threads of their own for work that blocks, such as reading and flushing files: in the order in which it came.
///
/// Neither a thread of the concurrency runtime nor an event loop is held up by a slow disk, or by somebody's lock. A thread
/// is started if there is work and fewer run than may, and ends when there is none.
package final class WorkerThreads: TaskExecutor {
    fileprivate struct State {
        var work = FIFO<@Sendable () -> Void>()
        var running = 0
        /// Lands when nothing is left to do; nil if nobody waits for that.
        var idle: Flight<Void>?
    }

    /// The one for small files, shared by all who keep some.
    package static let files = WorkerThreads()

    private let limit: Int
    private let state = Locked(State())

    /// - Parameter limit: The most threads at once; with one, one piece of work follows the other.
    init(atMost limit: Int = 1) {
        self.limit = limit
    }

    /// Runs the function on a thread, and waits for its end even if the caller is cancelled: what has arrived is
    /// stored, and a piece of work is short.
    ///
    /// - Throws: What the function throws.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs a function that changes nothing on a thread; who is cancelled does not wait for its end, as a disk may never answer.
    ///
    /// - Throws: What the function throws; `CancellationError` as soon as the caller is cancelled.
    package func look<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let flight = Flight<Value>()
        enqueue { flight.land(Result(catching: body)) }
        return try await flight.value
    }

    /// Runs the function on a thread, some time.
    func enqueue(_ piece: @escaping @Sendable () -> Void) {
        let hasThread = state.withLock { state in
            if state.running < limit, SystemThread.run({ self.loop() }) { state.running += 1 }
            if state.running > 0 { state.work.append(piece) }
            return state.running > 0
        }
        // If the system has no thread left, the caller's has to do.
        if !hasThread { piece() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        enqueue { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Lands as soon as there is nothing to do; nil if there is nothing now.
    func idle() -> Flight<Void>? {
        state.withLock { state in
            if state.running == 0 { return nil }
            let idle = state.idle ?? Flight()
            state.idle = idle
            return idle
        }
    }

    private func loop() {
        while let piece = state.withLock({ $0.next() }) { piece() }
        state.withLock { $0.running == 0 ? $0.idle.take() : nil }?.land(.success(()))
    }
}

extension WorkerThreads.State {
    /// The next piece of work; without one the thread that asks ends.
    fileprivate mutating func next() -> (@Sendable () -> Void)? {
        let piece = work.popFirst()
        if piece == nil { running -= 1 }
        return piece
    }
}
