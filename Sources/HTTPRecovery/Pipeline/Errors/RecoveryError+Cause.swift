extension RecoveryError {
    /// What a call failed with, as the error that callers are promised.
    ///
    /// - Parameters:
    ///   - error: What came out of the pipeline.
    ///   - body: What the request's body has thrown; nil for one that throws nothing.
    ///   - context: The call.
    init(of error: any Error, body: BodyFailures?, context: CallContext) {
        if var known = error as? RecoveryError {
            // The transport has told what it knows; why the body could not be read is known here.
            if known.outcome.transportError?.code == .requestBodyFailed { known.cause = known.cause ?? body?.last }
            self = known
            return
        }
        var outcome = Self.outcome(of: error, isOfBody: (body?.last).map { type(of: $0) == type(of: error) } ?? false)
        // A layer that fails behind an answer, as one that cannot store what came in it, undoes nothing.
        if context.record.attempts > 0 { outcome.processed = .unknown }
        self.init(
            outcome: outcome,
            reason: .notRecoverable,
            history: context.record.history,
            cause: error
        )
    }

    /// What an error means that is neither the server's nor the transport's.
    private static func outcome(of error: any Error, isOfBody: Bool) -> Outcome {
        switch error {
        // What was sent of a body that broke off may have been acted on.
        case _ where isOfBody: Outcome(.invalidRequest, processed: .unknown, remedies: [.fixRequest])
        case is MessageBody.ReadError, is Origin.InvalidURL:
            Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
        case is SharedState.StoreError: Outcome(.unavailable, processed: .no, remedies: [.retry])
        // Such as a store of credentials that cannot be read.
        default: Outcome(.misconfigured, processed: .no, remedies: [.fixRequest])
        }
    }
}

/// Remembers what a request's body has thrown, however the transport tells of it.
final class BodyFailures: Sendable {
    private let state = Locked<(any Error)?>(nil)

    /// What was thrown last; nil if nothing was.
    var last: (any Error)? { state.withLock { $0 } }

    func note(_ error: any Error) {
        if !(error is CancellationError) { state.withLock { $0 = error } }
    }
}
