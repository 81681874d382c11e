/// The retry budgets of a client, one an origin.
///
/// What is paid is paid when a resend is planned, before the wait for it, which would be in vain else.
final class RetryBudgets: Admission {
    /// What an attempt was paid as.
    private enum Payment {
        case resend
        /// A request that continues the call; given back when the call ends well.
        case followUp
    }

    private let configuration: RetryBudget.Configuration
    private struct State {
        var budgets: [Origin: RetryBudget] = [:]
        /// The one that was asked for last: mostly it is asked for again.
        var last: (origin: Origin, budget: RetryBudget)?
    }

    private let state = Locked(State())
    private static let limit = 1024

    init(_ configuration: RetryBudget.Configuration) {
        self.configuration = configuration
    }

    subscript(origin: Origin) -> RetryBudget {
        state.withLock { state in
            if let last = state.last, last.origin == origin { return last.budget }
            let budget = state.budgets[origin] ?? RetryBudget(configuration, key: "\(origin)")
            // Bounded against endless hosts; a forgotten origin starts with a fresh burst.
            if state.budgets[origin] == nil, state.budgets.count >= Self.limit, let any = state.budgets.keys.first {
                state.budgets[any] = nil
            }
            state.budgets[origin] = budget
            state.last = (origin, budget)
            return budget
        }
    }

    func mayHold(_ cause: AttemptCause, context: CallContext) -> Bool {
        switch cause {
        case .call, .repair: false
        case .retry, .followUp: true
        }
    }

    func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> AdmissionAnswer {
        let payment: Payment
        switch attempt.cause {
        case .call, .repair: return .go()
        case .retry: payment = .resend
        case .followUp: payment = .followUp
        }
        let budget = self[attempt.origin]
        guard budget.hasBalance, try await budget.withdraw(sharedBy: context.runtime.state) else {
            return .refuse(.budgetExhausted)
        }
        return .go(AdmissionPermit(payment))
    }

    func conclude(
        _ attempt: PlannedAttempt,
        _ end: AttemptEnd,
        permit: AdmissionPermit?,
        context: CallContext
    ) async -> Gate.Key? {
        switch (permit?.value as? Payment, end) {
        case (.resend, .ended(let outcome, _)) where !outcome.isFailure: self[attempt.origin].refund()
        case (.some, .notSent): self[attempt.origin].refund()
        case (.followUp, _): context.record.owe(self[attempt.origin].refund)
        case (nil, .ended), (nil, .abandoned):
            if attempt.cause == .call { self[attempt.origin].recordCall() }
        default: break
        }
        return nil
    }
}
