/// The error of an operation that took too long.
package struct TimeoutExceeded: Error {}

extension TimeSource {
    /// Runs the operation, and cancels it when the time has passed.
    ///
    /// - Throws: `TimeoutExceeded` when the time has passed; whatever the operation throws else.
    package func withTimeout<Result: Sendable>(
        until instant: Instant,
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await sleep(until: instant, purpose: .guard)
                throw TimeoutExceeded()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
