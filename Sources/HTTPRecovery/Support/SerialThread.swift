/// A thread of its own for work that blocks, such as reading and flushing files: one piece after the other.
///
/// Neither a thread of the concurrency runtime nor an event loop is held up by a slow disk. The thread is started if
/// there is work and none runs, and ends with it.
package final class SerialThread: Sendable {
    private struct State {
        var work: [@Sendable () -> Void] = []
        var isRunning = false
    }

    /// The one for small files, shared by all who keep some.
    package static let files = SerialThread()

    private let state = Locked(State())

    init() {}

    /// Runs the function on the thread, and waits for its end even if the caller is cancelled: what has arrived is
    /// stored, and a piece of work is short.
    ///
    /// - Throws: What the function throws.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            enqueue { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// Runs the function on the thread, some time.
    func enqueue(_ piece: @escaping @Sendable () -> Void) {
        let hasThread = state.withLock { state in
            if !state.isRunning { state.isRunning = SystemThread.run { self.loop() } }
            if state.isRunning { state.work.append(piece) }
            return state.isRunning
        }
        // If the system has no thread left, the caller's has to do.
        if !hasThread { piece() }
    }

    private func loop() {
        while true {
            let pieces = state.withLock { state in
                defer { state.work = [] }
                state.isRunning = !state.work.isEmpty
                return state.work
            }
            if pieces.isEmpty { return }
            for piece in pieces { piece() }
        }
    }
}
