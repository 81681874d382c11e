/// A call that failed: what happened, what would help and when, and what was tried.
public struct RecoveryError: Error, Sendable, CustomStringConvertible {
    /// What the call came to.
    public var outcome: Outcome

    /// Why it was not tried (again).
    public var reason: History.StopReason

    /// The wait that would have been needed before another attempt; nil if none is known.
    public var retryAfter: Duration?

    /// When it will be worth trying again; nil if that is not known.
    public var retryAt: Timestamp?

    /// The last response, if one came; its body is what was read of it.
    public var response: RecoveredResponse?

    /// Every attempt, wait and repair of the call, and why it was given up.
    public var history: History {
        get {
            var history = record
            history.giveUp(reason)
            return history
        }
        set { record = newValue }
    }

    private var record: History

    /// The error that a repair ended with, if one did.
    public var cause: (any Error)?

    /// Creates an error.
    public init(
        outcome: Outcome,
        reason: History.StopReason,
        retryAfter: Duration? = nil,
        retryAt: Timestamp? = nil,
        response: RecoveredResponse? = nil,
        history: History = History(),
        cause: (any Error)? = nil
    ) {
        self.outcome = outcome
        self.reason = reason
        self.retryAfter = retryAfter
        self.retryAt = retryAt
        self.response = response
        self.record = history
        self.cause = cause
    }

    /// The error of a call that is not tried (again).
    init(
        after outcome: Outcome,
        reason: History.StopReason,
        needed: Duration?,
        response: RecoveredResponse?,
        cause: (any Error)? = nil,
        context: CallContext
    ) {
        let wait = needed ?? outcome.statedWait
        self.init(
            outcome: outcome,
            reason: reason,
            retryAfter: wait,
            retryAt: wait.map { context.runtime.time.wallTime.advanced(by: $0) },
            response: response,
            history: context.record.history,
            cause: cause
        )
    }

    /// What happened.
    public var kind: Outcome.Kind { outcome.kind }

    /// What can be done about it, best first.
    public var remedies: [Outcome.Remedy] { outcome.remedies }

    /// A sentence that can be shown to a person: the provider's own if it has one for the end user, else ours, by
    /// what happened and by why it was not tried again.
    ///
    /// If the call's own time ran out while a credential was renewed, it says that: what was refused before tells
    /// nothing of how the renewal ends.
    public var userMessage: String {
        if cause is FailureContext.RemediationUnfinished, let message = reason.repairMessage { return message }
        return outcome.userMessage ?? outcome.sentence(endedBy: reason)
    }

    /// A line for logs.
    ///
    /// It holds words, numbers, the provider's code and the type of what is behind it; no message, header, body or URL.
    public var description: String {
        var parts = [outcome.kind.rawValue, "reason=\(reason)"]
        if let status = outcome.status { parts.append("status=\(status)") }
        if let code = outcome.loggableCode { parts.append("code=\(code)") }
        if let task = outcome.openTask?.loggable { parts.append("open_task=\(task)") }
        if let error = outcome.transportError {
            parts.append("transport=\(error.code.rawValue) certainty=\(error.certainty.rawValue)")
        }
        if let retryAfter { parts.append("retry_after=\(retryAfter)") }
        if let traceID = outcome.traceID?.loggable { parts.append("trace_id=\(traceID)") }
        parts.append("attempts=\(history.attempts.count)")
        // Such as a store that does not answer, of which nothing else here tells.
        if let cause, !(cause is RecoveryError) { parts.append("cause=\(type(of: cause))") }
        return parts.joined(separator: " ")
    }
}

extension Outcome {
    /// The provider's code if it looks like one, so that it can stand in logs and events; nil otherwise.
    public var loggableCode: String? {
        code?.loggable
    }
}

extension String {
    /// The text if it looks like an identifier, cut to 128 characters; nil if it could be anything else.
    ///
    /// Codes and trace ids come from the network; only the characters that identifiers are made of reach a log.
    package var loggable: String? {
        guard !isEmpty else { return nil }
        let cut = prefix(128)
        let isIdentifier = cut.utf8.allSatisfy { $0.isAlphanumeric || "_-.:/#".utf8.contains($0) }
        return isIdentifier ? String(cut) : nil
    }
}
