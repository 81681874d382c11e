/// Bounds each attempt, its response body included.
///
/// A client whose layers name none has ``standard``; ``none`` says that attempts may take any time.
public struct AttemptTimeout: ContextLayer {
    /// The time an attempt may take.
    public var limit: Duration {
        get { bound.value ?? .longest }
        set { bound = PackedDuration(newValue) }
    }

    private var bound: PackedDuration

    /// Creates the guard.
    public init(_ limit: Duration) {
        bound = PackedDuration(limit)
    }

    /// What an attempt may take if no layer says otherwise: 30 seconds.
    public static let standard: Duration = AttemptOptions.standardTimeout

    /// Lets an attempt take any time, within the deadline of the call.
    public static let none = AttemptTimeout(.longest)

    /// Sets the attempt's timeout, unless a shorter one stands.
    public func adjust(_ context: inout CallContext) {
        context.boundAttempts(to: bound)
    }
}
