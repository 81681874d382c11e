/// Bounds a whole call: queueing, attempts, waits, repairs and the response body.
///
/// A call that has a time of its own (``RequestOptions/deadline``) is bounded by that instead.
public struct Deadline: ContextLayer {
    /// The time a call may take.
    public var limit: Duration {
        get { bound.value ?? .longest }
        set { bound = PackedDuration(max(newValue, .zero)) }
    }

    private var bound: PackedDuration

    /// Creates the guard.
    public init(_ limit: Duration) {
        bound = PackedDuration(max(limit, .zero))
    }

    /// Outside the engine: it bounds the waits too.
    public var place: CallContext.LayerPlace { .outsideRecovery }

    /// The name and the time.
    public var summary: String { "Deadline \(limit)" }

    /// Sets the call's deadline, unless an earlier one stands.
    public func adjust(_ context: inout CallContext) {
        guard context.options.deadline == nil else { return }
        context.bound(to: bound)
    }
}
