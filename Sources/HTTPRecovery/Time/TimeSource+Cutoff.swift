/// Work that nobody waits for any more, and that goes on until it is cancelled or ends by itself.
struct AbandonedWork: Sendable {
    let task: Task<Void, Never>
    /// Lands when it has ended.
    let gone: Flight<Void>
}

extension TimeSource {
    /// Waits for the operation until the time has passed or the caller is cancelled; then nobody waits for it any more.
    ///
    /// - Parameters:
    ///   - instant: Until when it is waited for; nil for any time.
    ///   - threads: Where the operation runs, which may block them; nil for where tasks run.
    ///   - leave: Given what is left to itself.
    ///   - operation: The operation, in a task of its own.
    /// - Throws: `TimeoutExceeded` when the time has passed; `CancellationError` as soon as the task is cancelled;
    ///   whatever the operation throws else.
    func withCutoff<Result: Sendable>(
        at instant: Instant?,
        on threads: WorkerThreads?,
        leaving leave: (AbandonedWork) -> Void,
        _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        // The operation runs in a task of its own, which does not know that this one is cancelled already.
        try Task.checkCancellation()
        let flight = Flight<Result>()
        let gone = Flight<Void>()
        let work = Task(executorPreference: threads) {
            defer { gone.land(.success(())) }
            // Nobody waits for what has not even begun.
            if flight.result != nil { return }
            do {
                flight.land(.success(try await operation()))
            } catch {
                flight.land(.failure(error))
            }
        }
        let timer = instant.map { instant in
            Task {
                try await sleep(until: instant, purpose: .guard)
                flight.land(.failure(TimeoutExceeded()))
            }
        }
        defer { timer?.cancel() }
        do {
            return try await flight.value
        } catch {
            if error is TimeoutExceeded || error is CancellationError { leave(AbandonedWork(task: work, gone: gone)) }
            throw error
        }
    }
}
