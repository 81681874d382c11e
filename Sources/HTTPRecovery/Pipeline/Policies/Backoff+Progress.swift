#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Backoff {
    /// What is remembered of a call's delays, for the next one.
    public struct Progress: Sendable, Hashable {
        /// How many resends there were, or since the server has started the backoff anew.
        public var step: Int
        /// The last of the own delays; nil before the first.
        public var previous: Duration?
        /// How far ``Jitter/decorrelatedV2`` has come, in bases.
        var level = 0.0

        /// Creates the progress of a call.
        ///
        /// - Parameters:
        ///   - step: How many resends there were. Default: none.
        ///   - previous: The last of the own delays. Default: none.
        public init(step: Int = 0, previous: Duration? = nil) {
            self.step = step
            self.previous = previous
        }
    }

    /// The delay before a resend, for a backoff that remembers nothing.
    ///
    /// - Parameters:
    ///   - retry: How many resends came before it; 0 for the first.
    ///   - random: A number in `0 ..< 1`.
    public func delay(retry: Int, random: Double) -> Duration {
        var progress = Progress(step: retry)
        return delay(&progress, random: random)
    }

    /// The delay before the next resend of a call.
    ///
    /// - Parameters:
    ///   - progress: What is remembered of the call's delays; the caller counts the resends.
    ///   - isThrottled: Whether the last attempt was refused for too many requests.
    ///   - random: A number in `0 ..< 1`.
    public func delay(_ progress: inout Progress, isThrottled: Bool = false, random: Double) -> Duration {
        let base = isThrottled ? throttledBase ?? self.base : self.base
        let delay: Duration
        switch jitter {
        case .decorrelated:
            let previous = progress.previous ?? base
            let span = max(0, previous.inSeconds * 3 - base.inSeconds)
            delay = min(cap, base.saturatingAdding(.saturating(seconds: span * random)))
        case .decorrelatedV2: delay = min(cap, decorrelated(&progress, base, random))
        default:
            let grown = grown(from: base, Double(max(progress.step, 0)))
            let seconds = capsAfterJitter ? grown : min(grown, cap.inSeconds)
            let jittered = max(.zero, Duration.saturating(seconds: seconds * factor(random)))
            delay = capsAfterJitter ? min(jittered, cap) : jittered
        }
        progress.previous = delay
        return delay
    }

    /// The delay before jitter and cap, in seconds; infinite if it is beyond all numbers.
    private func grown(from base: Duration, _ step: Double) -> Double {
        switch growth {
        case .exponential(let multiplier):
            // Nothing grows to nothing, however often: not to what is no number.
            base == .zero ? 0 : base.inSeconds * pow(max(multiplier, 1), step)
        case .linear: base.inSeconds * (step + 1)
        case .custom(let delays):
            delays.isEmpty ? 0 : delays[min(Int(min(step, Double(Int32.max))), delays.count - 1)].inSeconds
        }
    }

    private func factor(_ random: Double) -> Double {
        switch jitter {
        case .none, .decorrelated, .decorrelatedV2: 1
        case .full: random
        case .equal: 0.5 + random / 2
        case .plusMinus(let fraction): 1 + fraction * (2 * random - 1)
        case .scaled(let low, let high): low + (high - low) * random
        }
    }

    private func decorrelated(_ progress: inout Progress, _ base: Duration, _ random: Double) -> Duration {
        let point = Double(max(progress.step, 0)) + random
        let level = pow(2, point) * tanh((4 * point).squareRoot())
        defer { progress.level = level }
        guard level.isFinite, progress.level.isFinite else { return cap }
        return .saturating(seconds: max(0, (level - progress.level) * base.inSeconds / 1.4))
    }
}
