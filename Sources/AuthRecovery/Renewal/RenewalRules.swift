import HTTPRecovery

/// When to renew, and when a refresh token may be presented again; pure functions.
enum RenewalRules {
    /// How urgently credentials need to be renewed.
    enum Need: Sendable, Hashable {
        /// Not at all.
        case none
        /// Soon: the access token still serves.
        case soon
        /// Before the next request: there is no access token, or it has expired.
        case now
    }

    /// How urgently credentials need to be renewed.
    ///
    /// - Parameters:
    ///   - credentials: The credentials.
    ///   - now: The server's time, as far as it is known.
    ///   - lifetime: The life of the access token, if it is known.
    ///   - leeway: How long before the expiry to renew at most.
    ///   - random: A number in `0 ..< 1` that stays the same for a token.
    static func need(
        of credentials: Credentials,
        at now: Timestamp,
        lifetime: Duration?,
        leeway: Duration,
        random: Double
    ) -> Need {
        guard let token = credentials.accessToken, !token.isEmpty else { return .now }
        guard let expiresAt = credentials.expiresAt else { return .none }
        let left = expiresAt.elapsed(since: now)
        if left <= .zero { return .now }
        return left <= margin(lifetime: lifetime, leeway: leeway, random: random) ? .soon : .none
    }

    /// Drawn per token and process: the hash is seeded anew in each.
    static func draw(_ credentials: Credentials) -> Double {
        Double((credentials.version(of: .access) ?? 0) >> 11) * 0x1p-53
    }

    /// How long before its expiry a token is renewed.
    static func margin(lifetime: Duration?, leeway: Duration, random: Double) -> Duration {
        min(leeway, lifetime?.scaled(by: 0.1) ?? leeway).scaled(by: 1 - random / 2)
    }

    /// The grace that is assumed of a server that states none: the usual one, so that a process that was killed in the
    /// middle leaves a session that the next one can go on with.
    static let assumedGrace: Duration = .seconds(30)

    /// How long a refresh token may still be presented that an earlier renewal may have used; nil if it must not be.
    ///
    /// - Parameters:
    ///   - began: When the renewal was begun whose end is not known.
    ///   - reuse: What the server does with refresh tokens.
    ///   - now: The time at which it would be presented.
    static func graceLeft(since began: Timestamp, reuse: RefreshTokenGrant.Reuse, at now: Timestamp) -> Duration? {
        let grace: Duration
        switch reuse {
        case .reusable: return .longest
        case .undeclared: grace = assumedGrace
        case .rotating(let stated): grace = stated
        }
        // The request has to arrive within the grace, too.
        let margin = min(max(grace.scaled(by: 0.1), .milliseconds(100)), .seconds(5))
        let elapsed = now.elapsed(since: began)
        // By a clock that is behind, nobody can tell how long ago it was.
        guard elapsed >= .zero - margin else { return nil }
        let left = grace.saturatingSubtracting(margin).saturatingSubtracting(max(elapsed, .zero))
        return left > .zero ? left : nil
    }

    /// Whether a renewal that failed leaves in doubt whether the refresh token was used.
    ///
    /// It does if the answer was lost. If the server is known to rotate, it also does after an answer that somebody
    /// else may have given in its place, or that broke in the middle: a 408, 500, 502, 503 or 504, a page. Everything
    /// that refuses says that nothing was done, and so does a 503 with `Retry-After`.
    static func isInDoubt(after outcome: Outcome, reuse: RefreshTokenGrant.Reuse) -> Bool {
        guard !outcome.provesNothingSpent else { return false }
        if case .rotating = reuse { return true }
        return outcome.transportError != nil || outcome.kind == .transport || outcome.kind == .timedOut
    }

    /// How long to wait before a failed renewal is repeated; nil if it is not.
    ///
    /// - Parameters:
    ///   - outcome: What it failed with.
    ///   - reuse: What may be done with the refresh token.
    ///   - tries: The tries so far.
    ///   - random: A number in `0 ..< 1`.
    static func delay(after outcome: Outcome, reuse: RefreshTokenGrant.Reuse, tries: Int, random: Double) -> Duration? {
        guard tries < 3, outcome.remedies.contains(.retry) || outcome.remedies.contains(.wait) else { return nil }
        // What was refused unprocessed has been repeated below, if that helps; and without the server's word on reuse,
        // a repetition could be the theft that it looks like.
        if outcome.provesNothingSpent || reuse == .undeclared { return nil }
        let own = Backoff.exponential(base: .milliseconds(200), cap: .seconds(2), jitter: .equal)
            .delay(retry: tries - 1, random: random)
        return max(own, outcome.statedWait ?? .zero)
    }

    /// How long no other renewal is begun after so many failures in a row.
    static func cooldown(_ base: Duration, failures: Int) -> Duration {
        min(base.scaled(by: Double(1 << min(max(failures - 1, 0), 20))), max(base, .seconds(10)))
    }
}
