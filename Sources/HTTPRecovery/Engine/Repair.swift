/// Something that is done between a refused attempt and its replay, such as renewing a credential.
public protocol Repair: Sendable {
    /// The name in the history, such as `refresh_credential`; a call performs each repair once.
    var name: String { get }

    /// Repairs what was refused.
    ///
    /// - Parameters:
    ///   - outcome: What the refused attempt came to.
    ///   - context: The call.
    /// - Throws: `CancellationError` when the call is cancelled; any other error ends the call with it as its cause.
    func perform(_ outcome: Outcome, context: CallContext) async throws -> RepairResult
}

/// How a repair ended.
public enum RepairResult: Sendable {
    /// A replay makes sense now.
    case repaired
    /// Nothing is repaired; the call ends with this outcome, for this reason.
    case failed(Outcome, reason: StopReason = .repairFailed, cause: (any Error)? = nil)

    /// Nothing that is held can help any more: somebody has to sign in.
    public static func reauthenticationRequired(after outcome: Outcome) -> RepairResult {
        var conclusion = outcome
        conclusion.kind = .reauthenticationRequired
        conclusion.remedies = [.reauthenticate]
        return .failed(conclusion)
    }
}
