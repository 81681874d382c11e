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

    /// The longest time in which no byte of an attempt comes or goes; nil is no limit but ``limit``.
    ///
    /// It ends a transfer that has stalled long before a limit does that leaves room for a large one. While the caller does
    /// not read a streamed body, the time does not run.
    public var idle: Duration? {
        get { silence.value }
        set { silence = PackedDuration(newValue) }
    }

    private var silence: PackedDuration

    /// Creates the guard.
    ///
    /// - Parameters:
    ///   - limit: The time an attempt may take.
    ///   - idle: The longest time without a byte in either direction, above zero and below the limit: connecting and
    ///     waiting for the head of the answer are such times too. Default: any.
    public init(_ limit: Duration, idle: Duration? = nil) {
        bound = PackedDuration(limit)
        silence = PackedDuration(idle)
    }

    /// What an attempt may take if no layer says otherwise: 30 seconds.
    public static let standard: Duration = AttemptOptions.standardTimeout

    /// Lets an attempt take any time, within the deadline of the call.
    public static let none = AttemptTimeout(.longest)

    /// Why no transfer can keep to the times, as a sentence; nil if one can.
    public func problem(among layers: [any ClientLayer]) -> String? {
        if !(limit > .zero) { return "an attempt takes some time" }
        guard let idle else { return nil }
        if idle <= .zero { return "AttemptTimeout's idle time is above zero, or no byte could come in it." }
        return idle < limit
            ? nil : "AttemptTimeout ends an attempt after \(limit), so an idle time of \(idle) never ends one."
    }

    /// The name and the times.
    public var summary: String {
        let limit = bound.isLongest ? "none" : "\(limit)"
        return "AttemptTimeout \(limit)" + (idle.map { " (idle \($0))" } ?? "")
    }

    /// Sets the attempt's timeouts, unless shorter ones stand.
    public func adjust(_ context: inout CallContext) {
        context.boundAttempts(to: bound)
        if silence.isNone { return }
        if let idle { context.idleTimeout = min(max(idle, .zero), context.idleTimeout ?? .longest) }
    }
}
