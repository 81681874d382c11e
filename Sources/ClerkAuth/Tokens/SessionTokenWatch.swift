import HTTPRecovery

/// When a session is looked after, for as long as somebody watches its tokens.
struct SessionTokenWatch: RecoveryOperation.Plan {
    private let interval: Duration
    private let backoff: Backoff
    private var latest: ClerkSessionToken?
    private var failures = 0

    /// - Parameter interval: The time between two looks, while all goes well.
    init(every interval: Duration) {
        self.interval = interval
        backoff = .exponential(base: interval, cap: max(.seconds(60), interval), jitter: .plusMinus(0.2))
    }

    /// Has the token that comes next compared with the one before; ends only by an error.
    mutating func next(
        after event: RecoveryOperation.Event<ClerkSessionToken>,
        at now: TimeSource.Instant,
        random: () -> Double
    ) -> RecoveryOperation.Action<ClerkSessionToken?, Void> {
        switch event {
        case .answered(let token):
            (latest, failures) = (token, 0)
            return .pause(interval, reason: .ok)
        case .failed(let error) where error.mayPass:
            failures += 1
            let delay = max(backoff.delay(retry: failures, random: random()), error.retryAfter ?? .zero)
            return .pause(delay, reason: error.kind)
        case .failed(let error), .notPaused(let error): return .fail(error)
        case .begun, .paused: return .perform(latest)
        }
    }
}
