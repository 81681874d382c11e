import HTTPRecovery

/// An input does not fit what is wanted; nothing was sent.
struct InputNotWanted: Error {}

extension RecoveryError {
    static func inputNotWanted(by wanted: SignInWanted) -> RecoveryError {
        var outcome = Outcome(.invalidRequest, processed: .no, remedies: [.fixRequest])
        outcome.code = "input_not_wanted"
        outcome.message = "The sign-in wants \(wanted.words)."
        return RecoveryError(outcome: outcome, reason: .notRecoverable)
    }

    /// The error in words for somebody who signs in: of no session that has ended, unless one is found to have.
    var toldToWhoSignsIn: RecoveryError {
        let isOver =
            outcome.tokenAction == .clear
            && outcome.credential.map { [.access, .session, .refresh, .id].contains($0) } ?? true
        guard kind == .credentialRejected, outcome.userMessage == nil, !isOver else { return self }
        var error = self
        error.outcome.userMessage = "The service has refused the sign-in. Please start it again."
        return error
    }

    /// Whether another code is refused for now, while the one before stays good.
    var isOfTooManyCodes: Bool {
        kind == .rateLimited || kind == .quotaExhausted
    }

    /// Whether the server has given no answer that tells where the flow stands.
    var isOfNoAnswer: Bool {
        [.transport, .timedOut, .unavailable].contains(kind)
    }

    /// Whether it says nothing about the flow that was asked about.
    var tellsNothing: Bool {
        isOfNoAnswer || isOfTooManyCodes || [.unreadable, .unknown, .invalidRequest].contains(kind)
    }

    /// Whether it was a bound of the caller's that ended the call.
    var isBounded: Bool {
        [.deadlineWouldPass, .deadlinePassed, .waitExceedsLimit].contains(reason)
    }
}
