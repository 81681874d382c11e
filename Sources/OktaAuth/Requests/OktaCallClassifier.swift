import HTTPRecovery
import HTTPTypes

/// Judges the answers of one call, by what the call is for.
struct OktaCallClassifier: OutcomeClassifier {
    enum Purpose {
        /// A step of a transaction.
        case step
        /// Having a code sent: its window holds for nothing else.
        case sending
        /// Presenting a one-time token.
        case exchange
        /// Anything else.
        case plain
    }

    var purpose: Purpose

    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = OktaClassifier().classify(exchange)
        let isSuccess = outcome.status.map { (200..<300).contains($0) } ?? false
        switch purpose {
        case .step, .sending:
            // The flow goes on: it would be misleading if those who watch saw a failure.
            if isSuccess, outcome.kind == .passwordExpired { outcome.kind = .continue }
            if isSuccess, outcome.kind == .challengePending { outcome.kind = .continue }
        case .exchange:
            // A one-time token counts as used whatever comes back (a limit, too), so it is not presented again.
            if outcome.isFailure, outcome.processed == .no { outcome.processed = .unknown }
        case .plain:
            break
        }
        return outcome
    }

    func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        purpose == .sending ? "send \(path)" : OktaClassifier().endpointClass(method: method, path: path)
    }
}
