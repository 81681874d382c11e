import HTTPTypes

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
        /// The one that was asked for last, by the words of the request: mostly it is asked for again.
        var last: Last
    }

    private struct Last {
        var scheme: String?
        var authority: String?
        var budget: RetryBudget
    }

    private let state: Locked<State>
    private static let limit = 1024

    init(_ configuration: RetryBudget.Configuration) {
        self.configuration = configuration
        // No request has a space for its scheme.
        let nowhere = Last(scheme: " ", authority: nil, budget: RetryBudget(configuration))
        self.state = Locked(State(last: nowhere))
    }

    private subscript(request: HTTPRequest) -> RetryBudget {
        let (scheme, authority) = (request.scheme, request.authority)
        return state.withLock { state in
            if state.last.authority == authority, state.last.scheme == scheme { return state.last.budget }
            let origin = Origin(of: request)
            let budget = state.budgets[origin] ?? RetryBudget(configuration, key: "\(origin)")
            // Bounded against endless hosts; a forgotten origin starts with a fresh burst.
            if state.budgets[origin] == nil, state.budgets.count >= Self.limit, let any = state.budgets.keys.first {
                state.budgets[any] = nil
            }
            state.budgets[origin] = budget
            state.last = Last(scheme: scheme, authority: authority, budget: budget)
            return budget
        }
    }

    func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
        switch cause {
        case .call, .repair: false
        case .retry, .followUp: true
        }
    }

    func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer {
        let payment: Payment
        switch attempt.cause {
        case .call, .repair: return .go()
        case .retry: payment = .resend
        case .followUp: payment = .followUp
        }
        let budget = self[attempt.request]
        guard budget.hasBalance, try await budget.withdraw(sharedBy: context.runtime.state) else {
            return .refuse(.budgetExhausted)
        }
        return .go(PlannedAttempt.Permit(payment))
    }

    func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? {
        switch (permit.value as? Payment, end) {
        case (.resend, .ended(let outcome, _)) where !outcome.isFailure: self[attempt.request].refund()
        case (.some, .notSent): self[attempt.request].refund()
        case (.followUp, _): context.record.owe(self[attempt.request].refund)
        default: break
        }
        return nil
    }

    func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
        if attempt.cause == .call { self[attempt.request].recordCall() }
        return nil
    }
}
