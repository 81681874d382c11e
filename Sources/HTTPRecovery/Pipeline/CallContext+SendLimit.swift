extension CallContext {
    /// Lets the present attempt leave only before the moment, unless an earlier one stands.
    ///
    /// For layers inside the engine that attach what is soon stale, such as a signed proof: an attempt that could not
    /// leave in time is followed by another with a fresh one. What the call as a whole is bounded by is
    /// ``RequestOptions/sendBy``.
    public mutating func limitSending(to moment: Timestamp) {
        let instant = runtime.time.instant(at: moment)
        sendBy = sendBy.map { min($0, instant) } ?? instant
    }

    /// Whether there may be a moment until which the attempt or its call has to leave; mostly there is none.
    var mayHaveSendLimit: Bool { !isAsMade || record.options.hasSendLimit }

    /// Until when the attempt may leave: the earlier of the call's limit and the attempt's; nil is no limit.
    var sendLimit: AttemptOptions.SendLimit? {
        let limits = (callLimit, sendBy.map { AttemptOptions.SendLimit($0, time: runtime.time) })
        guard let call = limits.0, let attempt = limits.1 else { return limits.0 ?? limits.1 }
        return attempt.instant < call.instant ? attempt : call
    }

    /// Until when the call may send at all; nil is no limit.
    var callLimit: AttemptOptions.SendLimit? {
        options.sendBy.map { AttemptOptions.SendLimit(runtime.time.instant(at: $0.moment), time: runtime.time) }
    }

    /// The time in which a further attempt has to leave, at least zero: until the deadline or until the call's limit,
    /// whichever is earlier; nil without both.
    var remainingToSend: Duration? {
        guard let limit = callLimit else { return remaining }
        let left = max(.zero, runtime.time.now.duration(to: limit.instant))
        return remaining.map { min($0, left) } ?? left
    }
}
