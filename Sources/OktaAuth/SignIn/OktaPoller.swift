import HTTPRecovery

/// Asks how a factor stands until it stands otherwise; it never has anything sent.
struct OktaPoller {
    /// How many failures in a row are survived.
    static let maxFailures = 5

    let api: OktaAPI
    let wait: (Duration, Outcome.Kind) async throws -> Void

    /// Polls.
    ///
    /// - Parameter show: Told each state that brings a new number.
    func run(_ state: OktaState, show: (OktaState) async -> Void) async throws -> OktaState {
        var state = state
        var shownNumber: String?
        var failures = 0
        while let poll = state.poll {
            if let number = state.transaction.factor?.number, number != shownNumber {
                shownNumber = number
                await show(state)
            }
            let transaction = state.transaction
            let interval = api.configuration.pollInterval
            // Every request moves the expiry; where the next one would come behind it, it is over.
            if let left = transaction.lifetime, left <= interval { throw Self.expired }
            try await wait(interval, .challengePending)
            do {
                state = try await poll()
                failures = 0
            } catch let error as RecoveryError where Self.isPassing(error) && failures < Self.maxFailures {
                state = try await survive(error, &failures, state)
            }
        }
        return state
    }

    /// Reads where the transaction stands, after an answer that did not come.
    ///
    /// Asking on would be wrong: where the lost answer was the person's no, the same request would send a new push.
    private func survive(_ error: RecoveryError, _ failures: inout Int, _ state: OktaState) async throws -> OktaState {
        guard let token = state.transaction.stateToken else { throw error }
        var error = error
        while true {
            failures += 1
            let backoff = Duration.seconds(1 << min(failures - 1, 4))
            try await wait(max(backoff, error.retryAfter ?? .zero), error.kind)
            do {
                guard let transaction = try await api.read(token) else { throw error }
                return OktaState(transaction, api: api)
            } catch let next as RecoveryError where Self.isPassing(next) && failures < Self.maxFailures {
                error = next
            }
        }
    }

    /// Whether a failure says nothing about the factor.
    private static func isPassing(_ error: RecoveryError) -> Bool {
        // Those bounds are the caller's.
        let bounds: [StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
        guard error.outcome.factorResult == nil, !bounds.contains(error.reason) else { return false }
        return [.transport, .timedOut, .unavailable, .rateLimited].contains(error.kind)
    }

    private static var expired: RecoveryError {
        let outcome = Outcome(.challengeExpired, processed: .yes, remedies: [.newChallenge, .restartFlow])
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }
}

extension OktaState {
    /// The step that asks on; nil where there is nothing to wait for.
    var poll: OktaStep<Void>? {
        switch self {
        case .factorChallenge(let challenge): challenge.poll
        case .activating(let activating): activating.poll
        default: nil
        }
    }
}
