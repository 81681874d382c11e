#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What this process has of the system's, as Linux tells it.
struct ProcessHoldings: Sendable, CustomStringConvertible {
    var descriptors = 0
    var threads = 0
    var kibibytes = 0

    static func now() -> ProcessHoldings {
        var holdings = ProcessHoldings()
        holdings.descriptors = entries(of: "/proc/self/fd")
        holdings.threads = entries(of: "/proc/self/task")
        var usage = [CChar](repeating: 0, count: 256)
        if let file = unsafe fopen("/proc/self/statm", "r") {
            unsafe fgets(&usage, Int32(usage.count), file)
            unsafe fclose(file)
        }
        let pages = usage.split(separator: 32).dropFirst().first?.reduce(0) { $0 * 10 + Int($1) - 48 } ?? 0
        holdings.kibibytes = pages * Int(getpagesize()) / 1024
        return holdings
    }

    /// Whether nothing is more than before, memory not more than what an allocator keeps for itself.
    func isWithin(_ before: ProcessHoldings) -> Bool {
        descriptors <= before.descriptors && threads <= before.threads
            && kibibytes <= before.kibibytes + max(before.kibibytes / 4, 49_152)
    }

    private static func entries(of path: String) -> Int {
        guard let directory = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB" }
}
