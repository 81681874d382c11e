import AuthRecovery
import HTTPRecovery
import HTTPTypes

extension Facebook {
    /// Sends several requests at once.
    ///
    /// More than 50 go out in several batches, one after the other. Each answer is judged by itself: what failed for a
    /// passing reason is sent again, alone, where it was not done or doing it twice does no harm. Those whose limit is
    /// reached are not sent; where the time is long they keep that outcome. An item whose token is refused takes away no
    /// token that is held.
    ///
    /// - Parameters:
    ///   - requests: The requests.
    ///   - token: Which token is presented for those that have none of their own.
    ///   - maxAttempts: The most attempts of a request, the first included; at least 1, default: 3.
    /// - Returns: An answer for each request, in order, failures among them.
    /// - Throws: `RecoveryError` where a batch as a whole was refused, or answered with another number of items than it
    ///   has requests (`unreadable`). `CancellationError` as soon as the task is cancelled.
    public func batch(
        _ requests: [FacebookBatchRequest],
        as token: FacebookToken = .stored,
        maxAttempts: Int = 3
    ) async throws -> [FacebookBatchAnswer] {
        var answers: [FacebookBatchAnswer] = []
        for start in stride(from: 0, to: requests.count, by: FacebookBatchRun.maximumCount) {
            let end = min(start + FacebookBatchRun.maximumCount, requests.count)
            let part = Array(requests[start..<end])
            let names = Set(part.compactMap(\.name))
            guard part.allSatisfy({ $0.dependsOn.map(names.contains) ?? true }) else {
                var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
                outcome.parameter = "depends_on"
                throw RecoveryError(outcome: outcome, reason: .notRecoverable)
            }
            var run = FacebookBatchRun(
                api: api,
                requests: part,
                token: token,
                maxAttempts: maxAttempts
            ) { call in try await self.send(call) }
            answers += try await run()
        }
        return answers
    }
}
