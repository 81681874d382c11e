#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Points on the monotonic clock, in nanoseconds; `UInt64.max` is never.
///
/// For loops over descriptors, which wait by such points; what waits in tasks does so by a ``TimeSource``.
package enum Monotonic {
    package static let never = UInt64.max

    package static func now() -> UInt64 {
        UInt64(clamping: SystemClock.nanoseconds(CLOCK_MONOTONIC))
    }

    /// The point so long from now; a century at most.
    package static func deadline(after duration: Duration) -> UInt64 {
        now() &+ nanoseconds(duration)
    }

    /// A duration in nanoseconds, between 0 and a century.
    package static func nanoseconds(_ duration: Duration) -> UInt64 {
        UInt64(clamping: min(duration, .seconds(3_153_600_000)).whole(.nanoseconds(1)))
    }

    /// Whole milliseconds from one point to another, rounded up, at least 0, and within 32 bits.
    package static func milliseconds(from now: UInt64, to deadline: UInt64) -> Int {
        if deadline <= now { return 0 }
        return Int(min((deadline - now - 1) / 1_000_000 + 1, 2_000_000_000))
    }

    /// Milliseconds from now to a point, as the system's calls that wait take them: -1 for never.
    package static func pollTimeout(until deadline: UInt64) -> Int32 {
        deadline == never ? -1 : Int32(milliseconds(from: now(), to: deadline))
    }
}
