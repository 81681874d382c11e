public import HTTPRecovery

/// A limit of time, and what sets it.
public struct TimeBound: Sendable, Hashable {
    /// What is limited.
    public enum Scope: Sendable, Hashable {
        case call
        case attempt
        case idleness
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
    ///   - limits: The limits, the widest first; nil is none.
    /// - Returns: The first whose time was over; nil if none's was, or no limit has ended the attempt.
    public static func ending(_ error: RecoveryError, among limits: [(bound: Self, time: Duration?)]) -> Self? {
        guard let failure = error.outcome.transportError, failure.code == .timedOut,
            let attempt = error.history.attempts.last
        else { return nil }
        let call = error.history.attempts.reduce(error.history.waited) { $0.saturatingAdding($1.elapsed) }
        return limits.first { bound, time in
            guard let time, bound.scope != .connection || failure.certainty == .neverSent else { return false }
            // Transports count in milliseconds, by a clock of their own.
            return (bound.scope == .call ? call : attempt.elapsed) >= time * 0.95
        }?.bound
    }
}
