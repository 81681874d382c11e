import CommandLineSupport
import HTTPRecovery
import HTTPTypes

extension ExitStatus {
    /// 69: the service cannot be used now.
    static let unavailable = ExitStatus(rawValue: 69)
    /// 75: locked or rate limited, and not waited out.
    static let notWaitedOut = ExitStatus(rawValue: 75)
    /// 77: refused.
    static let refused = ExitStatus(rawValue: 77)

    /// The status of a command that failed in this way, whatever bound stopped it.
    static func ofCommand(_ error: RecoveryError) -> ExitStatus {
        switch error.kind {
        // A token that was refused was being renewed: nothing says that the new one would have been, too.
        case .credentialRejected where error.reason == .deadlinePassed || error.reason == .deadlineWouldPass:
            .unavailable
        case .ok, .continue: .success
        case .rateLimited, .quotaExhausted, .accountLocked: .notWaitedOut
        case .unavailable, .transport, .timedOut, .flowExpired, .unreadable: .unavailable
        case .invalidRequest: .badInput
        default: .refused
        }
    }
}

extension RecoveryError {
    /// The status of an answer that is about the path that was requested, and says nothing about the session; nil for
    /// any other failure.
    var statusOfPath: Int? {
        // What was asked before or beside it, as a renewal is, says nothing about the path.
        guard let status = outcome.status, response?.status.code == status else { return nil }
        return switch kind {
        case .notFound, .conflict, .invalidRequest, .unknown: status
        // A page of somebody's in place of the API's answer: of an error it is one all the same.
        case .unreadable where (400..<500).contains(status): status
        // What HTTP alone says of the request or the server; a provider's own code says more than that.
        case .policyBlocked, .misconfigured, .unavailable:
            outcome.code == nil && Self.ofPath.contains(status) ? status : nil
        default: nil
        }
    }

    /// To be paid for, another server's, withheld for legal reasons.
    private static let ofPath: Set = [402, 421, 451]
}
