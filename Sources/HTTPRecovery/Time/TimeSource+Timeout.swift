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
        try await withTimeout(moving: { instant }, operation)
    }

    /// Runs the operation, and cancels it when the time has passed, which may move meanwhile.
    ///
    /// - Parameters:
    ///   - end: Until when it may run; asked again each time that this has come.
    ///   - operation: The operation.
    /// - Throws: `TimeoutExceeded` when the time has passed; whatever the operation throws else.
    func withTimeout<Result: Sendable>(
        moving end: @escaping @Sendable () -> Instant,
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                var instant: Instant
                repeat {
                    instant = end()
                    try await sleep(until: instant, purpose: .guard)
                } while end() > instant
                throw TimeoutExceeded()
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }
}
