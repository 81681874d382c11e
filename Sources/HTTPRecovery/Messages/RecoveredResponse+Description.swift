import HTTPTypes

extension RecoveredResponse: Redacted {
    /// Status and outcome; no header field, since cookies and tokens stand there, and nothing of the body.
    public var description: String {
        "RecoveredResponse(status: \(status.code), outcome: \(outcome.kind.rawValue), attempts: \(history.attempts.count))"
    }
}
