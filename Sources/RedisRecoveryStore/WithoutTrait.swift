// What a protocol wants is documented there.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

#if !Redis
public import HTTPRecovery

/// What the compiler says where the trait is missing; a store, so that it says no more than that.
@available(*, unavailable, message: "it needs the package's trait: .package(…, traits: [\"Redis\"])")
public struct RedisStore: RecoveryStore {
    /// Cannot be made.
    public struct Configuration: Sendable {
        /// Cannot be called.
        public init(url: String) {}
    }

    /// Cannot be called.
    public init(url: String) {}

    /// Cannot be called.
    public init(configuration: Configuration) {}

    public var name: String { "" }
    public func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) throws -> SharedState.Gate? { nil }
    public func close(_ gate: SharedState.Gate, at now: Timestamp) {}
    public func open(_ key: SharedState.Gate.Key) {}
    public func joinQueue(at key: SharedState.Gate.Key) -> Int { 0 }
    public func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) -> SharedState.Lease? { nil }
    public func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) -> Bool { false }
    public func releaseLease(_ lease: SharedState.Lease) {}
    public func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) -> SharedState.BudgetBalance {
        SharedState.BudgetBalance(isGranted: false, balance: 0)
    }
    public func record(_ key: String) -> SharedState.Record? { nil }
    public func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) -> SharedState.Record? { nil }
}
#endif
