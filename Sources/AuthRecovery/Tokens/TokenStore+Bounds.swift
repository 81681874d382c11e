package import HTTPRecovery

extension TokenStore {
    /// The credentials for an attempt; a store that does not answer holds a call up until its deadline or its cancellation,
    /// and no longer.
    ///
    /// - Throws: `RecoveryError` with the reason `deadlinePassed`; `CancellationError`; what the store throws.
    package func read(for context: CallContext) async throws -> Credentials.Stored {
        guard readsWait else { return try await read() }
        // Not every store ends a read that nobody wants any more: then it is left to itself.
        let flight = Flight<Credentials.Stored>()
        let reading = Task {
            do {
                flight.land(.success(try await read()))
            } catch {
                flight.land(.failure(error))
            }
        }
        defer { reading.cancel() }
        guard let deadline = context.deadline else { return try await flight.value }
        do {
            return try await context.runtime.time.withTimeout(until: deadline) { try await flight.value }
        } catch is TimeoutExceeded {
            throw RecoveryError(
                outcome: Outcome(.timedOut, processed: .no, remedies: [.retry]),
                reason: .deadlinePassed,
                history: context.record.history
            )
        }
    }
}
