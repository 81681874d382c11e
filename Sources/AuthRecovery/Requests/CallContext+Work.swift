package import HTTPRecovery

extension CallContext {
    /// Does work for the call, such as asking what became of a credential: it names the call as its parent, keeps to the
    /// call's bounds, and its end stands in the events.
    ///
    /// - Parameter isShared: Whether other calls wait for it too: then this one's bounds are not its.
    package func work<Result>(
        isShared: Bool = false,
        _ work: (RecoveryOperation) async throws -> Result
    ) async throws -> Result {
        var operation = RecoveryOperation(for: self, until: isShared ? nil : deadline)
        if !isShared { operation = operation.bounded(longestWait: longestWait) }
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
