public import HTTPRecovery

/// Credentials for as long as the process lives.
public final class InMemoryTokenStore: TokenStore {
    private let state: Locked<Credentials.Stored>
    private let leases = InMemoryRecoveryStore()

    /// Creates a store.
    public init(_ credentials: Credentials = Credentials()) {
        self.state = Locked(Credentials.Stored(credentials, version: 1))
    }

    /// Nobody waits for memory.
    public var readsWait: Bool { false }

    /// The credentials now.
    public func read() async -> Credentials.Stored {
        state.withLock { $0 }
    }

    /// Stores credentials, if the store still holds the version.
    public func replace(version: UInt64, with credentials: Credentials) async -> Credentials.Stored? {
        state.withLock { state in
            guard state.version == version else { return nil }
            state = Credentials.Stored(credentials, version: version + 1)
            return state
        }
    }

    /// Grants the right to renew the credentials, unless somebody holds it.
    public func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        guard let lease = await leases.acquireLease("renewal", for: duration, at: time.wallTime) else { return nil }
        return MemoryLease(store: leases, lease: lease, time: time)
    }
}

private struct MemoryLease: Credentials.Lease {
    let store: InMemoryRecoveryStore
    let lease: SharedState.Lease
    let time: TimeSource

    var fence: UInt64 { lease.fence }

    func extend(for duration: Duration) async -> Bool {
        await store.extendLease(lease, for: duration, at: time.wallTime)
    }

    func release() async {
        await store.releaseLease(lease)
    }
}
