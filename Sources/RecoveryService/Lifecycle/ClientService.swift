#if ServiceLifecycle
public import HTTPRecovery
public import ServiceLifecycle

/// Ends a client with its service: it takes no more calls, those under way may end, and what it has learned is kept.
///
/// Services are shut down in the reverse of the order in which a group has them: write stores first, then clients, then
/// renewals, then the server that takes requests.
public struct ClientService: Service, CustomStringConvertible {
    private let client: RecoveringClient
    private let limit: Duration
    private let save: (@Sendable (RecoveringClient.LiveState) async -> Void)?

    /// Its name; a group logs it in each line about the service.
    public var description: String { "ClientService" }

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - client: The client; its transport is shut down with it.
    ///   - limit: How long calls under way may take at the end; what still is then is cut off. A call that waits between two
    ///     attempts then fails at once. Default: 10 seconds, which leave room for a ``DrainingService`` and a
    ///     ``RenewalService`` in the usual 30 before a process is killed.
    ///   - save: Keeps what the client has learned, for its successor; it is called once, after the last call. Default: nobody
    ///     does.
    public init(
        _ client: RecoveringClient,
        drainingWithin limit: Duration = .seconds(10),
        saving save: (@Sendable (RecoveringClient.LiveState) async -> Void)? = nil
    ) {
        self.client = client
        self.limit = limit
        self.save = save
    }

    /// Waits for the end of the service, and ends the client then.
    ///
    /// A graceful shutdown lets calls end within the limit; a cancelled task cuts them off at once. What the client has
    /// learned is kept in either case. Calls that begin later fail with `RecoveryError`, whose transport error is
    /// `shutDown`.
    public func run() async {
        try? await gracefulShutdown()
        await client.drain(within: limit)
        guard let save else { return }
        let state = client.liveState()
        // In a task of its own: one that is cancelled could write nothing.
        await Task { await save(state) }.value
    }
}
#endif
