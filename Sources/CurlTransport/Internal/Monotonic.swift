#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Points on the monotonic clock, in nanoseconds; `UInt64.max` is never.
enum Monotonic {
    static let never = UInt64.max

    static func now() -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// The point `duration` from now, saturated.
    static func deadline(after duration: Duration) -> UInt64 {
        now() &+ nanoseconds(duration)
    }

    /// Whole milliseconds from `now` to `deadline`, rounded up, at least 0, and within 32 bits.
    static func milliseconds(from now: UInt64, to deadline: UInt64) -> Int {
        if deadline <= now { return 0 }
        return Int(min((deadline - now + 999_999) / 1_000_000, 2_000_000_000))
    }
}

extension Monotonic {
    /// A duration in nanoseconds, between 0 and a century.
    static func nanoseconds(_ duration: Duration) -> UInt64 {
        let bounded = max(.zero, min(duration, .seconds(3_153_600_000)))
        let (seconds, attoseconds) = bounded.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
