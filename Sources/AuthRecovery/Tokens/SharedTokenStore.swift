public import HTTPRecovery

/// Credentials in a client's shared state: for all processes of a machine, or all machines of a fleet.
///
/// Whatever `RecoveryStore` the client has keeps them, beside gates and budgets. While it cannot be
/// reached, the credentials that were read last serve; what is renewed meanwhile is stored when it answers again.
///
/// ```swift
/// let tokens = SharedTokenStore(client.runtime.state, name: "billing-service")
/// ```
public final class SharedTokenStore: TokenStore {
    /// The name.
    public let identity: String?

    private let state: SharedState
    private let key: String
    private let coding: CredentialCoding

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - state: The client's state.
    ///   - name: Whose credentials they are: all that use the same name share them.
    ///   - sealing: What seals the credentials, bound to the name; nil, the default, stores them plain. Plain ones are
    ///     still read and are sealed by the next change; sealed ones without their key are an error that says so, and
    ///     are never overwritten.
    public init(_ state: SharedState, name: String, sealing: (any CredentialSealing)? = nil) {
        self.state = state
        self.identity = name
        self.key = "credentials:\(name)"
        self.coding = CredentialCoding(sealing: sealing, identity: name)
    }

    /// The credentials now; empty ones if nothing is stored.
    ///
    /// - Throws: `SharedState.StoreError` when the state's store does not answer and nothing was read before, which a client tells
    ///   as `unavailable`; ``Credentials/StoreError`` for what is stored and cannot be opened.
    public func read() async throws -> Credentials.Stored {
        guard let record = try await state.record(key) else {
            return Credentials.Stored(Credentials(), version: 0)
        }
        do {
            return Credentials.Stored(try coding.decode(record.bytes), version: record.version)
        } catch {
            throw Credentials.StoreError("under \(key): \(error). Removing it starts afresh.")
        }
    }

    /// Stores credentials, if the store still holds the version.
    public func replace(version: UInt64, with credentials: Credentials) async throws -> Credentials.Stored? {
        // What cannot be opened is not to be replaced either, also if its version is known.
        if version != 0 { _ = try await read() }
        let bytes = try coding.encode(credentials)
        let stored = try await state.replaceRecord(key, version: version == 0 ? nil : version, with: bytes)
        return stored.map { Credentials.Stored(credentials, version: $0.version) }
    }

    /// Grants the right to renew the credentials, unless somebody holds it.
    public func acquireLease(for duration: Duration, time: TimeSource) async -> (any Credentials.Lease)? {
        guard let lease = await state.acquireLease("renewal:\(key)", for: duration) else { return nil }
        return StateLease(state: state, lease: lease)
    }

}

/// A lease of a client's state.
struct StateLease: Credentials.Lease {
    let state: SharedState
    let lease: SharedState.Lease

    var fence: UInt64 { lease.fence }

    func extend(for duration: Duration) async -> Bool {
        await state.extendLease(lease, for: duration)
    }

    func release() async {
        await state.releaseLease(lease)
    }
}
