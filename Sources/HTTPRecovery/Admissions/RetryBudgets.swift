import HTTPTypes

/// The retry budgets of a client, one an origin.
///
/// What is paid is paid when a resend is planned, before the wait for it, which would be in vain else.
final class RetryBudgets: Admission {
    /// What an attempt was paid as.
    private struct Payment {
        var cost: Int
        /// Whether it continues the call: given back when that ends well.
        var isFollowUp = false
        /// Whether nothing was to be paid: it is only counted.
        var isFree = false
    }

    /// The budget of one origin.
    private enum Account: Sendable {
        case ratio(RetryBudget)
        case ledger(Locked<BudgetLedger>)
    }

    private let countsFlights: Bool
    private let model: Locked<RetryBudget.Model>
    private let accounts: OriginTable<Account>

    init(_ model: RetryBudget.Model) {
        countsFlights = BudgetLedger.countsFlights(model)
        let current = Locked(model)
        self.model = current
        accounts = OriginTable { origin in
            let model = current.withLock { $0 }
            guard case .ratio(let configuration) = model else { return .ledger(Locked(BudgetLedger(model))) }
            return .ratio(RetryBudget(configuration, key: "\(origin)"))
        }
    }

    /// By which sizes they go now.
    var present: RetryBudget.Model { model.withLock { $0 } }

    var problem: String? { present.problem }

    /// What an origin's budget has left, in resends or in the model's tokens; infinite if nothing bounds it.
    func left(for request: HTTPRequest, at now: TimeSource.Instant) -> Double {
        switch accounts[request] {
        case .ratio(let budget): budget.left
        case .ledger(let ledger): ledger.withLock { $0.left(at: now.sinceStart) }
        }
    }

    /// Keeps to other sizes of the same model from now on; what there is is kept, within those.
    ///
    /// - Returns: Whether it is the same model.
    func resize(to new: RetryBudget.Model, at now: TimeSource.Instant) -> Bool {
        let isSame = model.withLock { model in
            guard model.name == new.name else { return false }
            model = new
            return true
        }
        guard isSame else { return false }
        for account in accounts.all.values {
            switch (account, new) {
            case (.ratio(let budget), .ratio(let configuration)): budget.resize(to: configuration)
            case (.ratio, _): break
            case (.ledger(let ledger), _): ledger.withLock { $0.resize(to: new, at: now.sinceStart) }
            }
        }
        return true
    }

    func knowledge(at now: TimeSource.Instant) -> JSONValue? {
        let name = model.withLock { $0 }.name
        let known = accounts.knowledge { account in
            switch account {
            case .ratio(let budget): .finite(budget.left)
            case .ledger(let ledger): .finite(ledger.withLock { $0.left(at: now.sinceStart) })
            }
        }
        return known.map { ["model": .string(name), "left": $0] }
    }

    func learn(_ knowledge: JSONValue, from moment: TimeSource.Instant) -> Bool {
        guard knowledge["model"]?.string == model.withLock({ $0 }).name else { return false }
        return accounts.learn(knowledge["left"] ?? .null) { account, known in
            guard let left = known.number?.double else { return false }
            switch account {
            case .ratio(let budget): budget.begin(with: left)
            case .ledger(let ledger): ledger.withLock { $0.begin(with: left, at: moment.sinceStart) }
            }
            return true
        }
    }

    func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
        switch cause {
        case .call, .repair: countsFlights
        case .retry, .followUp, .hedge: true
        }
    }

    func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer {
        let account = accounts[attempt]
        switch attempt.cause {
        case .call, .repair:
            guard countsFlights, attempt.isDue, case .ledger(let ledger) = account else { return .go() }
            ledger.withLock { $0.begin() }
            return .go(PlannedAttempt.Permit(Payment(cost: 0, isFree: true)))
        case .retry, .followUp, .hedge: break
        }
        let cost: Int?
        switch account {
        case .ratio(let budget):
            let isPaid = budget.hasBalance ? try await budget.withdraw(sharedBy: context.runtime.state) : false
            cost = isPaid ? 0 : nil
        case .ledger(let ledger):
            let now = context.runtime.time.now.sinceStart
            cost = ledger.withLock { $0.withdraw(after: attempt.failure, at: now) }
        }
        guard let cost else { return .refuse(.budgetExhausted) }
        return .go(PlannedAttempt.Permit(Payment(cost: cost, isFollowUp: attempt.cause == .followUp)))
    }

    func conclude(
        _ attempt: PlannedAttempt,
        _ end: PlannedAttempt.End,
        permit: PlannedAttempt.Permit,
        context: CallContext
    ) -> Remainder? {
        guard let payment = permit.value as? Payment else { return nil }
        let now = context.runtime.time.now.sinceStart
        switch (accounts[attempt], end) {
        case (.ratio(let budget), .notSent): budget.refund()
        case (.ratio(let budget), _) where payment.isFollowUp: context.record.owe(budget.refund)
        // A hedge is load that was added, whether it was of use or not.
        case (.ratio(let budget), .ended(let outcome, _)) where !outcome.isFailure && attempt.cause != .hedge:
            budget.refund()
        case (.ratio, _): break
        case (.ledger(let ledger), .notSent) where !payment.isFree:
            ledger.withLock { $0.giveBack(payment.cost, at: now) }
        case (.ledger(let ledger), _):
            if payment.isFollowUp, !countsFlights {
                context.record.owe { ledger.withLock { $0.giveBack(payment.cost, at: now) } }
            }
            let outcome = if case .ended(let outcome, _) = end, !payment.isFollowUp { outcome } else { nil as Outcome? }
            ledger.withLock {
                $0.end(
                    outcome,
                    cost: payment.isFree ? nil : payment.cost,
                    isCall: attempt.cause == .call,
                    isHedge: attempt.cause == .hedge,
                    at: now
                )
            }
        }
        return nil
    }

    func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
        switch accounts[attempt] {
        case .ratio(let budget):
            if attempt.cause == .call { budget.recordCall() }
        case .ledger(let ledger):
            let outcome = if case .ended(let outcome, _) = end { outcome } else { nil as Outcome? }
            let now = context.runtime.time.now.sinceStart
            ledger.withLock { $0.end(outcome, cost: nil, isCall: attempt.cause == .call, at: now) }
        }
        return nil
    }
}
