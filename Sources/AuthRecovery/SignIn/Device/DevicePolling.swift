package import HTTPRecovery

/// When to ask again in a device login (RFC 8628 section 3.5).
///
/// "Not yet" and "too fast" are no failures; the latter makes the interval longer for good. An answer that is lost, an
/// outage or a limit is followed by another question at twice the interval, as long as the login lasts.
package struct DevicePolling: RecoveryOperation.Plan {
    /// What a server that is asked too often adds to the interval.
    private static let slowing: Duration = .seconds(5)
    /// The longest that lost answers alone make the interval.
    private static let longestBackoff: Duration = .seconds(60)

    private let end: TimeSource.Instant
    private let server: DeviceLoginRules
    /// The time between two polls.
    fileprivate(set) var interval: Duration
    /// What the last poll has failed with.
    fileprivate(set) var failure: RecoveryError?

    package init(_ device: OAuthClient.DeviceAuthorization, _ server: DeviceLoginRules) {
        interval = device.interval
        end = device.expiresAt
        self.server = server
    }

    package mutating func next(
        after event: RecoveryOperation.Event<RecoveredResponse>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Void, RecoveredResponse> {
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
            if server.isTooFast(outcome) { interval = interval.saturatingAdding(Self.slowing) }
            failure = nil
            return pause(.challengePending, from: now, atLeast: outcome.retryAfter)
        case .failed(let error):
            // The answer that was lost held the token: the code is used up, and nobody can obtain that token now.
            if error.kind == .invalidRequest, failure?.outcome.provesNothingSpent == false { return .fail(expired) }
            guard error.isPassing else { return .fail(error) }
            interval = max(interval, min(interval.scaled(by: 2), Self.longestBackoff))
            failure = error
            return pause(error.kind, from: now, atLeast: error.retryAfter)
        }
    }

    private func pause(
        _ reason: Outcome.Kind,
        from now: TimeSource.Instant,
        atLeast stated: Duration? = nil
    ) -> RecoveryOperation.Action<Void, RecoveredResponse> {
        let delay = max(interval, stated ?? .zero)
        return now.advanced(by: delay) < end ? .pause(delay, reason: reason) : .fail(failure ?? expired)
    }

    private var expired: RecoveryError { RecoveryError(outcome: server.expired, reason: .notRecoverable) }
}

/// What tells the device logins of one server from those of others.
package struct DeviceLoginRules: Sendable {
    /// What a login comes to that has lasted too long.
    package var expired: Outcome
    /// Whether "not yet" means that it was asked too fast.
    package var isTooFast: @Sendable (Outcome) -> Bool

    package init(expired: Outcome, isTooFast: @escaping @Sendable (Outcome) -> Bool) {
        self.expired = expired
        self.isTooFast = isTooFast
    }
}

extension DevicePolling {
    /// What is written down at a pause.
    struct Memory: RememberedFields {
        var interval = Duration.zero
        var failure: RecoveryError?

        static var fields: [RememberedField<Memory>] { [.init("interval", \.interval), .init("failure", \.failure)] }
    }

    var remembered: Memory {
        get { Memory(interval: interval, failure: failure) }
        set { (interval, failure) = (newValue.interval, newValue.failure) }
    }
}

extension RecoveryError {
    /// Whether a device login outlives the error: nothing was said about the login itself.
    fileprivate var isPassing: Bool {
        switch kind {
        case .transport, .timedOut, .unavailable, .rateLimited, .quotaExhausted:
            reason != .recoveryOff && (remedies.contains(.retry) || remedies.contains(.wait))
        default: false
        }
    }
}
