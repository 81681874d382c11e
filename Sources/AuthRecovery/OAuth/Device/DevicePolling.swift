import HTTPRecovery

/// When to ask again in a device flow (RFC 8628 section 3.5).
struct DevicePolling: OperationPlan {
    /// What a poll came to.
    enum Poll: Sendable {
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
    /// What it comes to then.
    private let expired: Outcome

    init(_ device: DeviceAuthorization, orElse expired: Outcome = Outcome(.flowExpired)) {
        interval = device.interval
        end = device.expiresAt
        self.expired = expired
    }

    mutating func next(
        after event: OperationEvent<OAuthClient.Answer>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> OperationAction<Void, OAuthClient.Answer> {
        switch event {
        case .begun: return pause(.challengePending, from: now)
        case .paused: return .perform(())
        case .answered(let answer):
            let outcome = answer.response.outcome
            guard outcome.kind == .continue else { return .finish(answer) }
            note(outcome.code == OAuthError.Word.slowDown.rawValue ? .slowDown : .pending)
            return pause(.challengePending, from: now, atLeast: outcome.retryAfter)
        case .failed(let error) where error.isPassing:
            note(.lost)
            return pause(error.kind, from: now, atLeast: error.retryAfter, orElse: error)
        case .failed(let error), .notPaused(let error): return .fail(error)
        }
    }

    private func pause(
        _ reason: Outcome.Kind,
        from now: TimeSource.Instant,
        atLeast stated: Duration? = nil,
        orElse error: RecoveryError? = nil
    ) -> OperationAction<Void, OAuthClient.Answer> {
        if let delay = wait(from: now, atLeast: stated) { return .pause(delay, reason: reason) }
        return .fail(error ?? RecoveryError(outcome: expired, reason: .notRecoverable))
    }

    /// Takes note of a poll.
    mutating func note(_ poll: Poll) {
        switch poll {
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

extension RecoveryError {
    /// Whether a device flow outlives the error: nothing was said about the flow itself.
    fileprivate var isPassing: Bool {
        switch kind {
        case .transport, .timedOut, .unavailable, .rateLimited, .quotaExhausted:
            remedies.contains(.retry) || remedies.contains(.wait)
        default: false
        }
    }
}
