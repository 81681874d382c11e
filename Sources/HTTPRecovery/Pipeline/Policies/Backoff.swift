/// How long to wait before a resend when the server says nothing.
///
/// A value without a state: what it has to remember of a call's delays is its ``Progress``, which the engine keeps. Each
/// delay takes one random number. Whatever the numbers, a delay is never negative and never above the cap and its jitter.
public struct Backoff: Sendable, Hashable {
    /// How delays grow, before jitter.
    @nonexhaustive public enum Growth: Sendable, Hashable {
        /// Each is the one before, times this; at least 1, which is no growth.
        case exponential(multiplier: Double)
        /// Each is one base longer than the one before.
        case linear
        /// These, in order; the last one is repeated. None at all is no wait.
        case custom([Duration])
    }

    /// How the delay is randomised.
    @nonexhaustive public enum Jitter: Sendable, Hashable {
        /// Not at all.
        case none
        /// Anything from zero to the delay.
        case full
        /// Half of the delay, and anything from zero to the other half.
        case equal
        /// The delay, more or less by this fraction.
        case plusMinus(Double)
        /// The delay, times anything from the first to the second; gRPC's is 0.8 to 1.2.
        case scaled(from: Double, to: Double)
        /// Anything from the base to three times the delay before; the growth is its own.
        case decorrelated
        /// Exponential with a median near `base * 2^n` and no peaks where delays of many clients pile up, as Polly's
        /// second version has it; the growth is its own.
        case decorrelatedV2
    }

    /// The delay before the first resend, before jitter.
    public var base: Duration
    /// The same after a refusal for too many requests; nil is ``base``.
    public var throttledBase: Duration?
    /// The longest delay; one below the base is every delay.
    public var cap: Duration
    /// How delays grow.
    public var growth: Growth
    /// How the delay is randomised.
    public var jitter: Jitter
    /// Whether the cap bounds what the jitter has made of a delay.
    ///
    /// Default: it bounds the delay before that, so that late delays stay spread over the whole range instead of piling
    /// up at the cap.
    public var capsAfterJitter = false
    /// How far above the own delay a wait may go that the server merely advises (`x-amz-retry-after`), which is never
    /// below the own delay then; nil takes such a wait as any other that is stated.
    public var adviceSlack: Duration?

    /// What each further delay is multiplied by; 1 if delays do not grow that way.
    public var multiplier: Double {
        if case .exponential(let multiplier) = growth { multiplier } else { 1 }
    }

    private init(base: Duration, throttledBase: Duration?, cap: Duration, growth: Growth, jitter: Jitter) {
        self.base = max(base, .zero)
        self.throttledBase = throttledBase.map { max($0, .zero) }
        self.cap = max(cap, .zero)
        self.growth = growth
        self.jitter = jitter
    }

    /// An exponential backoff.
    ///
    /// - Parameters:
    ///   - base: The delay before the first resend. Default: 100 ms.
    ///   - throttledBase: The same after a refusal for too many requests. Default: the base.
    ///   - cap: The longest delay. Default: 20 s.
    ///   - multiplier: The growth; at least 1. Default: 2.
    ///   - jitter: The randomisation. Default: full.
    public static func exponential(
        base: Duration = .milliseconds(100),
        throttledBase: Duration? = nil,
        cap: Duration = .seconds(20),
        multiplier: Double = 2,
        jitter: Jitter = .full
    ) -> Backoff {
        let growth = Growth.exponential(multiplier: multiplier.isFinite ? max(multiplier, 1) : 1)
        return Backoff(base: base, throttledBase: throttledBase, cap: cap, growth: growth, jitter: jitter)
    }

    /// A backoff that grows by its base each time.
    ///
    /// - Parameters:
    ///   - base: The delay before the first resend. Default: 100 ms.
    ///   - throttledBase: The same after a refusal for too many requests. Default: the base.
    ///   - cap: The longest delay. Default: 20 s.
    ///   - jitter: The randomisation. Default: full.
    public static func linear(
        base: Duration = .milliseconds(100),
        throttledBase: Duration? = nil,
        cap: Duration = .seconds(20),
        jitter: Jitter = .full
    ) -> Backoff {
        Backoff(base: base, throttledBase: throttledBase, cap: cap, growth: .linear, jitter: jitter)
    }

    /// The same delay every time.
    public static func constant(
        _ delay: Duration,
        throttled: Duration? = nil,
        cap: Duration? = nil,
        jitter: Jitter = .none
    ) -> Backoff {
        let cap = cap ?? max(delay, throttled ?? .zero)
        return Backoff(
            base: delay,
            throttledBase: throttled,
            cap: cap,
            growth: .exponential(multiplier: 1),
            jitter: jitter
        )
    }

    /// These delays, in order; the last one is repeated.
    ///
    /// They hold after throttles as well: others take a backoff of their own (``RateLimitBackoff``).
    public static func custom(_ delays: [Duration], cap: Duration = .longest, jitter: Jitter = .none) -> Backoff {
        let delays = delays.map { max($0, .zero) }
        return Backoff(
            base: delays.first ?? .zero,
            throttledBase: nil,
            cap: cap,
            growth: .custom(delays),
            jitter: jitter
        )
    }
}
