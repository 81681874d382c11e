import HTTPRecovery

/// When to ask again in a device login.
///
/// "Not yet" and "too fast" are no failures; the latter makes the interval longer for good. An answer that is lost, an
/// outage or a limit is followed by another question at twice the interval, as long as the login lasts. Where the lost
/// answer held the token, the login has to be begun again.
struct FacebookDevicePolling: OperationPlan {
    /// What a server that is asked too often adds to the interval.
    private static let slowing: Duration = .seconds(5)
    /// The longest that lost answers alone make the interval.
    private static let longestBackoff: Duration = .seconds(60)

    private let expiresAt: TimeSource.Instant
    private var interval: Duration
    private var stated: Duration?
    private var failure: RecoveryError?

    init(_ device: FacebookDeviceLogin) {
        expiresAt = device.expiresAt
        interval = device.interval
    }

    mutating func next(
        after event: OperationEvent<Response>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> OperationAction<Void, Response> {
        switch event {
        case .begun: return pause(.challengePending, from: now)
        case .paused: return .perform(())
        case .notPaused(let bound):
            // A limit or an outage that is not waited out is told as what it is.
            guard var failure else { return .fail(bound) }
            failure.reason = bound.reason
            return .fail(failure)
        case .answered(let response):
            let outcome = response.outcome
            guard outcome.kind == .continue else { return .finish(response) }
            if outcome.subcode == "1349172" { interval = interval.saturatingAdding(Self.slowing) }
            (stated, failure) = (outcome.retryAfter, nil)
            return pause(.challengePending, from: now)
        case .failed(let error):
            // The answer that was lost held the token: the code is used up, and nobody can obtain that token now.
            if error.kind == .invalidRequest, failure?.hasLostAnswer == true { return .fail(Self.expired) }
            guard error.isPassing else { return .fail(error) }
            interval = max(interval, min(interval.scaled(by: 2), Self.longestBackoff))
            (stated, failure) = (error.retryAfter, error)
            return pause(error.kind, from: now, orElse: error)
        }
    }

    private func pause(
        _ reason: Outcome.Kind,
        from now: TimeSource.Instant,
        orElse error: RecoveryError = expired
    ) -> OperationAction<Void, Response> {
        let delay = max(interval, stated ?? .zero)
        return now.advanced(by: delay) < expiresAt ? .pause(delay, reason: reason) : .fail(error)
    }

    /// What a login comes to that has lasted too long.
    static var expired: RecoveryError {
        var outcome = Outcome(.flowExpired, processed: .no, remedies: [.restartFlow])
        outcome.tokenAction = .clear
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension RecoveryError {
    /// Whether the server may have answered what nobody has read.
    fileprivate var hasLostAnswer: Bool { !outcome.provesNothingSpent }

    /// Whether a device login outlives the error: nothing was said about the login itself.
    fileprivate var isPassing: Bool {
        switch kind {
        case .transport, .timedOut, .unavailable, .rateLimited, .quotaExhausted:
            reason != .recoveryOff && (remedies.contains(.retry) || remedies.contains(.wait))
        default: false
        }
    }
}
