#if Observability
import HTTPRecovery

/// What failed, in one word of few: the kind of the failure.
struct FailureWord {
    /// The word; nil for what is no failure, and for a cancellation.
    let errorType: String?

    init(_ response: RecoveredResponse?, _ error: (any Error)?) {
        switch error {
        case nil: errorType = response.flatMap { $0.outcome.isFailure ? $0.outcome.kind.rawValue : nil }
        case is CancellationError: errorType = nil
        case let error as RecoveryError: errorType = error.outcome.kind.rawValue
        case let error as TransportError:
            errorType = (error.code == .timedOut ? Outcome.Kind.timedOut : Outcome.Kind.transport).rawValue
        default: errorType = Outcome.Kind.unknown.rawValue
        }
    }
}
#endif
