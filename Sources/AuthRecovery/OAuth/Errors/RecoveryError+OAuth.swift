package import HTTPRecovery

extension OAuthError {
    /// What the word means in the answer that it came in; nil if the word is not known.
    ///
    /// An outage refuses nothing, whatever word it carries. That a 429 is a throttle is the caller's to see before.
    package func outcome(in interpretation: ErrorInterpretation) -> Outcome? {
        guard var outcome = outcome(presented: interpretation.exchange.presented) else { return nil }
        let refuses = outcome.kind == .credentialRejected || outcome.tokenAction == .clear
        if refuses && interpretation.isOutage || outcome.kind == .unavailable {
            outcome = .unavailable(interpretation)
        } else if outcome.kind == .rateLimited {
            var interpretation = interpretation
            interpretation.delay = ServerDelay(
                interpretation.response,
                receivedAt: interpretation.exchange.now,
                isThrottle: true
            )
            outcome = .throttled(interpretation, scope: .origin)
            // Whoever fails may have begun.
            if interpretation.isOutage { outcome.processed = interpretation.processed }
        } else {
            outcome.processed = interpretation.processed
            outcome.retryAfter = interpretation.delay.delay
        }
        outcome.code = word.rawValue
        outcome.message = detail
        return outcome
    }
}
