extension RecoveringClient {
    /// Does work of several calls as one operation.
    ///
    /// Within an operation it belongs to that one, under its number, with bounds that are at least as strict.
    ///
    /// - Parameters:
    ///   - deadline: The time that it may take; nil for any.
    ///   - longestWait: The longest single wait, in its calls and between them; nil for any.
    ///   - label: What tells it from others in its events, and its calls that have no label of their own; nil for nothing.
    ///     Within another operation that one's holds.
    ///   - observer: Told the events of its calls and its own, beside those who watch the client.
    ///   - work: The work; it makes its calls by a client that is ``within(_:)`` the operation.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws; `RecoveryError` if the client has been shut down.
    public func operation<Result>(
        deadline: Duration? = nil,
        longestWait: Duration? = nil,
        label: String? = nil,
        observer: (@Sendable (RecoveryEvent) -> Void)? = nil,
        _ work: (RecoveryOperation) async throws -> Result
    ) async throws -> Result {
        let end = deadline.map { runtime.time.now.advanced(by: max($0, .zero)) }
        if let scope {
            return try await work(scope.bounded(until: end, longestWait: longestWait).observed(by: observer))
        }
        let operation = RecoveryOperation(
            CallContext.Record(
                callID: runtime.numbers.next(),
                RequestOptions(label: label, observer: observer),
                surroundings
            ),
            until: end,
            longestWait: longestWait,
            of: openCalls
        )
        guard openCalls.enter() else {
            throw Self.refusal(Self.shutDown, operation.context)
        }
        defer { openCalls.leave() }
        return try await Self.tell(of: operation, work)
    }

    /// Does work that is begun at a client which takes no more calls, too, and which a shutdown does not wait for: its calls
    /// are refused then, one by one.
    ///
    /// That is a watch, which goes on for as long as somebody wants it, and a sign-out, which forgets a session whatever
    /// becomes of its calls. Within an operation it belongs to that one.
    ///
    /// - Parameter work: The work.
    /// - Returns: What the work returns.
    /// - Throws: What the work throws.
    package func looseOperation<Result>(_ work: (RecoveryOperation) async throws -> Result) async throws -> Result {
        if let scope { return try await work(scope) }
        let record = CallContext.Record(callID: runtime.numbers.next(), RequestOptions(), surroundings)
        return try await Self.tell(of: RecoveryOperation(record, until: nil, of: nil), work)
    }

    private static func tell<Result>(
        of operation: RecoveryOperation,
        _ work: (RecoveryOperation) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await work(operation)
            operation.context.report(.ok)
            return result
        } catch {
            operation.context.report(error)
            throw error
        }
    }

    /// The client, for calls that belong to the operation: they have its number, and keep to its bounds.
    public func within(_ operation: RecoveryOperation) -> RecoveringClient {
        var client = self
        client.scope = operation
        return client
    }

    /// The client, for calls that wait no longer than that at a time.
    ///
    /// - Parameter limit: The longest single wait; nil for no bound but the client's own.
    public func waiting(atMost limit: Duration?) -> RecoveringClient {
        var client = self
        client.longestWait = [longestWait, limit].compactMap { $0 }.min()
        return client
    }
}

extension CallContext {
    /// Tells how a call or an operation has ended.
    func report(_ end: RecoveryEvent.End) {
        emit(
            .done(
                end,
                attempts: record.attempts,
                waited: record.history.waited,
                elapsed: record.start.duration(to: runtime.time.now)
            )
        )
    }

    /// Tells that a call or an operation has ended with an error, or was cancelled.
    func report(_ error: any Error) {
        if error is CancellationError { return report(.cancelled) }
        if let error = error as? RecoveryError {
            emit(.givingUp(error.outcome, reason: error.reason, retryAfter: error.retryAfter, until: error.retryAt))
        }
        report(.failed)
    }
}
