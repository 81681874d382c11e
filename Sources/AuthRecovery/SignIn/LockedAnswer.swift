package import HTTPRecovery

/// Keeps an answer from being sent after a lockout was waited out, unless it has met the lock without a part in it.
///
/// The first answer to a question is sent again: the server has refused it for a lock that was there before, and has not
/// looked at it. One that comes after a refused one may be what has tripped the lock, and would be counted twice. What is
/// good once or for a while has grown stale by the end of the wait, if it has left or not.
package struct LockedAnswer: Admission {
    /// Whether the answer is not sent either if it was held back before it left.
    private let isShortLived: Bool

    /// The rule for a request that presents what is good once or for a while, whoever has made it.
    package static let ofOneTimeProof = LockedAnswer(isShortLived: true)

    private init(isShortLived: Bool) {
        self.isShortLived = isShortLived
    }

    /// The rule for an answer; nil if it may be sent again.
    init?(_ question: Challenge) {
        isShortLived = question.key.isAnsweredOnce
        if !isShortLived, question.round == 1 { return nil }
    }

    package func mayHold(_ cause: History.Cause, context: CallContext) -> Bool {
        isRepeated(cause) || isShortLived && context.record.history.waits.contains { $0.reason == .accountLocked }
    }

    package func admit(_ attempt: PlannedAttempt, context: CallContext) -> PlannedAttempt.Answer {
        guard attempt.isDue else { return .go() }
        var outcome = Outcome(.accountLocked, scope: .account, processed: .no, remedies: [.askUser])
        outcome.lockout = .remaining(.zero)
        outcome.userMessage = "The account was locked for a while. Please try again now."
        return .refuse(.lockoutOver, because: outcome)
    }

    private func isRepeated(_ cause: History.Cause) -> Bool {
        if case .retry(after: .accountLocked) = cause { true } else { false }
    }
}

extension Factor.Key {
    /// Whether an answer is good once, or for a short while.
    fileprivate var isAnsweredOnce: Bool {
        switch self {
        case .emailCode, .phoneCode, .emailLink, .totp, .backupCode, .webauthn, .redirect, .captcha: true
        case .password, .newPassword, .choice, .securityAnswer, .push, .phoneNumber, .text: false
        }
    }
}
