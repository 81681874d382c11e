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
