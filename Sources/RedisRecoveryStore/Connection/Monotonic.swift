#if Redis
import Glibc

/// Points on the monotonic clock, in nanoseconds; `UInt64.max` is never.
enum Monotonic {
    static let never = UInt64.max

    static func now() -> UInt64 {
        // Read as two words: which C module owns the fields of `timespec` differs from build to build.
        var time = (seconds: 0, nanoseconds: 0)
        unsafe withUnsafeMutablePointer(to: &time) { words in
            unsafe words.withMemoryRebound(to: timespec.self, capacity: 1) { time in
                _ = unsafe clock_gettime(CLOCK_MONOTONIC, time)
            }
        }
        return UInt64(time.seconds) &* 1_000_000_000 &+ UInt64(time.nanoseconds)
    }

    /// The point `duration` from now, at most a century.
    static func deadline(after duration: Duration) -> UInt64 {
        now() &+ nanoseconds(duration)
    }

    /// A duration in nanoseconds, between 0 and a century.
    static func nanoseconds(_ duration: Duration) -> UInt64 {
        let bounded = max(.zero, min(duration, .seconds(3_153_600_000)))
        let (seconds, attoseconds) = bounded.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Milliseconds from now to `deadline`, rounded up, as `poll` takes them; -1 for never.
    static func pollTimeout(until deadline: UInt64) -> Int32 {
        if deadline == never { return -1 }
        let now = now()
        if deadline <= now { return 0 }
        return Int32(min((deadline - now + 999_999) / 1_000_000, 1_000_000_000))
    }
}
#endif
