import HTTPTypes

/// Performs what ``CallState`` wants done and tells it what came of it: the one place that waits and sends again.
struct CallDriver {
    private var state: CallState
    private var admissions: AdmissionRound
    private var request: HTTPRequest
    private let body: HTTPBody?
    private var context: CallContext
    private let next: Next
    private let tape: CallTape?
    /// The last response; nil where the last attempt had none.
    private var response: Response?
    /// What a repair has failed with.
    private var cause: (any Error)?

    init(
        rules: RecoveryRules,
        admissions: [any Admission],
        request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) {
        self.state = CallState(rules: rules, method: request.method)
        self.admissions = AdmissionRound(admissions, for: request)
        self.request = request
        self.body = body
        self.context = context
        self.next = next
        self.tape = CallTape.make(rules, request, context)
    }

    mutating func callAsFunction() async throws -> Response {
        defer { tape?.finish() }
        do {
            return try await run()
        } catch {
            await admissions.abandon(context: context)
            throw error
        }
    }

    private mutating func run() async throws -> Response {
        var event = CallState.Event.begun(following: context.followUp, repeating: context.repetition)
        while true {
            try Task.checkCancellation()
            switch state.next(after: event, in: context, writing: tape) {
            case .admit(let cause, let isDue):
                event = try await admissions.ask(request, cause, isDue: isDue, state.rules, context)
            case .attempt(let cause): event = try await attempt(because: cause)
            case .queue: event = .queued(behind: await admissions.joinQueue(context.runtime.state))
            case .wait(let delay, let reason):
                try await context.wait(delay, reason: reason)
                event = .waited
            case .repair(let repair, let outcome): event = try await perform(repair, after: outcome)
            case .finish:
                guard let response else { throw error(Outcome(.unknown), .notRecoverable, needed: nil) }
                return response
            case .fail(let outcome, let reason, let needed): throw error(outcome, reason, needed: needed)
            }
        }
    }

    private mutating func attempt(because cause: AttemptCause) async throws -> CallState.Event {
        if case .retry(let reason) = cause {
            context.emit(.retry(number: context.record.nextAttempt, reason: reason))
        }
        context.cause = cause
        admissions.begin()
        let outcome: Outcome
        do {
            let received = try await next(request, body: body, context: context)
            (outcome, response) = (received.outcome, received)
        } catch let error as TransportError {
            (outcome, response) = (context.outcome(of: error, for: request), nil)
        }
        let hasQueue = await admissions.conclude(.ended(outcome, by: response?.origin), context: context)
        if response != nil, !outcome.isFailure { return .succeeded }
        let permission = context.options.resend
        let obstacle = ResendRule.obstacle(outcome: outcome, request: request, body: body, permission: permission)
        return .failed(outcome, obstacle: obstacle, hasQueue: hasQueue)
    }

    private mutating func perform(_ repair: any Repair, after outcome: Outcome) async throws -> CallState.Event {
        switch try await repair.result(after: outcome, response: response, context: context) {
        case .repaired: break
        case .amended(let amend): amend(&request)
        case .failed(let conclusion, let reason, let cause):
            self.cause = cause
            return .repairFailed(conclusion, reason)
        }
        return .repaired(name: repair.name)
    }

    private func error(_ outcome: Outcome, _ reason: StopReason, needed: Duration?) -> RecoveryError {
        .init(after: outcome, reason: reason, needed: needed, response: response, cause: cause, context: context)
    }
}
