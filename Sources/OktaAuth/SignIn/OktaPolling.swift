import AuthRecovery
import HTTPRecovery

/// Asks how a factor stands until it stands otherwise; it never has anything sent.
struct OktaPolling: RecoveryOperation.Plan {
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
    /// How long is asked at most, by a server that never says that it is over: nobody still holds their phone then.
    static let longest: Duration = .seconds(3600)

    private(set) var state: OktaState
    /// What the person confirms; nil if nobody is shown it.
    private(set) var factor: Factor?
    let interval: Duration
    private(set) var shownNumber: String?
    private(set) var failures = 0
    private(set) var error: RecoveryError?
    /// How long was paused so far.
    private(set) var waited = Duration.zero
    private var step: Step?

    init(_ state: OktaState, factor: Factor? = nil, interval: Duration) {
        self.state = state
        self.factor = factor
        self.interval = interval
    }

    /// Takes up again what was written down, at a pause.
    init(_ memory: Memory, at state: OktaState, interval: Duration) {
        self.init(state, factor: memory.factor, interval: interval)
        shownNumber = memory.shownNumber
        failures = memory.failures
        error = memory.error
        waited = memory.waited
        step = memory.isReading ? state.transaction.stateToken.map { .read($0) } : state.poll.map { .poll($0) }
    }

    /// Whether the pause is one before the state is read.
    var isReading: Bool {
        if case .read = step { true } else { false }
    }

    /// What the person is shown while they answer on their phone.
    var challenge: Challenge {
        let setup: Secret? = if case .activating(let activating) = state { activating.setup } else { nil }
        return Challenge(
            factor: factor ?? Factor(key: .push, providerName: "push"),
            number: shownNumber,
            setup: setup
        )
    }

    mutating func next(
        after event: RecoveryOperation.Event<OktaState?>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<Step, OktaState> {
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

    private mutating func goOn() -> RecoveryOperation.Action<Step, OktaState> {
        guard let poll = state.poll else { return .finish(state) }
        if let number = state.transaction.factor?.number, number != shownNumber {
            shownNumber = number
            step = .show(state)
            return .perform(.show(state))
        }
        // Every request moves the expiry; if the next one would come behind it, it is over.
        if let left = state.transaction.lifetime, left <= interval { return .fail(Self.expired) }
        waited += interval
        if waited > Self.longest { return .fail(Self.expired) }
        // That an activation has run out the server says itself, with the step that makes it anew.
        if let left = state.transaction.activationLifetime, left <= .zero { return .fail(Self.expired) }
        step = .poll(poll)
        return .pause(interval, reason: .challengePending)
    }

    /// Goes on by reading where the transaction stands, after an answer that did not come.
    ///
    /// Asking on would be wrong: if the lost answer was the person's no, the same request would send a new push.
    private mutating func survive(_ error: RecoveryError) -> RecoveryOperation.Action<Step, OktaState> {
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
        let bounds: [History.StopReason] = [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit]
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
    ///   - show: Told each state that brings a new number.
    func poll(
        _ state: OktaState,
        in operation: RecoveryOperation,
        show: (OktaState) async -> Void
    ) async throws -> OktaState {
        let plan = OktaPolling(state, interval: configuration.pollInterval)
        return try await operation.run(plan) { step, operation in
            if case .show(let state) = step { await show(state) }
            return try await perform(step, in: operation)
        }
    }

    /// Performs a step of asking how a factor stands.
    func perform(_ step: OktaPolling.Step, in operation: RecoveryOperation) async throws -> OktaState? {
        switch step {
        case .show(let state): return state
        case .poll(let step):
            guard let transaction = try await step.within(operation).perform(()) else {
                throw RecoveryError(.unreadable, in: nil)
            }
            return OktaState(transaction, api: self)
        case .read(let token): return try await within(operation).read(token).map { OktaState($0, api: self) }
        }
    }
}

extension OktaState {
    /// The step that asks on; nil if there is nothing to wait for.
    var poll: OktaStep<Void>? {
        switch self {
        case .factorChallenge(let challenge): challenge.poll
        case .activating(let activating): activating.poll
        default: nil
        }
    }
}
