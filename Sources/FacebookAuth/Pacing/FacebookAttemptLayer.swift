public import HTTPRecovery
import HTTPTypes

extension FacebookPacing {
    /// The layer for the calls of the module.
    ///
    /// - Parameter recovers: Whether failures are left to the policies of the client; else they end the call at once.
    func layer(recovers: Bool) -> any Middleware {
        recovers ? learning : UnrecoveredAttempt(learning: learning)
    }
}

extension StopReason {
    /// Recovery from errors is switched off.
    public static let recoveryOff = StopReason(rawValue: "recovery_off")
}

/// An attempt that ends its call, whatever it comes to; a stated limit still closes its gate.
private struct UnrecoveredAttempt: Middleware {
    let learning: any Middleware

    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        context: CallContext,
        next: Next
    ) async throws -> Response {
        let response: Response
        do {
            response = try await learning.intercept(request, body: body, context: context, next: next)
        } catch let error as TransportError {
            throw failure(context.outcome(of: error, for: request), nil, context)
        }
        guard response.outcome.isFailure else { return response }
        let scopes = FacebookScopes(request, context: context)
        if response.outcome.remedies.contains(.wait), let wait = response.outcome.retryAfter, wait > .zero,
            let key = scopes.key(for: response.outcome.scope)
        {
            let opensAt = context.runtime.time.wallTime.advanced(by: wait)
            await context.runtime.state.close(Gate(key: key, reason: response.outcome.kind, opensAt: opensAt))
        }
        throw failure(response.outcome, response, context)
    }

    private func failure(_ outcome: Outcome, _ response: Response?, _ context: CallContext) -> RecoveryError {
        RecoveryError(
            outcome: outcome,
            reason: .recoveryOff,
            retryAfter: outcome.statedWait,
            retryAt: outcome.statedWait.map { context.runtime.time.wallTime.advanced(by: $0) },
            response: response,
            history: context.record.history
        )
    }
}
