import HTTPRecovery

extension Credentials {
    /// The right to renew the credentials of a store, for a limited time.
    ///
    /// Of all who share the store, in this process and others, one holds it at a time. It runs out by itself when its
    /// holder dies.
    public protocol Lease: Sendable {
        /// A number that is higher than that of every earlier lease of the store.
        var fence: UInt64 { get }

        /// Holds it for `duration` from now.
        ///
        /// - Returns: Whether it was still held.
        func extend(for duration: Duration) async -> Bool

        /// Gives it back.
        func release() async
    }
}

extension Credentials.Lease {
    /// Extends the lease for as long as the work lasts.
    func kept<Result>(
        for duration: Duration,
        _ time: TimeSource,
        _ work: () async throws -> Result
    ) async rethrows -> Result {
        let heartbeat = heartbeat(for: duration, time)
        defer { heartbeat.cancel() }
        return try await work()
    }

    /// Extends the lease until it is lost, or the task is cancelled.
    func heartbeat(for duration: Duration, _ time: TimeSource) -> Task<Void, any Error> {
        Task {
            while true {
                try await time.sleep(for: duration.scaled(by: 1 / 3), purpose: .guard)
                guard await extend(for: duration) else { return }
            }
        }
    }
}
