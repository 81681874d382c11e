import HTTPRecovery
import HTTPTypes

/// Judges the answers of one call, by what the call is for.
struct FacebookCallClassifier: OutcomeClassifier {
    enum Purpose: Sendable {
        case plain
        /// A poll of the device login, for which "not yet" is no failure.
        case poll
        /// A chunk of an upload, which goes on where the server says rather than with the same bytes.
        case chunk
        /// A question about a token, for which its refusal is the answer.
        case inspection
    }

    var base: FacebookClassifier
    var purpose: Purpose
    /// The business or ad account that the call counts for, where the path does not tell.
    var business: String?

    func classify(_ exchange: Exchange) -> Outcome {
        var outcome = base.classify(exchange)
        switch purpose {
        case .poll where outcome.kind == .challengePending:
            outcome.kind = .continue
        case .chunk where outcome.advice != nil:
            outcome.remedies = [.resync]
        case .inspection where (200..<300).contains(outcome.status ?? 0):
            let isAnswer = [.credentialRejected, .userActionRequired, .permissionDenied].contains(outcome.kind)
            if isAnswer { outcome.kind = .ok }
        default: break
        }
        return outcome
    }

    func endpointClass(method: HTTPRequest.Method, path: String) -> String {
        let name = base.endpointClass(method: method, path: path)
        guard let business else { return name }
        return "\(name.prefix { $0 != " " }) business \(business)"
    }
}
