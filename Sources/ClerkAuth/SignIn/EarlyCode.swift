import AuthRecovery
import HTTPRecovery

/// A code that was presented before its message had left (`sms_verification_not_yet_sent`): no answer was judged, so the message
/// is waited for, and the code asked for again.
struct EarlyCode: Sendable, Hashable {
    /// Whose code is asked for when the wait is over; nil if none is waited for.
    var factor: Factor?
    /// How often that was so since the code was sent.
    var count = 0

    private static let most = 3
    private static let pause = Duration.seconds(3)

    /// What a refused code leads to.
    ///
    /// - Throws: The refusal, if it is another one, or has come too often.
    mutating func wait(after refusal: RecoveryError, of factor: Factor) throws -> ClerkStep {
        guard refusal.kind == .challengePending, factor.key.isSent else { throw refusal }
        count += 1
        guard count < Self.most else { throw refusal }
        self.factor = factor
        return .pending(Challenge(factor: factor), SignInContext.Pause(refusal.retryAfter ?? Self.pause))
    }

    /// The question once the wait is over; nil if nothing was waited for.
    mutating func question() -> ClerkStep? {
        factor.take().map { .ask(Challenge(factor: $0)) }
    }
}
