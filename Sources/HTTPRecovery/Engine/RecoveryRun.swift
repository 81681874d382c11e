import HTTPTypes

/// One call on its way through the engine.
struct RecoveryRun {
    let rules: RecoveryRules
    let budget: RetryBudget
    let gates: CallGates
    private(set) var request: HTTPRequest
    let body: HTTPBody?
    let context: CallContext
    let next: Next

    /// The attempts that count: all but the free replay after a repair.
    private var attempts = 0
    private var previousDelay = Duration.zero
    /// The names of the repairs so far: each is performed once.
    private var repairs: [String] = []
    /// What the attempt before the coming one came to; nil before the first and for the free replay.
    private var failureToRetry: Outcome.Kind?
    /// What the budget has paid for that has not gone out yet.
    private var payment: Payment?

    /// What is paid for before it is waited for.
    private enum Payment {
        case resend
        /// A request that continues the call; given back when the call ends well.
        case followUp
    }

    init(
        rules: RecoveryRules,
        budget: RetryBudget,
        gates: CallGates,
        request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) {
        self.rules = rules
        self.budget = budget
        self.gates = gates
        self.request = request
        self.body = body
        self.context = context
        self.next = next
    }

    mutating func callAsFunction() async throws -> Response {
        do {
            return try await run()
        } catch {
            // Paid for, and not sent after all.
            if payment != nil { budget.refund() }
            throw error
        }
    }

    private mutating func run() async throws -> Response {
        try await enter()
        while true {
            try Task.checkCancellation()
            try await pace()
            if let gate = await gates.closed() {
                try await react(to: gates.outcome(of: gate), gate: gate.key, response: nil)
                continue
            }
            let isResend = payment == .resend
            spend()
            attempts += 1
            isPaced = false
            let (outcome, response) = try await attempt()
            if let response, !outcome.isFailure {
                if isResend { budget.refund() }
                return response
            }
            let gate = await gates.close(for: outcome, by: response?.origin)
            lastFailure = (outcome, response)
            if outcome.kind == .accountLocked { lockouts += 1 }
            failureToRetry = outcome.kind
            try await react(to: outcome, gate: gate, response: response, wasSent: true)
        }
    }

    /// Whether a place is held for the coming attempt.
    private var isPaced = false

    /// Waits for the coming attempt's place, where its rate is limited beforehand.
    private mutating func pace() async throws {
        guard let pacing = context.options.pacing, !isPaced else { return }
        let limit = min(rules.maxWait, context.remainingToSend ?? .longest)
        let place = pacing.takePlace(for: request, at: context.runtime.time.now, within: limit)
        if place.delay > limit {
            var outcome = Outcome(.rateLimited, processed: .no, retryAfter: place.delay, remedies: [.wait])
            if let lastFailure { outcome.status = lastFailure.outcome.status }
            let isPastDeadline = context.remainingToSend.map { place.delay > $0 } ?? false
            let reason: StopReason = isPastDeadline ? .deadlineWouldPass : .waitExceedsLimit
            throw error(outcome, reason, needed: place.delay, response: lastFailure?.response)
        }
        do {
            try await context.wait(place.delay, reason: .rateLimited)
        } catch {
            pacing.giveBack(place)
            throw error
        }
        isPaced = true
    }

    private var lastFailure: (outcome: Outcome, response: Response?)?

    private var lockouts = 0

    /// Counts the call, or charges the request where it continues one, which may have to wait.
    private mutating func enter() async throws {
        guard let cause = context.followUp else { return budget.recordCall() }
        try await pay(for: .followUp, after: cause, response: nil)
        guard let delay = cause.retryAfter, delay > .zero else { return }
        var hold = Outcome(.unavailable, processed: .no, retryAfter: delay, remedies: [.wait])
        hold.status = cause.status
        try await react(to: hold, gate: nil, response: nil)
    }

    /// Withdraws from the budget what the coming request costs: before the wait for it, which would be in vain else.
    private mutating func pay(for what: Payment, after outcome: Outcome, response: Response?) async throws {
        guard try await budget.withdraw(sharedBy: context.runtime.state) else {
            throw error(outcome, .budgetExhausted, needed: nil, response: response)
        }
        payment = what
    }

