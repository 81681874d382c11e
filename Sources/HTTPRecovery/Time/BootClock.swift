#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The time since the machine was started, which nobody sets: it tells how much of a span has passed if the wall
/// clock was changed.
///
/// All processes of one machine share it, whatever containers they are in.
package struct BootClock: Sendable {
    /// A point of this time.
    package struct Value: Sendable, Hashable {
        /// What tells one run of the machine from another; empty if that is not known.
        package var boot: String
        /// Microseconds since its start.
        package var microseconds: Int64

        package init(boot: String, microseconds: Int64) {
            self.boot = boot
            self.microseconds = microseconds
        }
    }

    package var read: @Sendable () -> Value

    package init(_ read: @escaping @Sendable () -> Value) {
        self.read = read
    }

    /// The machine's clock.
    package static let system: BootClock = {
        let boot = bootID()
        return BootClock { Value(boot: boot, microseconds: nanoseconds() / 1000) }
    }()

    /// Nanoseconds since the start of the machine.
    static func nanoseconds() -> Int64 {
        #if canImport(Darwin)
        SystemClock.nanoseconds(CLOCK_MONOTONIC)
        #else
        SystemClock.nanoseconds(CLOCK_BOOTTIME)
        #endif
    }

    /// The kernel's id of this run; if there is none, runs are not told apart.
    private static func bootID() -> String {
        let descriptor = unsafe open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).filter { $0.isHexDigit || $0 == "-" }
    }
}

// The C function under a name that the member above does not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}
