extension SharedState.Gate {
    /// How long one answer can close a gate at most; one that is to stay closed longer opens then, and the next attempt
    /// finds out how things stand.
    ///
    /// A gate is shared by all who share the store: a broken or hostile header must not shut a fleet out for years. A
    /// day is longer than the windows of most quotas; a lockout, which holds a single account, is kept for up to 31 days.
    /// The call that got the answer is told the stated time in full.
    public static func longestTime(in scope: Outcome.Scope) -> Duration {
        scope == .account ? .seconds(31 * 86_400) : .seconds(86_400)
    }

    /// The gate, within the longest time that one may be closed.
    func bounded(from now: Timestamp) -> SharedState.Gate {
        guard let opensAt else { return self }
        var gate = self
        gate.opensAt = min(opensAt, now.advanced(by: Self.longestTime(in: key.scope)))
        return gate
    }
}
