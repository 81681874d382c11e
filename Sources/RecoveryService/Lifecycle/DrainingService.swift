#if ServiceLifecycle
public import HTTPRecovery
public import ServiceLifecycle

/// Runs a service that makes calls, and bounds how long it takes to end.
///
/// A group ends its services one after the other, the last first, and waits for each: for one whose call waits out a limit,
/// as long as that lasts. With this around it the service is told of the shutdown as usual, has some time to finish what it
/// has begun, and is cancelled then.
public struct DrainingService<Work: Service>: Service, CustomStringConvertible {
    private let work: Work
    private let client: RecoveringClient
    private let limit: Duration

    /// Its name, and what it runs; a group logs it in each line about the service.
    public var description: String { "DrainingService \(Work.self)" }

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - work: The service that makes the calls.
    ///   - client: The client whose clock counts.
    ///   - limit: How long the service may take to end. Default: 10 seconds, which leave room for a ``RenewalService`` and a
    ///     ``ClientService`` in the usual 30 before a process is killed.
    public init(_ work: Work, by client: RecoveringClient, within limit: Duration = .seconds(10)) {
        (self.work, self.client, self.limit) = (work, client, limit)
    }

    /// Runs the service until it ends.
    ///
    /// - Throws: What the service throws, but for the `CancellationError` of one that was cancelled because its time was over.
    public func run() async throws {
        let time = client.runtime.time
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await work.run()
                return false
            }
            group.addTask {
                do {
                    try await gracefulShutdown()
                    try await time.sleep(for: limit, purpose: .guard)
                    return true
                } catch {
                    return false
                }
            }
            let isOver = try await group.next() ?? false
            group.cancelAll()
            do {
                _ = try await group.next()
            } catch is CancellationError where isOver {}
        }
    }
}
#endif
