/// A result that is on its way, and those who wait for it.
///
/// Each waiter can be cancelled by itself; that cancels neither the work nor the others.
package final class Flight<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State: Sendable {
        var result: Result<Value, any Error>?
        var waiters: [UInt64: Waiter] = [:]
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    package init() {}

    /// The result, as soon as it is there.
    ///
    /// - Throws: What the work failed with; `CancellationError` as soon as the waiting task is cancelled.
    package var value: Value {
        get async throws {
            let id = state.withLock { state in
                state.next += 1
                return state.next
            }
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { join($0, as: id) }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(throwing: CancellationError())
            }
        }
    }

    /// The result, if it is there.
    package var result: Result<Value, any Error>? {
        state.withLock { $0.result }
    }

    /// Hands the result to all who wait and to all who come later; only the first one counts.
    package func land(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.result == nil else { return [] }
            state.result = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    private func join(_ waiter: Waiter, as id: UInt64) {
        let result: Result<Value, any Error>? = state.withLock { state in
            if let result = state.result { return result }
            // A task that was cancelled before it could join would wait for ever.
            if Task.isCancelled { return .failure(CancellationError()) }
            state.waiters[id] = waiter
            return nil
        }
        if let result { waiter.resume(with: result) }
    }
}
