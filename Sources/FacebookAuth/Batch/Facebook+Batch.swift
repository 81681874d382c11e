import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Facebook {
    /// Sends several requests at once.
    ///
    /// More than 50 go out in several batches, one after the other; if a later one fails as a whole, its requests have
    /// that failure as their answer. Each answer is judged by itself: what failed for a passing reason is sent again if
    /// it was not done or doing it twice does no harm, together with those whose answers it uses. Those whose limit is
    /// reached, and those that need one of them, are not sent; if the time is long they keep that outcome. If the
    /// stored token is refused by an item without one of its own, that is settled once, as for any other call.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - token: Which token is presented for those that have none of their own.
    ///   - maxAttempts: The most attempts of a request, the first included; at least 1, default: 3.
    /// - Returns: An answer for each request, in order, failures among them.
    /// - Throws: `RecoveryError` before anything is sent if a request needs another that is none of the same fifty
    ///   (`invalid_request`); if the first batch as a whole was refused, or answered with another number of items than
    ///   it has requests (`unreadable`). `CancellationError` as soon as the task is cancelled.
    public func batch(
        _ requests: [FacebookBatchRequest],
        as token: FacebookToken = .stored,
        maxAttempts: Int = 3
    ) async throws -> [FacebookBatchAnswer] {
        let parts = stride(from: 0, to: requests.count, by: FacebookBatchRun.maximumCount).map { start in
            requests[start..<min(start + FacebookBatchRun.maximumCount, requests.count)]
        }
        guard FacebookBatchGraph.isClosed(parts) else {
            var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
            outcome.parameter = "depends_on"
            throw RecoveryError(outcome: outcome, reason: .notRecoverable)
        }
        return try await api.client.operation { operation in
            try await batch(parts, as: token, maxAttempts: maxAttempts, in: operation)
        }
    }

    private func batch(
        _ parts: [ArraySlice<FacebookBatchRequest>],
        as token: FacebookToken,
        maxAttempts: Int,
        in operation: RecoveryOperation
    ) async throws -> [FacebookBatchAnswer] {
        var answers: [FacebookBatchAnswer] = []
        // Whatever is sent again is sent for the same person.
        let authorization = FacebookAuthorization(api, token: token)
        for part in parts {
            let run = FacebookBatchRun(
                api: api,
                requests: Array(part),
                token: token,
                maxAttempts: maxAttempts
            ) { call, operation in
                try await within(operation)
                    .recovering(call.token, nil, continuing: authorization, isRead: false) { authorization, api in
                        (try await api.send(call, authorization: authorization), authorization.presented)
                    }
            }
            do {
                answers += try await run(in: operation)
            } catch let error where !answers.isEmpty && !(error is CancellationError) {
                // What was done before is told all the same.
                answers += part.map { _ in FacebookBatchPlan.answer(for: error) }
            }
        }
        return answers
    }
}
