import HTTPTypes

/// A call that is under way, and how it ends for the one who has made it.
struct OpenCall: Sendable {
    var context: CallContext
    /// Whether it belongs to an operation, which tells of its own end.
    private let isPart: Bool
    /// What the request's body throws; nil for one in memory.
    private let failures: BodyFailures?

    init(_ context: consuming CallContext, _ body: MessageBody?, isPart: Bool) {
        self.context = context
        self.isPart = isPart
        self.failures = body == nil ? nil : Self.failures(of: body)
    }

    @inline(never)
    private static func failures(of body: MessageBody?) -> BodyFailures? {
        body?.isInMemory == true ? nil : BodyFailures()
    }

    /// Whether the body is a stream, which may throw.
    var notesBody: Bool { failures != nil }

    /// The body, from which it is known what it throws; nil for one that throws nothing.
    func noting(_ body: MessageBody?) -> MessageBody? {
        guard let failures else { return nil }
        return body?.noting { if case .failure(let error) = $0 { failures.note(error) } }
    }

    /// Adds to the response all that led to it.
    ///
    /// - Throws: `RecoveryError` for one that is a failure.
    @inline(never)
    func accept(_ response: inout RecoveredResponse) throws {
        guard !response.outcome.isFailure else { throw failure(response.outcome, response) }
        // Nobody has done anything beside its attempts.
        if !context.isStraight { context.record.complete(&response) }
        if !isPart, context.isObserved { context.report(.ok) }
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

    private func failure(_ outcome: Outcome, _ response: RecoveredResponse?) -> RecoveryError {
        RecoveryError(after: outcome, reason: .notRecoverable, needed: nil, response: response, context: context)
    }
}
