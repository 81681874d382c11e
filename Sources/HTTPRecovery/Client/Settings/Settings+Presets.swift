extension RecoveringClient.Settings {
    /// What a client does that is told nothing: 3 attempts in 60 s, each at most 30 s; full jitter from 100 ms, from 1 s after
    /// a rate limit; waits of at most 2 minutes; a fifth of the calls, and ten, as resends.
    public static let standard = RecoveringClient.Settings()

    /// For calls that have to come through, at a server that bears it: 6 attempts in 60 s, each at most 10 s, from 50 ms to
    /// 5 s; half of the calls, and fifty, as resends.
    public static let aggressive = RecoveringClient.Settings(
        attemptTimeout: .seconds(10),
        maxAttempts: 6,
        backoff: .exponential(base: .milliseconds(50), cap: .seconds(5)),
        budget: .ratio(.init(ratio: 0.5, burst: 50))
    )

    /// For work that nobody waits for: 10 attempts without a deadline, each at most 2 minutes, from 1 s to a minute; waits of
    /// up to an hour, lockouts too.
    public static let batch = RecoveringClient.Settings(
        deadline: nil,
        attemptTimeout: .seconds(120),
        maxAttempts: 10,
        maxWait: .seconds(3600),
        backoff: .exponential(base: .seconds(1), cap: .seconds(60)),
        longestLockout: .seconds(3600)
    )

    /// For a person who waits: 3 attempts in 10 s, each at most 4 s, from 50 ms to 1 s; waits of at most 5 s.
    public static let interactive = RecoveringClient.Settings(
        deadline: .seconds(10),
        attemptTimeout: .seconds(4),
        maxWait: .seconds(5),
        backoff: .exponential(base: .milliseconds(50), cap: .seconds(1)),
        throttledBackoff: .exponential(base: .milliseconds(500), cap: .seconds(4), jitter: .equal),
        longestLockout: .seconds(5)
    )

    /// Nothing is sent again: one attempt, of at most 30 s.
    public static let none = RecoveringClient.Settings(maxAttempts: 1, budget: .unlimited)

    /// The AWS SDKs' standard mode 2.1: 3 attempts, full jitter from 50 ms, from 1 s after a throttle, to 20 s; a quota of
    /// 500 tokens; `x-amz-retry-after` between the own delay and 5 s more; `amz-sdk-request` on each attempt.
    public static let awsStandard: RecoveringClient.Settings = {
        var backoff = Backoff.exponential(base: .milliseconds(50), throttledBase: .seconds(1), cap: .seconds(20))
        backoff.adviceSlack = .seconds(5)
        return RecoveringClient.Settings(
            deadline: nil,
            maxWait: .longest,
            backoff: backoff,
            throttledBackoff: nil,
            budget: .tokens(),
            attemptNumber: .amazon
        )
    }()

    /// gRPC's retries (proposal A6) with the numbers of its example: 4 attempts, 0.8 to 1.2 times 100 ms to 1 s,
    /// doubled each time; a throttle of 10 tokens; a transparent resend.
    ///
    /// A server's pushback is kept exactly, and it is told how many attempts there were (`grpc-previous-rpc-attempts`).
    public static let grpc = RecoveringClient.Settings(
        deadline: nil,
        attemptTimeout: nil,
        maxAttempts: 4,
        maxWait: .longest,
        backoff: .exponential(
            base: .milliseconds(100),
            cap: .seconds(1),
            jitter: .scaled(from: 0.8, to: 1.2)
        ),
        throttledBackoff: nil,
        budget: .throttle(),
        resendsTransparently: true,
        attemptNumber: .grpc
    )

    /// Polly's as Microsoft's standard HTTP handler sets it up: 4 attempts in 30 s, each at most 10 s, decorrelated from 2 s; a
    /// breaker at a tenth of 100 calls in 30 s, open for 5 s; 1000 at the same time.
    public static let pollyStandard = RecoveringClient.Settings(
        deadline: .seconds(30),
        attemptTimeout: .seconds(10),
        maxAttempts: 4,
        maxWait: .longest,
        backoff: .exponential(base: .seconds(2), cap: .longest, jitter: .decorrelatedV2),
        throttledBackoff: nil,
        budget: .unlimited,
        breaker: .init(
            window: .time(.seconds(30)),
            failureRatio: 0.1,
            minimumCalls: 100,
            breakDuration: .seconds(5),
            countsRefusals: true
        ),
        limit: Limit(.fixed(1000), queue: 0)
    )
}
