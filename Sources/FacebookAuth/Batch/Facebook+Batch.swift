public import AuthRecovery
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
    ///   - responder: Signs in again if the stored token was definitely refused. What was refused for it, and what needs
    ///     that, is sent once more then: reads unless another person has signed in, anything else only for a person who is
    ///     known to be the same. Nil, the default, leaves that to the caller.
    /// - Returns: An answer for each request, in order, failures among them.
    /// - Throws: `RecoveryError` before anything is sent if a request needs another that is none of the same fifty
    ///   (`invalid_request`); if the first batch as a whole was refused, or answered with another number of items than
    ///   it has requests (`unreadable`). `CancellationError` as soon as the task is cancelled.
    public func batch(
        _ requests: [FacebookBatchRequest],
        as token: FacebookToken = .stored,
        maxAttempts: Int = 3,
        answering responder: (any ChallengeResponder)? = nil
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
            try await batch(parts, as: token, maxAttempts: maxAttempts, responder, in: operation)
        }
    }

    private func batch(
        _ parts: [ArraySlice<FacebookBatchRequest>],
        as token: FacebookToken,
        maxAttempts: Int,
        _ responder: (any ChallengeResponder)?,
        in operation: RecoveryOperation
    ) async throws -> [FacebookBatchAnswer] {
        var answers: [FacebookBatchAnswer] = []
        // Whatever is sent again is sent for the same person.
        let authorization = FacebookAuthorization(api, token: token)
        for part in parts {
            do {
                var part = FacebookBatchPart(Array(part))
                try await part.send { requests in
                    try await run(requests, as: token, maxAttempts, responder, authorization, in: operation)
                }
                if let responder {
                    try await signInAgain(for: &part, as: token, maxAttempts, responder, authorization, in: operation)
                }
                answers += part.answers
            } catch let error where !answers.isEmpty && !(error is CancellationError) {
                // What was done before is told all the same.
                answers += part.map { _ in FacebookBatchPlan.answer(for: error) }
            }
        }
        return answers
    }

    /// If the token of the batch was refused in its items, signs in, and sends once more what was refused for it; if that
    /// is not to be, the answers of before stand.
    private func signInAgain(
        for part: inout FacebookBatchPart,
        as token: FacebookToken,
        _ maxAttempts: Int,
        _ responder: any ChallengeResponder,
        _ authorization: FacebookAuthorization,
        in operation: RecoveryOperation
    ) async throws {
        guard token == .stored, api.configuration.recoversFromErrors, let refusal = part.refusal else { return }
        do {
            try await within(operation).signInAgain(
                after: refusal,
                authorization.presented,
                isRead: part.repeatsReadsAlone,
                responder
            )
        } catch let error as RecoveryError {
            if error.reason == .identityChanged { part.leave(because: error) }
            return
        }
        try await part.sendAgain { requests in
            try await run(requests, as: token, maxAttempts, nil, authorization, in: operation)
        }
    }

    private func run(
        _ requests: [FacebookBatchRequest],
        as token: FacebookToken,
        _ maxAttempts: Int,
        _ responder: (any ChallengeResponder)?,
        _ authorization: FacebookAuthorization,
        in operation: RecoveryOperation
    ) async throws -> [FacebookBatchAnswer] {
        let isRead = requests.allSatisfy(\.isRead)
        let run = FacebookBatchRun(api: api, requests: requests, token: token, maxAttempts: maxAttempts) {
            call,
            operation in
            try await within(operation)
                .recovering(call.token, responder, continuing: authorization, isRead: isRead) { authorization, api in
                    (try await api.send(call, authorization: authorization), authorization.presented)
                }
        }
        return try await run(in: operation)
    }
}
