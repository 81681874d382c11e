import AuthRecovery
import HTTPRecovery

/// Asks how a factor stands until it stands otherwise; it never has anything sent.
struct OktaPolling: OperationPlan {
    /// What can be done.
    enum Step: Sendable {
        /// Show the person a new number.
        case show(OktaState)
        /// Ask on.
        case poll(OktaStep<Void>)
        /// Read where the transaction stands.
        case read(Secret)
    }

    /// How many failures in a row are survived.
    private static let maxFailures = 5

    private var state: OktaState
    private let interval: Duration
    private var shownNumber: String?
    private var failures = 0
    private var step: Step?
    private var error: RecoveryError?

    init(_ state: OktaState, interval: Duration) {
        self.state = state
        self.interval = interval
    }

    mutating func next(
        after event: OperationEvent<OktaState?>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> OperationAction<Step, OktaState> {
        switch event {
        case .begun: return goOn()
        case .answered(nil): return .fail(error ?? Self.expired)
        case .answered(let answer?):
            state = answer
            if case .poll = step { failures = 0 }
            return goOn()
        case .failed(let error): return survive(error)
        case .paused:
            guard let step else { return goOn() }
            // Reading is no second poll, but it is there because of a failure.
            if case .read = step { return .perform(step, repeating: error?.kind) }
            return .perform(step)
        case .notPaused(let error): return .fail(error)
        }
    }

    private mutating func goOn() -> OperationAction<Step, OktaState> {
        guard let poll = state.poll else { return .finish(state) }
        if let number = state.transaction.factor?.number, number != shownNumber {
            shownNumber = number
            step = .show(state)
            return .perform(.show(state))
        }
        // Every request moves the expiry; where the next one would come behind it, it is over.
        if let left = state.transaction.lifetime, left <= interval { return .fail(Self.expired) }
        step = .poll(poll)
        return .pause(interval, reason: .challengePending)
    }

    /// Goes on by reading where the transaction stands, after an answer that did not come.
    ///
    /// Asking on would be wrong: where the lost answer was the person's no, the same request would send a new push.
    private mutating func survive(_ error: RecoveryError) -> OperationAction<Step, OktaState> {
        guard Self.isPassing(error), failures < Self.maxFailures, let token = state.transaction.stateToken else {
            return .fail(error)
        }
        failures += 1
        self.error = error
        step = .read(token)
        let backoff = Duration.seconds(1 << min(failures - 1, 4))
        return .pause(max(backoff, error.retryAfter ?? .zero), reason: error.kind)
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

extension OktaAPI {
    /// Asks how a factor stands until it stands otherwise.
    ///
    /// - Parameters:
    ///   - state: The state that waits.
    ///   - operation: What the polls belong to.
    ///   - pausing: Pauses between two of them; nil leaves it to the operation.
    ///   - show: Told each state that brings a new number.
    func poll(
        _ state: OktaState,
        in operation: RecoveryOperation,
        pausing: ((Duration, Outcome.Kind) async throws -> Void)? = nil,
        show: (OktaState) async -> Void
    ) async throws -> OktaState {
        let plan = OktaPolling(state, interval: configuration.pollInterval)
        return try await operation.run(plan, pausing: pausing) { step, operation in
            switch step {
            case .show(let state):
                await show(state)
                return state
            case .poll(let step):
                guard let transaction = try await step.within(operation).perform(()) else {
                    throw failure(.unreadable, in: nil)
                }
                return OktaState(transaction, api: self)
            case .read(let token):
                return try await within(operation).read(token).map { OktaState($0, api: self) }
            }
        }
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
