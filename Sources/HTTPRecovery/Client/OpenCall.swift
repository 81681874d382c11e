import HTTPTypes

/// A call that is under way, and how it ends for the one who has made it.
struct OpenCall: Sendable {
    let context: CallContext
    /// Whether it belongs to an operation, which tells of its own end.
    private let isPart: Bool
    /// What the request's body throws; nil for one in memory.
    private let failures: BodyFailures?

    init(_ context: CallContext, _ body: HTTPBody?, isPart: Bool) {
        self.context = context
        self.isPart = isPart
        self.failures = body.flatMap { $0.bytesInMemory == nil ? BodyFailures() : nil }
    }

    /// The body, from which it is known what it throws.
    func noting(_ body: HTTPBody?) -> HTTPBody? {
        guard let failures else { return body }
        return body?.noting { failures.note($0) }
    }

    /// Adds to the response all that led to it.
    ///
    /// - Throws: `RecoveryError` for one that is a failure.
    @inline(never)
    func accept(_ response: inout Response) throws {
        guard !response.outcome.isFailure else { throw failure(response.outcome, response) }
        // Layers outside the engine may have waited since.
        let history = context.record.history
        if history.steps.count != response.history.steps.count { response.history = history }
        if !isPart { context.report(.ok) }
    }

    /// What callers are promised in place of an error.
    @inline(never)
    func error(for error: any Error, _ request: HTTPRequest) -> any Error {
        let end: any Error
        switch error {
        case is CancellationError: end = CancellationError()
        case let error as TransportError:
            let failure = failure(context.outcome(of: error, for: request), nil)
            end = RecoveryError(of: failure, body: failures, context: context)
        default: end = RecoveryError(of: error, body: failures, context: context)
        }
        if !isPart { context.report(end) }
        return end
    }

    private func failure(_ outcome: Outcome, _ response: Response?) -> RecoveryError {
        RecoveryError(after: outcome, reason: .notRecoverable, needed: nil, response: response, context: context)
    }
}
