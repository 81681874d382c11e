public import HTTPRecovery

/// A limit of time, and what sets it.
public struct TimeBound: Sendable, Hashable {
    /// What is limited.
    public enum Scope: Sendable, Hashable {
        /// The time of a call, with everything.
        case call
        /// The time of an attempt, its body included.
        case attempt
        /// The time in which nothing moves.
        case idleness
        /// The time until there is a connection.
        case connection
    }

    /// What is limited.
    public let scope: Scope
    /// What sets it: an option, or a key of a policy.
    public let name: String

    /// Creates a bound.
    ///
    /// - Parameters:
    ///   - scope: What is limited.
    ///   - name: What sets it.
    public init(_ scope: Scope, setBy name: String) {
        (self.scope, self.name) = (scope, name)
    }

    /// What a person is told.
    var advice: String {
        switch scope {
        case .call: "\(name) sets how long a request may take."
        case .attempt: "\(name) sets how long an attempt may take, its body included."
        case .idleness: "\(name) sets how long an attempt may stand still."
        case .connection: "\(name) sets how long a connection may take."
        }
    }

    /// Which of some limits has ended the last attempt of a call.
    ///
    /// - Parameters:
    ///   - error: What the call failed with.
    ///   - time: How long the call has taken, with what it has read of a body.
    ///   - limits: The limits, the widest first; nil is none.
    /// - Returns: The first whose time was over; nil if none's was, or no limit has ended the attempt.
    public static func ending(
        _ error: RecoveryError,
        after time: Duration,
        among limits: [(bound: Self, time: Duration?)]
    ) -> Self? {
        guard let failure = error.outcome.transportError, failure.code == .timedOut else { return nil }
        let before = error.history.attempts.dropLast().reduce(error.history.waited) { $0.saturatingAdding($1.elapsed) }
        return limits.first { bound, limit in
            guard let limit, bound.scope != .connection || failure.certainty == .neverSent else { return false }
            // Transports count in milliseconds, by a clock of their own.
            return (bound.scope == .call ? time : time - before) >= limit * 0.95
        }?.bound
    }
}
