/// Bounds a whole call: queueing, attempts, waits, repairs and the response body.
///
/// A call that has a time of its own (``RequestOptions/deadline``) is bounded by that instead.
public struct Deadline: ContextLayer {
    /// The time a call may take.
    public var limit: Duration

    /// Creates the guard.
    public init(_ limit: Duration) {
        self.limit = limit
    }

    /// Outside the engine: it bounds the waits too.
    public var place: LayerPlace { .outsideRecovery }

    /// Sets the call's deadline, unless an earlier one stands.
    public func adjust(_ context: inout CallContext) {
        guard context.options.deadline == nil else { return }
        let deadline = context.record.start.advanced(by: max(limit, .zero))
        context.deadline = context.deadline.map { min($0, deadline) } ?? deadline
    }
}
