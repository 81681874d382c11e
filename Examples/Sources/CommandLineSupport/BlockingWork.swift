import Dispatch
import Glibc
import Locking

/// A thread for what may block, such as a write to a pipe that nobody reads: one thing after the other.
///
/// On the few threads that all tasks share it would hold up what keeps deadlines, writes events and makes the other calls. The
/// thread is started when there is something to do, and ends with the value.
public final class BlockingWork: Sendable {
    private struct State {
        var pieces: [@Sendable () -> Void] = []
        var isStarted = false
    }

    /// What the thread holds on to; it does not keep the value.
    private final class Queue: Sendable {
        let state = Locked(State())
        let signal = DispatchSemaphore(value: 0)

        func loop() {
            while true {
                signal.wait()
                let piece = state.withLock { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
                guard let piece else { return }
                piece()
            }
        }

        func add(_ piece: @escaping @Sendable () -> Void) {
            let isFirst = state.withLock { state in
                defer { state.isStarted = true }
                state.pieces.append(piece)
                return !state.isStarted
            }
            signal.signal()
            if isFirst { start() }
        }

        private func start() {
            // The thread takes over the retain.
            let context = unsafe Unmanaged.passRetained(self).toOpaque()
            var thread = pthread_t()
            let result = unsafe pthread_create(
                &thread,
                nil,
                { (context: UnsafeMutableRawPointer?) in
                    guard let context = unsafe context else { return nil }
                    unsafe Unmanaged<Queue>.fromOpaque(context).takeRetainedValue().loop()
                    return nil
                },
                context
            )
            guard result == 0 else {
                // Without a thread of its own it holds up those of others, as long as it does.
                unsafe Unmanaged<Queue>.fromOpaque(context).release()
                return DispatchQueue.global().async { self.loop() }
            }
            pthread_detach(thread)
        }
    }

    /// What came of a piece, for who waits for it or does so no longer.
    private final class Answer<Value: Sendable>: Sendable {
        private struct State {
            var continuation: CheckedContinuation<Value, any Error>?
            /// Why nobody waits any longer.
            var reason: (any Error)?
        }

        private let state = Locked(State())

        var isLeft: Bool { state.withLock { $0.reason != nil } }

        /// Notes who waits; returns why they do so no longer, if they do not.
        func wait(_ continuation: CheckedContinuation<Value, any Error>) -> (any Error)? {
            state.withLock { state in
                if state.reason == nil { state.continuation = continuation }
                return state.reason
            }
        }

        func land(_ result: Result<Value, any Error>) {
            take(leavingFor: nil)?.resume(with: result)
        }

        /// Ends the waiting, and what has not begun.
        func leave(throwing error: any Error) {
            take(leavingFor: error)?.resume(throwing: error)
        }

        private func take(leavingFor reason: (any Error)?) -> CheckedContinuation<Value, any Error>? {
            state.withLock { state in
                state.reason = state.reason ?? reason
                defer { state.continuation = nil }
                return state.continuation
            }
        }
    }

    /// What was asked for is not done in time: nobody reads.
    public struct TimedOut: Error {}

    private let queue = Queue()

    /// Creates one without a thread as yet.
    public init() {}

    deinit {
        // Behind all that is still to be done, nothing: the thread ends.
        queue.signal.signal()
    }

    /// Does something on the thread, behind what was asked for before, and waits for it.
    ///
    /// - Parameters:
    ///   - leaves: Whether who is cancelled waits no longer: it may be stuck, and what has not begun is not done then.
    ///   - limit: How long it is waited for, in the same way. Default: as long as it takes.
    ///   - body: What is to be done.
    /// - Throws: What the function throws; `CancellationError` or ``TimedOut`` if it was left.
    public func run<Value: Sendable>(
        leaving leaves: Bool,
        within limit: Duration? = nil,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        let timer = limit.map { limit in
            Task {
                try await Task.sleep(for: limit)
                answer.leave(throwing: TimedOut())
            }
        }
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A time that is over is over before anybody waits.
                if let reason = answer.wait(continuation) { return continuation.resume(throwing: reason) }
                queue.add {
                    if answer.isLeft { return }
                    answer.land(Result { try body() })
                }
            }
        } onCancel: {
            if leaves { answer.leave(throwing: CancellationError()) }
        }
    }

    /// Does something behind all that was asked for before, and waits for nothing.
    public func enqueue(_ body: @escaping @Sendable () -> Void) {
        queue.add(body)
    }
}
