import HTTPTypes

/// Tells what an exchange with any HTTP server came to, by status and well-known header fields.
public struct HTTPClassifier: OutcomeClassifier {
    /// Creates the classifier.
    public init() {}

    /// Tells what the exchange came to.
    public func classify(_ exchange: Exchange) -> Outcome {
        switch exchange.result {
        case .failure(let error):
            var outcome = Outcome(error.code == .timedOut ? .timedOut : .transport, processed: .unknown)
            outcome.transportError = error
            outcome.processed = error.certainty == .neverSent || error.certainty == .notProcessed ? .no : .unknown
            outcome.remedies = error.isTransient ? [.retry] : []
            return outcome
        case .response(let head, _):
            let code = head.status.code
            var outcome = Outcome(.ok, processed: .yes, status: code)
            if code == 429 {
                outcome.kind = .rateLimited
                outcome.processed = .no
                outcome.scope = .origin
                outcome.remedies = [.wait]
            } else if code >= 500 {
                outcome.kind = .unavailable
                outcome.processed = .unknown
                outcome.remedies = [.retry]
            } else if code >= 400 {
                outcome.kind = .invalidRequest
                outcome.processed = .no
            }
            if let text = head.headerFields[.retryAfter], let seconds = Int64(text) {
                outcome.retryAfter = .seconds(seconds)
            }
            return outcome
        }
    }
}
