#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// How long to wait before a resend when the server says nothing.
///
/// The cap is applied before the jitter, so that late delays stay spread over the whole range instead of piling up at
/// the cap.
public struct Backoff: Sendable, Hashable {
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
    }

    /// The delay before the first resend, before jitter.
    public var base: Duration
    /// The longest delay.
    public var cap: Duration
    /// What each further delay is multiplied by.
    public var multiplier: Double
    /// How the delay is randomised.
    public var jitter: Jitter

    /// An exponential backoff.
    ///
    /// - Parameters:
    ///   - base: The delay before the first resend. Default: 100 ms.
    ///   - cap: The longest delay; never less than the base. Default: 20 s.
    ///   - multiplier: The growth; at least 1. Default: 2.
    ///   - jitter: The randomisation. Default: full.
    public static func exponential(
        base: Duration = .milliseconds(100),
        cap: Duration = .seconds(20),
        multiplier: Double = 2,
        jitter: Jitter = .full
    ) -> Backoff {
        let base = max(base, .zero)
        return Backoff(
            base: base,
            cap: max(cap, base),
            multiplier: multiplier.isFinite ? max(multiplier, 1) : 1,
            jitter: jitter
        )
    }

    /// The same delay every time.
    public static func constant(_ delay: Duration, jitter: Jitter = .none) -> Backoff {
        .exponential(base: delay, cap: delay, multiplier: 1, jitter: jitter)
    }

    /// The delay before a resend.
    ///
    /// - Parameters:
    ///   - retry: How many resends came before it; 0 for the first.
    ///   - random: A number in `0 ..< 1`.
    public func delay(retry: Int, random: Double) -> Duration {
        let seconds = min(base.inSeconds * pow(multiplier, Double(max(retry, 0))), cap.inSeconds)
        let delay = Duration.saturating(seconds: seconds)
        switch jitter {
        case .none: return delay
        case .full: return delay.scaled(by: random)
        case .equal: return delay.scaled(by: 0.5 + random / 2)
        case .plusMinus(let fraction): return delay.scaled(by: max(0, 1 + fraction * (2 * random - 1)))
        }
    }
}
