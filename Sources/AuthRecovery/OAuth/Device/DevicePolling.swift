import HTTPRecovery

/// When to ask again in a device flow (RFC 8628 section 3.5); a pure function of what came before.
struct DevicePolling: Sendable {
    /// What the last poll came to.
    enum Result: Sendable {
        /// The person has not answered yet.
        case pending
        /// Nor has it, and the server wants to be asked less often.
        case slowDown
        /// No answer came, or one of a server that is out of order.
        case lost
    }

    /// What `slow_down` adds, from then on.
    private static let slowing: Duration = .seconds(5)
    /// The longest that lost answers alone make the interval.
    private static let longestBackoff: Duration = .seconds(60)

    /// The time between two polls.
    private(set) var interval: Duration
    /// When the flow is over.
    private let end: TimeSource.Instant

    init(_ device: DeviceAuthorization) {
        interval = device.interval
        end = device.expiresAt
    }

    /// Takes note of a poll.
    mutating func note(_ result: Result) {
        switch result {
        case .pending: break
        case .slowDown: interval = interval.saturatingAdding(Self.slowing)
        case .lost: interval = max(interval, min(interval.scaled(by: 2), Self.longestBackoff))
        }
    }

    /// The time to wait from now until the next poll; nil where the flow is over before.
    ///
    /// - Parameter stated: What the server has asked for beyond the interval.
    func wait(from now: TimeSource.Instant, atLeast stated: Duration? = nil) -> Duration? {
        let wait = max(interval, stated ?? .zero)
        return now.advanced(by: wait) < end ? wait : nil
    }
}
