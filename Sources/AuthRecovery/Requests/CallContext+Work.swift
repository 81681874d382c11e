package import HTTPRecovery

extension CallContext {
    /// Does work for the call, such as asking what became of a credential: it names the call as its parent, keeps to the
    /// call's bounds, and its end stands in the events.
    package func work<Result>(_ work: (RecoveryOperation) async throws -> Result) async throws -> Result {
        let operation = RecoveryOperation(for: self, until: deadline).bounded(longestWait: longestWait)
        do {
            let result = try await work(operation)
            operation.end(.ok)
            return result
        } catch {
            operation.end(error is CancellationError ? .cancelled : .failed)
            throw error
        }
    }
}
