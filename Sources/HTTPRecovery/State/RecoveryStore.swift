/// Keeps what several calls, processes or machines have to know of each other: closed gates, leases, budgets, records.
///
/// Each function is one atomic step at the back end. A store says plainly when it cannot be reached, by throwing;
/// ``SharedState`` stands in front of every store and sees to it that no call fails or waits long because of that.
/// What a store throws is a ``SharedState/StoreError``, which never holds what is stored, and a call that gets no answer ends by
/// itself some time. Fences and versions stay below 2^63: the upper half is for those given while a store does not answer.
/// `RecoveryStoreConformance` in `HTTPRecoveryTesting` checks all of this.
///
/// Times are the caller's wall time. A store whose back end has a clock of its own keeps spans instead (what opens in
/// 10 s for one host opens in 10 s for all), so that hosts whose clocks differ agree.
public protocol RecoveryStore: Sendable {
    /// The store's name in warnings, such as `redis`.
    var name: String { get }

    /// Whether the store answers at once from this process's memory; default: no.
    var isLocal: Bool { get }

    /// Whether any gate may be closed at all; false lets the engine skip asking. Default: yes.
    var mayHoldGates: Bool { get }

    /// Whether a gate among the keys may be closed, as far as this process knows without asking anybody; false lets
    /// ``SharedState`` answer by itself. Default: ``mayHoldGates``.
    func mayHoldGates(among keys: [SharedState.Gate.Key]) -> Bool

    /// Of the closed gates among the keys, the one that opens last; nil when all are open.
    func closedGate(among keys: [SharedState.Gate.Key], at now: Timestamp) async throws -> SharedState.Gate?

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    func close(_ gate: SharedState.Gate, at now: Timestamp) async throws

    /// Opens a gate before its time, when it is known that its reason is gone.
    func open(_ key: SharedState.Gate.Key) async throws

    /// Counts one more caller that waits at the gate and returns how many were counted before it since it closed.
    ///
    /// The engine spreads the waiting callers out by this number when the gate opens.
    func joinQueue(at key: SharedState.Gate.Key) async throws -> Int

    /// Grants the lease, unless somebody holds it.
    ///
    /// - Parameters:
    ///   - name: What is leased.
    ///   - duration: How long it is granted; a holder that dies loses it then.
    ///   - now: The time by the caller.
    /// - Returns: The lease, with a fence higher than all before it; nil while another holds it.
    func acquireLease(_ name: String, for duration: Duration, at now: Timestamp) async throws -> SharedState.Lease?

    /// Extends a lease to `duration` from now.
    ///
    /// - Returns: Whether it was still held; false when it has run out, even if nobody has taken it since.
    func extendLease(_ lease: SharedState.Lease, for duration: Duration, at now: Timestamp) async throws -> Bool

    /// Gives a lease back; one that is not held any more is left alone.
    func releaseLease(_ lease: SharedState.Lease) async throws

    /// Books deposits and a withdrawal of a retry budget in one step.
    func settle(_ entry: SharedState.BudgetEntry, at now: Timestamp) async throws -> SharedState.BudgetBalance

    /// The record under a key; nil if there is none.
    func record(_ key: String) async throws -> SharedState.Record?

    /// Stores a record, if the store still holds the version.
    ///
    /// - Parameters:
    ///   - key: The record's key.
    ///   - version: The version that was read; nil when there was no record.
    ///   - bytes: The new content.
    ///   - lifetime: How long anybody needs it; the store may drop it then. Nil keeps it for good.
    ///   - now: The time by the caller.
    /// - Returns: What is stored now, with a version of at least 1 that is higher than all before it; nil when another
    ///   change came first. A store that can lose its records begins with the time, or with anything else that grows, so
    ///   that it gives no version a second time: else who knows an old one could change a new record.
    func replaceRecord(
        _ key: String,
        version: UInt64?,
        with bytes: [UInt8],
        lasting lifetime: Duration?,
        at now: Timestamp
    ) async throws -> SharedState.Record?

    /// Closes connections and files; later calls throw.
    func shutdown() async
}

extension RecoveryStore {
    /// By default a store is not local.
    public var isLocal: Bool { false }

    /// By default the engine always asks.
    public var mayHoldGates: Bool { true }

    /// By default nothing more is known of some gates than of all.
    public func mayHoldGates(among keys: [SharedState.Gate.Key]) -> Bool { mayHoldGates }

    /// Stores a record for good, if the store still holds the version.
    public func replaceRecord(_ key: String, version: UInt64?, with bytes: [UInt8]) async throws -> SharedState.Record?
    {
        try await replaceRecord(key, version: version, with: bytes, lasting: nil, at: Timestamp(secondsSinceEpoch: 0))
    }

    /// By default there is nothing to close.
    public func shutdown() async {}
}
