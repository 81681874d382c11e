import AuthRecovery
import HTTPRecovery
import HTTPTypes

/// What a call is for, which decides what its answers mean beside their own words.
enum FacebookCallPurpose: Sendable {
    case plain
    /// A poll of the device login, for which "not yet" is no failure.
    case poll
    /// A chunk of an upload, which goes on where the server says rather than with the same bytes.
    case chunk
    /// A question about a token, for which its refusal is the answer.
    case inspection

    /// Judges the answers of such a call.
    ///
    /// - Parameters:
    ///   - base: What judges every call alike.
    ///   - name: The name of the class of endpoints that it counts for.
    func classifier(_ base: FacebookClassifier, endpointClass name: String) -> any OutcomeClassifier {
        let naming: @Sendable (HTTPRequest.Method, String) -> String = { _, _ in name }
        return AdjustedClassifier(base, endpointClass: naming) { outcome, _ in
            switch self {
            case .poll where outcome.kind == .challengePending: outcome.kind = .continue
            case .chunk where outcome.advice != nil || outcome.subcode == FacebookUploadPlan.tooSlow:
                outcome.remedies = [.resync]
            case .inspection where (200..<300).contains(outcome.status ?? 0):
                let isAnswer = [.credentialRejected, .userActionRequired, .permissionDenied].contains(outcome.kind)
                if isAnswer { outcome.kind = .ok }
            default: break
            }
        }
    }
}
