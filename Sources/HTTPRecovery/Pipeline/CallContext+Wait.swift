extension CallContext {
    /// Waits, and tells of it in events and history.
    ///
    /// - Parameters:
    ///   - delay: How long; nothing happens if it is not above zero.
    ///   - reason: What the call waits for.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    package func wait(_ delay: Duration, reason: Outcome.Kind) async throws {
        guard delay > .zero else { return }
        let time = runtime.time
        let start = time.now
        let end = start.advanced(by: delay)
        emit(.wait(reason: reason, duration: delay, until: time.wallTime(at: end)))
        // A wait that is cut short counts for as long as it lasted.
        defer {
            let waited = min(delay, start.duration(to: time.now))
            record.append([.wait(History.Wait(reason: reason, duration: waited))])
        }
        try await time.sleep(until: end)
    }
}
