import HTTPRecovery

/// What is known of the limits of each scope, and whose turn is when.
struct PacingLedger: Sendable {
    private struct Share {
        var percent: Double
        var seenAt: TimeSource.Instant
        /// The turns that are taken, in order; those whose pause is over are forgotten.
        var turns: [Turn] = []

        /// When the next call may leave.
        var nextTurn: TimeSource.Instant? { turns.last?.end }
    }

    /// When a call leaves, and when its pause is over.
    private struct Turn {
        var start: TimeSource.Instant
        var end: TimeSource.Instant
    }

    /// How long a share counts after it was seen.
    private static let memory: Duration = .seconds(300)
    /// The most scopes that are remembered.
    private static let capacity = 1024

    private var shares: [SharedState.Gate.Key: Share] = [:]
    private var refusals: [SharedState.Gate.Key: Int] = [:]
    /// The businesses that objects were counted for, by what the answers about them said.
    private var businesses: [FacebookScopes.Subject: String] = [:]

    /// The business that an object is known to be counted for; nil if it is its own, or not known.
    func business(of subject: FacebookScopes.Subject) -> String? { businesses[subject] }

    /// Learns from the businesses that an answer speaks of which one its object is counted for.
    ///
    /// If the object is among them, or there are several, none says anything about it but its own.
    mutating func learn(_ ids: Set<String>, for subject: FacebookScopes.Subject) {
        guard let id = ids.first else { return }
        if ids.count > 1 || ids.contains(subject.object) { return businesses[subject] = nil }
        if businesses.count >= Self.capacity, businesses[subject] == nil { businesses = [:] }
        businesses[subject] = id
    }

    /// Remembers how much of a limit is used.
    mutating func note(_ percent: Double, for key: SharedState.Gate.Key, at now: TimeSource.Instant) {
        if shares.count >= Self.capacity, shares[key] == nil {
            shares = shares.filter { $0.value.seenAt.duration(to: now) < Self.memory }
            if shares.count >= Self.capacity { return }
        }
        shares[key] = Share(percent: percent, seenAt: now, turns: shares[key]?.turns ?? [])
    }

    /// Takes the next turn in all scopes, unless it is farther away than the limit.
    ///
    /// - Returns: When the turn is; one beyond the limit is not taken.
    mutating func takeTurn(
        in keys: [SharedState.Gate.Key],
        at now: TimeSource.Instant,
        within limit: Duration,
        _ configuration: FacebookPacing.Configuration
    ) -> TimeSource.Instant {
        var turn = now
        var spacing: [(key: SharedState.Gate.Key, pause: Duration)] = []
        for key in keys {
            guard let share = shares[key] else { continue }
            guard share.seenAt.duration(to: now) < Self.memory else {
                shares[key] = nil
                continue
            }
            shares[key]?.turns.removeAll { $0.end <= now }
            let range = 100 - configuration.threshold
            let excess = share.percent - configuration.threshold
            let fraction = range > 0 ? min(max(excess / range, 0), 1) : (excess >= 0 ? 1 : 0)
            guard fraction > 0 else { continue }
            turn = max(turn, share.nextTurn ?? now)
            spacing.append((key, configuration.longestPause.scaled(by: fraction)))
        }
        guard now.duration(to: turn) <= limit else { return turn }
        for (key, pause) in spacing where pause > .zero {
            shares[key]?.turns.append(Turn(start: turn, end: turn.advanced(by: pause)))
        }
        return turn
    }

    /// Gives a turn back, because the call does not leave after all; those behind it stay where they are.
    mutating func giveBack(_ turn: TimeSource.Instant, in keys: [SharedState.Gate.Key]) {
        for key in keys {
            guard let index = shares[key]?.turns.lastIndex(where: { $0.start == turn }) else { continue }
            shares[key]?.turns.remove(at: index)
        }
    }

    /// Counts a refusal, and tells how many there were in a row.
    mutating func countRefusal(of key: SharedState.Gate.Key) -> Int {
        if refusals.count >= Self.capacity, refusals[key] == nil { refusals = [:] }
        refusals[key, default: 0] += 1
        return refusals[key, default: 1]
    }

    /// Forgets the refusals of scopes in which a call has succeeded.
    mutating func forgetRefusals(of keys: [SharedState.Gate.Key]) {
        for key in keys { refusals[key] = nil }
    }
}
