extension TimeSource {
    /// A clock that is told what a sleep on it is for.
    ///
    /// A ``TimeSource`` that is made from one hands every sleep to it, with its purpose, also those that are over already.
    /// A clock that a test moves can then tell what the program waits for from the timeouts that lie behind it.
    public protocol PurposefulClock: Clock {
        /// Sleeps until the deadline; returns at once when it has passed.
        ///
        /// - Parameters:
        ///   - deadline: When the sleep is over.
        ///   - purpose: What it is for.
        /// - Throws: `CancellationError` as soon as the task is cancelled.
        func sleep(until deadline: Instant, for purpose: TimeSource.SleepPurpose) async throws
    }
}
