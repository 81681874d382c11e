import HTTPRecovery

/// Credentials for as long as the process lives.
public final class InMemoryTokenStore: TokenStore {
    private let state: Locked<StoredCredentials>

    /// Creates a store.
    public init(_ credentials: Credentials = Credentials()) {
        self.state = Locked(StoredCredentials(credentials, version: 1))
    }

    /// The credentials now.
    public func read() async -> StoredCredentials {
        state.withLock { $0 }
    }

    /// Stores credentials, if the store still holds the version.
    public func replace(version: UInt64, with credentials: Credentials) async -> StoredCredentials? {
        state.withLock { state in
            guard state.version == version else { return nil }
            state = StoredCredentials(credentials, version: version + 1)
            return state
        }
    }
}
