package import HTTPRecovery

extension OAuthError {
    /// What the word means in the answer that it came in; nil where the word is not known.
    ///
    /// An outage refuses nothing, whatever word it carries. That a 429 is a throttle is the caller's to see before.
    package func outcome(in reading: ErrorInterpretation) -> Outcome? {
        guard var outcome = outcome(presented: reading.exchange.presented) else { return nil }
        let refuses = outcome.kind == .credentialRejected || outcome.tokenAction == .clear
        if refuses && reading.isOutage || outcome.kind == .unavailable {
            outcome = .unavailable(reading)
        } else if outcome.kind == .rateLimited {
            var reading = reading
            reading.delay = ServerDelay(reading.response, receivedAt: reading.exchange.now, isThrottle: true)
            outcome = .throttled(reading, scope: .origin)
        } else {
            outcome.processed = reading.processed
            outcome.retryAfter = reading.delay.delay
        }
        outcome.code = word.rawValue
        outcome.message = detail
        return outcome
    }
}
