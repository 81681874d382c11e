extension Repair {
    /// Performs the repair within the call's deadline, and writes it into the history.
    ///
    /// - Throws: `CancellationError` when the call is cancelled; the call's error where its time ran out first.
    func result(after outcome: Outcome, response: Response?, context: CallContext) async throws -> RepairResult {
        let result = try await bounded(after: outcome, response: response, context: context)
        let hasFailed = if case .failed = result { true } else { false }
        context.record.append([.repair(name: name, succeeded: !hasFailed)])
        return result
    }

    private func bounded(
        after outcome: Outcome,
        response: Response?,
        context: CallContext
    ) async throws -> RepairResult {
        do {
            guard let deadline = context.deadline else { return try await perform(outcome, context: context) }
            return try await context.runtime.time.withTimeout(until: deadline) {
                try await perform(outcome, context: context)
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch is TimeoutExceeded {
            throw RepairUnfinished(repair: name).error(after: outcome, response: response, context: context)
        } catch let cause as RepairUnfinished {
            throw cause.error(after: outcome, response: response, context: context)
        } catch let cause {
            return .failed(outcome, cause: cause)
        }
    }
}
