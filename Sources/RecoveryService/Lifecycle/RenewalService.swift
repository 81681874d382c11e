#if ServiceLifecycle
public import AuthRecovery
public import HTTPRecovery
public import ServiceLifecycle

/// Renews credentials before they expire, also while nobody calls, and loses none when the service ends.
///
/// Calls renew what they need by themselves; this is for the first call after a pause, which would wait for it.
public struct RenewalService: Service, CustomStringConvertible {
    private let tokens: TokenManager
    private let client: RecoveringClient
    private let interval: Duration
    private let limit: Duration

    /// Its name; a group logs it in each line about the service.
    public var description: String { "RenewalService" }

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - tokens: The credentials.
    ///   - client: The client whose clock counts, and whose operations renewals are: of several that share a transport the
    ///     one that ends first, whose calls present the credentials. Its end waits for a renewal too.
    ///   - interval: The longest time after which it is looked whether somebody else has stored other credentials; at least
    ///     a second. Default: a minute.
    ///   - limit: How long a renewal under way is waited for at the end. Default: 5 seconds, which leave room for a
    ///     ``DrainingService`` and a ``ClientService`` in the usual 30 before a process is killed.
    public init(
        _ tokens: TokenManager,
        by client: RecoveringClient,
        lookingEvery interval: Duration = .seconds(60),
        finishingWithin limit: Duration = .seconds(5)
    ) {
        self.tokens = tokens
        self.client = client
        self.interval = max(interval, .seconds(1))
        self.limit = limit
    }

    /// Renews until the service is shut down, and waits then within the limit until a renewal under way has ended and is
    /// stored.
    ///
    /// One that takes longer is not stopped by this: the end of the client, a ``ClientService``, gives it time too. A renewal
    /// that fails is begun again when the manager's pause has passed, and a store that cannot be read is told of in the events;
    /// nothing is thrown.
    public func run() async {
        try? await cancelWhenGracefulShutdown { try await keepFresh() }
        _ = try? await client.runtime.time.withAbandonment(after: limit) { [tokens] in await tokens.finish() }
    }

    private func keepFresh() async throws {
        var isReadable = true
        while !Task.isCancelled {
            var pause = interval
            do {
                let left = try await tokens.timeUntilRenewal(in: client.runtime)
                if !isReadable { tell(.available) }
                isReadable = true
                if let left, left <= .zero {
                    // What it fails with stands in its events.
                    try? await client.operation { try await tokens.renewIfDue($0.context) }
                    await tokens.finish()
                    pause = .seconds(1)
                } else if let left {
                    pause = min(left, interval)
                }
            } catch let error where !Task.isCancelled && !(error is SharedState.StoreError) {
                // Read again later; of a shared store its clients tell.
                if isReadable { tell(.degraded(store: "\(type(of: tokens.store))", reason: Self.reason(error))) }
                isReadable = false
            } catch {}
            try await client.runtime.time.sleep(for: pause)
        }
    }

    private func tell(_ health: SharedState.Health) {
        let runtime = client.runtime
        runtime.events.emit(RecoveryEvent(call: 0, time: runtime.time.now, kind: .store(health)))
    }

    /// What may be said of an error: of a store that is not known, only its type.
    private static func reason(_ error: any Error) -> String {
        (error as? Credentials.StoreError)?.description ?? "\(type(of: error))"
    }
}
#endif
