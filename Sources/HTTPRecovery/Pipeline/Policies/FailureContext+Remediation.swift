public import HTTPTypes

extension FailureContext {
    /// Something that is done between a refused attempt and its replay, such as renewing a credential.
    public protocol Remediation: Sendable {
        /// The name in the history, such as `refresh_credential`; a call performs each repair once.
        var name: String { get }

        /// Whether it is done for a replay alone, as by default, and so not if the request must not be sent again; one that
        /// finds out what the refusal means is done in any case.
        var needsReplay: Bool { get }

        /// Repairs what was refused.
        ///
        /// - Parameters:
        ///   - outcome: What the refused attempt came to.
        ///   - context: The call.
        /// - Throws: `CancellationError` when the call is cancelled; any other error ends the call with it as its cause.
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult
    }
}

extension FailureContext.Remediation {
    /// What nobody would use is not repaired.
    public var needsReplay: Bool { true }
}

extension FailureContext {
    /// How a repair ended.
    public enum RemediationResult: Sendable {
        /// A replay makes sense now.
        case repaired
        /// A replay makes sense now, of the request with this change: a proof that the repair has obtained for it alone.
        case amended(@Sendable (inout HTTPRequest) -> Void)
        /// Nothing is repaired; the call ends with this outcome, for this reason.
        case failed(Outcome, reason: History.StopReason = .repairFailed, cause: (any Error)? = nil)

        /// Nothing that is held can help any more: somebody has to sign in.
        ///
        /// The conclusion names a credential only if that was refused for good: else none is known to have ended.
        public static func reauthenticationRequired(after outcome: Outcome) -> FailureContext.RemediationResult {
            var conclusion = outcome
            if outcome.tokenAction != .clear { conclusion.credential = nil }
            conclusion.kind = .reauthenticationRequired
            conclusion.remedies = [.reauthenticate]
            return .failed(conclusion)
        }
    }
}
