extension TimeSource {
    /// Waits for the operation until the time has passed or the caller is cancelled; then it is cancelled, from a task
    /// of its own, and nobody waits for it.
    ///
    /// What a foreign operation does when it is cancelled may block, or need the thread or lock of whoever cancels it:
    /// here it holds up nobody.
    ///
    /// - Throws: `TimeoutExceeded` when the time has passed; `CancellationError` as soon as the task is cancelled;
    ///   whatever the operation throws else.
    func withCutoff<Result: Sendable>(
        at instant: Instant,
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        // The operation runs in a task of its own, which does not know that this one is cancelled already.
        try Task.checkCancellation()
        let flight = Flight<Result>()
        let work = Task {
            do {
                flight.land(.success(try await operation()))
            } catch {
                flight.land(.failure(error))
            }
        }
        let timer = Task {
            try await sleep(until: instant, purpose: .guard)
            flight.land(.failure(TimeoutExceeded()))
        }
        defer { timer.cancel() }
        do {
            return try await flight.value
        } catch {
            if error is TimeoutExceeded || error is CancellationError { Task { work.cancel() } }
            throw error
        }
    }
}
