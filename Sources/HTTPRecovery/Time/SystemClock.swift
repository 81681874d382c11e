#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The clocks of the operating system.
enum SystemClock {
    static func read(_ clock: clockid_t) -> (seconds: Int, nanoseconds: Int) {
        // Read as two words: which C module owns the fields of `timespec` differs from build to build.
        var time = (seconds: 0, nanoseconds: 0)
        unsafe withUnsafeMutablePointer(to: &time) { words in
            unsafe words.withMemoryRebound(to: timespec.self, capacity: 1) { time in
                _ = unsafe clock_gettime(clock, time)
            }
        }
        return time
    }

    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        let time = read(clock)
        return Int64(time.seconds) &* 1_000_000_000 &+ Int64(time.nanoseconds)
    }
}
