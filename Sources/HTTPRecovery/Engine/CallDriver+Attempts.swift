import HTTPTypes

/// What is done about an attempt before and after it is under way; nothing here waits.
extension CallDriver {
    @inline(never)
    mutating func begin(_ cause: History.Cause) {
        if case .retry(let reason) = cause {
            context.emit(.retry(number: context.record.nextAttempt, reason: reason))
        }
        context.cause = cause
        (hedging.count, hedging.hasRaced) = (0, false)
        round.begin()
    }

    @inline(never)
    mutating func take(_ received: consuming RecoveredResponse) {
        outcome = received.outcome
        response = received
    }

    /// Takes note of the transport's error; any other ends the call.
    @inline(never)
    mutating func take(_ error: any Error, _ request: HTTPRequest) throws {
        guard let error = error as? TransportError else { throw error }
        (outcome, response) = (context.outcome(of: error, for: amended ?? request), nil)
    }

    /// How the attempt has ended for the admissions.
    var end: PlannedAttempt.End {
        state.isTransparent(outcome) ? .abandoned : .ended(outcome, by: response?.origin)
    }

    /// Tells the call how the attempt has ended.
    @inline(never)
    mutating func ended(_ request: HTTPRequest, _ body: MessageBody?) {
        if response != nil, !outcome.isFailure { return event = .succeeded }
        let (request, permission) = (amended ?? request, context.options.resend)
        let obstacle = ResendRule.obstacle(outcome: outcome, request: request, body: body, permission: permission)
        event = .failed(outcome, obstacle: obstacle, hasQueue: round.queue != nil, hedges: hedging.count)
    }

    /// The response that the call hands out.
    @inline(never)
    mutating func accepted() throws -> RecoveredResponse {
        guard let response = response.take() else { throw error(Outcome(.unknown), .notRecoverable, needed: nil) }
        return response
    }

    @inline(never)
    mutating func error(_ outcome: Outcome, _ reason: History.StopReason, needed: Duration?) -> RecoveryError {
        let cause = repairError
        return .init(after: outcome, reason: reason, needed: needed, response: response, cause: cause, context: context)
    }
}
