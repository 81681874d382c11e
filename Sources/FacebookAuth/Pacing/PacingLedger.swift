import HTTPRecovery

/// What is known of the limits of each scope, and whose turn is when.
struct PacingLedger: Sendable {
    private struct Share {
        var percent: Double
        var seenAt: TimeSource.Instant
        /// When the next call may leave.
        var nextTurn: TimeSource.Instant
    }

    /// How long a share counts after it was seen.
    private static let memory: Duration = .seconds(300)
    /// The most scopes that are remembered.
    private static let capacity = 1024

    private var shares: [Gate.Key: Share] = [:]
    private var refusals: [Gate.Key: Int] = [:]

    /// Remembers how much of a limit is used.
    mutating func note(_ percent: Double, for key: Gate.Key, at now: TimeSource.Instant) {
        if shares.count >= Self.capacity, shares[key] == nil {
            shares = shares.filter { $0.value.seenAt.duration(to: now) < Self.memory }
            if shares.count >= Self.capacity { return }
        }
        let nextTurn = shares[key]?.nextTurn ?? now
        shares[key] = Share(percent: percent, seenAt: now, nextTurn: nextTurn)
    }

    /// Takes the next turn in all scopes, and tells how long it is until then.
    mutating func reserve(
        _ keys: [Gate.Key],
        at now: TimeSource.Instant,
        _ configuration: FacebookPacing.Configuration
    ) -> Duration {
        var turn = now
        var spacing: [(key: Gate.Key, pause: Duration)] = []
        for key in keys {
            guard let share = shares[key] else { continue }
            guard share.seenAt.duration(to: now) < Self.memory else {
                shares[key] = nil
                continue
            }
            let range = 100 - configuration.threshold
            let excess = share.percent - configuration.threshold
            let fraction = range > 0 ? min(max(excess / range, 0), 1) : (excess >= 0 ? 1 : 0)
            guard fraction > 0 else { continue }
            turn = max(turn, share.nextTurn)
            spacing.append((key, configuration.longestPause.scaled(by: fraction)))
        }
        for (key, pause) in spacing { shares[key]?.nextTurn = turn.advanced(by: pause) }
        return now.duration(to: turn)
    }

    /// Counts a refusal, and tells how many there were in a row.
    mutating func countRefusal(of key: Gate.Key) -> Int {
        if refusals.count >= Self.capacity, refusals[key] == nil { refusals = [:] }
        refusals[key, default: 0] += 1
        return refusals[key, default: 1]
    }

    /// Forgets the refusals of scopes in which a call has succeeded.
    mutating func forgetRefusals(of keys: [Gate.Key]) {
        for key in keys { refusals[key] = nil }
    }
}
