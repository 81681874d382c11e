extension TimeSource {
    /// Waits for the operation at most so long; what is still under way then goes on by itself.
    ///
    /// Unlike with a task group, an operation that does not heed its cancellation holds nobody up, and one that writes
    /// is not stopped in the middle because its caller is.
    ///
    /// - Throws: `TimeoutExceeded` when the time has passed; `CancellationError` as soon as the task is cancelled;
    ///   whatever the operation throws else.
    package func withAbandonment<Result: Sendable>(
        after duration: Duration,
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let end = now.advanced(by: duration)
        let flight = Flight<Result>()
        Task {
            do {
                flight.land(.success(try await operation()))
            } catch {
                flight.land(.failure(error))
            }
        }
        let timer = Task {
            try await sleep(until: end, purpose: .guard)
            flight.land(.failure(TimeoutExceeded()))
        }
        defer { timer.cancel() }
        return try await flight.value
    }
}
