import HTTPRecovery

/// How a renewal ended.
enum RenewalEnd: Sendable {
    /// The new credentials are stored.
    case renewed
    /// Somebody else has changed the credentials meanwhile: theirs count.
    case overtaken
    /// The server has definitely refused the credential that renews; it was cleared, unless it was replaced meanwhile.
    case rejected(Outcome)
    /// Nothing came of it; nothing was cleared.
    case failed(Outcome, reason: History.StopReason, cause: (any Error)?)

    /// What a caller is told whose renewal it was, or who joined it.
    func result(isJoined: Bool) -> RecoveryEvent.RefreshResult {
        switch self {
        case .renewed: isJoined ? .joined : .refreshed
        case .overtaken: .joined
        case .rejected: .rejected
        case .failed: .failed
        }
    }

    /// What it came to, if it brought nothing.
    var outcome: Outcome? {
        switch self {
        case .renewed, .overtaken: nil
        case .rejected(let outcome), .failed(let outcome, _, _): outcome
        }
    }

    /// Why nothing came of it.
    var cause: (any Error)? {
        if case .failed(_, _, let cause) = self { cause } else { nil }
    }
}

extension RenewalEnd {
    /// Nothing came of it, by an error.
    static func failed(by error: any Error) -> RenewalEnd {
        let reason: History.StopReason = error is RenewalInDoubt ? .renewalInDoubt : .repairFailed
        return .failed(outcome(of: error), reason: reason, cause: error)
    }

    /// What an error of a renewal means for the calls that wait for it.
    static func outcome(of error: any Error) -> Outcome {
        switch error {
        case let error as RecoveryError: error.outcome
        case is RenewalInDoubt: graceIsOver
        case is LeaseLost: heldUp
        case let error as TransportError: .transport(error)
        case is TimeoutExceeded: Outcome(.timedOut, processed: .unknown, remedies: [.retry])
        default: Outcome(.unavailable, processed: .unknown, remedies: [.retry])
        }
    }

    /// What a renewal comes to that must not present the refresh token again.
    static var graceIsOver: Outcome {
        Outcome(.reauthenticationRequired, scope: .credential, processed: .unknown, remedies: [.reauthenticate])
    }

    /// What a renewal comes to that was held up until the refresh token must not be presented for it any more.
    static var heldUp: Outcome {
        Outcome(.unavailable, processed: .no, remedies: [.retry])
    }
}
