extension CallContext {
    /// Waits, and tells of it in events and history.
    ///
    /// - Parameters:
    ///   - delay: How long; nothing happens if it is not above zero.
    ///   - reason: What the call waits for.
    ///   - cause: Who holds it up. Default: what lies between the calls of an operation.
    /// - Throws: `CancellationError` as soon as the task is cancelled; `RecoveryError` as soon as the client is shut down
    ///   (``History/StopReason/clientShutDown``).
    package func wait(
        _ delay: Duration,
        reason: Outcome.Kind,
        cause: RecoveryEvent.WaitCause = .operation
    ) async throws {
        guard delay > .zero else { return }
        let time = runtime.time
        let start = time.now
        let end = start.advanced(by: delay)
        emit(.wait(reason: reason, duration: delay, until: time.wallTime(at: end)), waitCause: cause)
        do {
            // A wait that is cut short counts for as long as it lasted.
            defer {
                let waited = min(delay, start.duration(to: time.now))
                record.append([.wait(History.Wait(reason: reason, duration: waited))])
            }
            if try await sleeps(until: end) { return }
        }
        let outcome = Outcome(reason, processed: record.attempts > 0 ? .unknown : .no)
        let left = time.now.duration(to: end)
        throw RecoveryError(after: outcome, reason: .clientShutDown, needed: left, response: nil, context: self)
    }

    /// Tells that the call stands in a line from now on: how long is not known before it has left.
    func tellOfLine(atMost limit: Duration, reason: Outcome.Kind) {
        let time = runtime.time
        emit(
            .line(reason: reason, atMost: limit, until: time.wallTime(at: time.now.advanced(by: limit))),
            waitCause: .line
        )
    }

    /// Sleeps; false if the client was shut down meanwhile.
    private func sleeps(until instant: TimeSource.Instant) async throws -> Bool {
        let (time, end) = (runtime.time, record.surroundings.end)
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await time.sleep(until: instant)
                return true
            }
            group.addTask {
                try await end.value
                return false
            }
            defer { group.cancelAll() }
            guard let isDone = try await group.next() else { throw CancellationError() }
            return isDone
        }
    }
}
