/// What several calls, processes or machines have to know of each other.
///
/// The engine asks it before every attempt and tells it what servers have stated. A store never throws for lack of its
/// back end: one that cannot reach it answers from its own memory.
public protocol RecoveryStore: Sendable {
    /// Whether any gate may be closed at all; false lets the engine skip asking.
    var mayHoldGates: Bool { get }

    /// Of the closed gates among the keys, the one that opens last; nil when all are open.
    func closedGate(among keys: [Gate.Key], at now: Timestamp) async -> Gate?

    /// Closes a gate; one that is closed already stays closed until the later of the two times.
    func close(_ gate: Gate) async

    /// Opens a gate before its time, when it is known that its reason is gone.
    func open(_ key: Gate.Key) async

    /// Counts one more caller that waits at the gate and returns how many were counted before it since it closed.
    ///
    /// The engine spreads the waiting callers out by this number when the gate opens.
    func joinQueue(at key: Gate.Key) async -> Int
}

extension RecoveryStore {
    /// By default the engine always asks.
    public var mayHoldGates: Bool { true }
}
