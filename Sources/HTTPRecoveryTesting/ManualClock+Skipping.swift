extension ManualClock {
    /// Does something while the clock jumps over whatever is waited for.
    ///
    /// Work that is guarded by a timeout sleeps on the clock too, for as long as it may take. Where it is under way while
    /// others wait, a limit below the timeout keeps the clock from jumping there, which would end the work.
    ///
    /// - Parameters:
    ///   - limit: The longest wait to jump over; nil, the default, is any.
    ///   - body: What is done.
    public func skippingWaits<Result: Sendable>(
        upTo limit: Duration? = nil,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        let skipper = Task {
            while !Task.isCancelled {
                guard let limit else {
                    await advanceToNextDeadline()
                    continue
                }
                if let next = nextDeadline, now.duration(to: next) <= limit { advance(to: next) }
                await Task.yield()
            }
        }
        defer { skipper.cancel() }
        return try await body()
    }
}
