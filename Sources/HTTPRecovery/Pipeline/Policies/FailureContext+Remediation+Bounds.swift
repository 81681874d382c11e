extension FailureContext.Remediation {
    /// Performs the repair within the call's deadline, and writes it into the history.
    ///
    /// - Throws: `CancellationError` when the call is cancelled; the call's error if its time ran out first.
    func result(after outcome: Outcome, response: RecoveredResponse?, context: CallContext) async throws
        -> FailureContext.RemediationResult
    {
        let result = try await bounded(after: outcome, response: response, context: context)
        let hasFailed = if case .failed = result { true } else { false }
        context.record.append([.repair(name: name, succeeded: !hasFailed)])
        return result
    }

    private func bounded(
        after outcome: Outcome,
        response: RecoveredResponse?,
        context: CallContext
    ) async throws -> FailureContext.RemediationResult {
        do {
            guard let deadline = context.deadline else { return try await perform(outcome, context: context) }
            return try await context.runtime.time.withTimeout(until: deadline) {
                try await perform(outcome, context: context)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch is TimeoutExceeded {
            throw FailureContext.RemediationUnfinished(repair: name).error(
                after: outcome,
                response: response,
                context: context
            )
        } catch let cause as FailureContext.RemediationUnfinished {
            throw cause.error(after: outcome, response: response, context: context)
        } catch let cause {
            return .failed(outcome, cause: cause)
        }
    }
}
