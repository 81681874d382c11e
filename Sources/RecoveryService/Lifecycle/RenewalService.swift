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

    /// Its name; a group logs it in each line about the service.
    public var description: String { "RenewalService" }

    /// Creates the service.
    ///
    /// - Parameters:
    ///   - tokens: The credentials.
    ///   - client: The client whose clock counts, and whose operations renewals are.
    ///   - interval: The longest time after which it is looked whether somebody else has stored other credentials; at least
    ///     a second. Default: a minute.
    public init(_ tokens: TokenManager, by client: RecoveringClient, lookingEvery interval: Duration = .seconds(60)) {
        self.tokens = tokens
        self.client = client
        self.interval = max(interval, .seconds(1))
    }

    /// Renews until the service is shut down, and waits then until a renewal under way has ended and is stored.
    ///
    /// A renewal that fails is begun again when the manager's pause has passed; nothing is thrown.
    public func run() async {
        try? await cancelWhenGracefulShutdown { try await keepFresh() }
        await tokens.finish()
    }

    private func keepFresh() async throws {
        while !Task.isCancelled {
            var pause = interval
            // A store that cannot be read now is read again.
            if let left = try? await tokens.timeUntilRenewal(in: client.runtime) {
                if left <= .zero {
                    // What it fails with stands in its events.
                    try? await client.operation { try await tokens.renewIfDue($0.context) }
                    await tokens.finish()
                    pause = .seconds(1)
                } else {
                    pause = min(left, interval)
                }
            }
            try await client.runtime.time.sleep(for: pause)
        }
    }
}
#endif
