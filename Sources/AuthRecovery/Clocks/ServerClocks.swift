public import HTTPRecovery
public import HTTPTypes

/// How far the clocks of servers are from the local one, as their `Date` fields tell.
///
/// Assertions and proofs carry the time at which they were made, and a server refuses one from the future or from long
/// ago. With this they carry the server's own time, so that a local clock that is wrong does no harm. Only what a server
/// says of itself counts for it.
public final class ServerClocks: Sendable {
    /// A difference that the whole seconds of a `Date` field and a slow answer explain.
    private static let tolerance: Duration = .seconds(2)

    private let offsets: Locked<RecentValues<Duration>>

    /// Creates an empty collection.
    ///
    /// - Parameter capacity: The most origins that are remembered, at least 1; default: 64.
    public init(capacity: Int = 64) {
        offsets = Locked(RecentValues(capacity: capacity))
    }

    /// The time at a server.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - wallTime: The local time.
    /// - Returns: The local time if the server's differs by 2 s or less, or is not known.
    public func time(at origin: Origin, wallTime: Timestamp) -> Timestamp {
        guard let offset = offsets.withLock({ $0[origin] }) else { return wallTime }
        return offset < .zero - Self.tolerance || offset > Self.tolerance ? wallTime.advanced(by: offset) : wallTime
    }

    /// Keeps what an answer says about its server's clock; one without a valid `Date` field changes nothing.
    ///
    /// - Parameters:
    ///   - fields: The answer's header fields.
    ///   - origin: The origin that has answered.
    ///   - receivedAt: The local time at which the answer came.
    public func keep(_ fields: HTTPFields, from origin: Origin, receivedAt: Timestamp) {
        guard let offset = ServerClock(fields, receivedAt: receivedAt).offset else { return }
        offsets.withLock { $0.keep(offset, for: origin) }
    }
}
