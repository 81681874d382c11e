/// A point of wall-clock time, measured from the Unix epoch.
///
/// Wall-clock time is needed only if a server or a person speaks of it (HTTP dates, expiry claims, "try again at
/// 12:04"). Waiting is always measured on the monotonic ``TimeSource/Instant``.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// The time since 1970-01-01T00:00:00Z; negative before it.
    public var sinceEpoch: Duration

    /// Creates a timestamp from the time since the Unix epoch.
    public init(sinceEpoch: Duration) {
        self.sinceEpoch = sinceEpoch
    }

    /// Creates a timestamp from epoch seconds.
    public init(secondsSinceEpoch seconds: Int64) {
        self.sinceEpoch = .seconds(seconds)
    }

    /// The whole seconds since the Unix epoch, rounded down.
    public var secondsSinceEpoch: Int64 {
        let (seconds, attoseconds) = sinceEpoch.components
        return attoseconds < 0 ? seconds - 1 : seconds
    }

    /// The time from `earlier` to this timestamp; negative when `earlier` is later.
    public func elapsed(since earlier: Timestamp) -> Duration {
        sinceEpoch.saturatingSubtracting(earlier.sinceEpoch)
    }

    /// The timestamp `duration` later, saturated at the ends of the range.
    public func advanced(by duration: Duration) -> Timestamp {
        Timestamp(sinceEpoch: sinceEpoch.saturatingAdding(duration))
    }

    /// Whether the first timestamp is earlier than the second.
    public static func < (lhs: Timestamp, rhs: Timestamp) -> Bool {
        lhs.sinceEpoch < rhs.sinceEpoch
    }
}