    /// Uses what is paid for: the request goes out now.
    private mutating func spend() {
        switch payment {
        case .resend:
            if let reason = failureToRetry {
                context.emit(.retry(number: context.record.attempts + 1, reason: reason))
            }
        case .followUp: context.record.owe(budget)
        case nil: break
        }
        payment = nil
    }

    private func attempt() async throws -> (Outcome, Response?) {
        do {
            let response = try await next(request, body: body, context: context)
            return (response.outcome, response)
        } catch let error as TransportError {
            return (context.outcome(of: error, for: request), nil)
        }
    }

    /// Does what the rules say about a failure; returns when the request may be sent.
    private mutating func react(
        to outcome: Outcome,
        gate: Gate.Key?,
        response: Response?,
        wasSent: Bool = false
    ) async throws {
        let situation = Situation(
            outcome: outcome,
            wasSent: wasSent,
            attempts: attempts,
            lockouts: lockouts,
            previousDelay: previousDelay,
            method: request.method,
            repairs: repairs,
            remaining: context.remainingToSend,
            random: context.runtime.random.unit()
        )
        let obstacle =
            wasSent
            ? ResendRule.obstacle(outcome: outcome, request: request, body: body, permission: context.options.resend)
            : nil
        switch rules.next(situation, obstacle: obstacle, hasBudget: budget.hasBalance) {
        case .giveUp(let reason, let needed): throw error(outcome, reason, needed: needed, response: response)
        case .repair(let repair): try await perform(repair, outcome, response)
        case .retry(let delay):
            if wasSent { try await pay(for: .resend, after: outcome, response: response) }
            try await wait(delay, for: outcome, gate: gate)
        }
    }

    private mutating func wait(_ delay: Duration, for outcome: Outcome, gate: Gate.Key?) async throws {
        previousDelay = delay
        var delay = delay
        if let gate, delay > .zero {
            let queued = await context.runtime.state.joinQueue(at: gate)
            let random = context.runtime.random.unit()
            delay = delay.saturatingAdding(
                RecoveryRules.spread(wait: delay, queued: queued, random: random, remaining: context.remainingToSend)
            )
        }
        try await context.wait(delay, reason: outcome.kind)
    }

    private mutating func perform(_ repair: any Repair, _ outcome: Outcome, _ response: Response?) async throws {
        repairs.append(repair.name)
        let result: RepairResult
        do {
            if let deadline = context.deadline {
                result = try await context.runtime.time.withTimeout(until: deadline) { [context] in
                    try await repair.perform(outcome, context: context)
                }
            } else {
                result = try await repair.perform(outcome, context: context)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch is TimeoutExceeded {
            throw RepairUnfinished(repair: repair.name).error(after: outcome, response: response, context: context)
        } catch let cause as RepairUnfinished {
            throw cause.error(after: outcome, response: response, context: context)
        } catch let cause {
            result = .failed(outcome, cause: cause)
        }
        switch result {
        case .repaired:
            context.record.append(.repair(name: repair.name, succeeded: true))
        case .amended(let amend):
            context.record.append(.repair(name: repair.name, succeeded: true))
            amend(&request)
        case .failed(let conclusion, let reason, let cause):
            context.record.append(.repair(name: repair.name, succeeded: false))
            var failed = error(conclusion, reason, needed: nil, response: response)
            failed.cause = cause
            throw failed
        }
        // The replay after a repair is free: it is bounded by one per call and repair.
        attempts -= 1
        failureToRetry = nil
    }

    private func error(
        _ outcome: Outcome,
        _ reason: StopReason,
        needed: Duration?,
        response: Response?
    ) -> RecoveryError {
        let wait = needed ?? outcome.statedWait
        return RecoveryError(
            outcome: outcome,
            reason: reason,
            retryAfter: wait,
            retryAt: wait.map { context.runtime.time.wallTime.advanced(by: $0) },
            response: response,
            history: context.record.history
        )
    }
}
