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
    /// What is resident, with what the allocator keeps for itself.
    var kibibytes = 0
    /// What is allocated and was not freed.
    var heapKibibytes = 0

    static func now() -> ProcessHoldings {
        var holdings = ProcessHoldings()
        holdings.heapKibibytes = heap() / 1024
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

    /// Whether nothing is more than before: of the heap a 20th or 2 MiB for the caches of threads, of what is resident an
    /// eighth or 16 MiB, as it is torn into pieces while thousands of calls come and go.
    func isWithin(_ before: ProcessHoldings) -> Bool {
        descriptors <= before.descriptors && threads <= before.threads
            && heapKibibytes <= before.heapKibibytes + max(before.heapKibibytes / 20, 2048)
            && kibibytes <= before.kibibytes + max(before.kibibytes / 8, 16_384)
    }

    /// As the C library's allocator counts it (malloc_info(3)); 0 where another stands in front of it.
    private static func heap() -> Int {
        typealias Tell = @convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt
        guard let symbol = unsafe dlsym(nil, "malloc_info") else { return 0 }
        var (text, size) = unsafe (UnsafeMutablePointer<CChar>?.none, 0)
        guard let stream = unsafe open_memstream(&text, &size) else { return 0 }
        _ = unsafe unsafeBitCast(symbol, to: Tell.self)(0, stream)
        unsafe fclose(stream)
        defer { unsafe free(text) }
        let lines = unsafe text.map { unsafe String(cString: $0) }?.split(separator: "\n") ?? []
        // Those of all arenas come last.
        func total(_ beginning: String) -> Int {
            let words = lines.last { $0.hasPrefix(beginning) }?.split(separator: "\"") ?? []
            return words.dropLast().last.flatMap { Int($0) } ?? 0
        }
        return total(#"<system type="current""#) + total(#"<total type="mmap""#)
            - total(#"<total type="fast""#) - total(#"<total type="rest""#)
    }

    private static func entries(of path: String) -> Int {
        guard let directory = unsafe opendir(path) else { return 0 }
        defer { unsafe closedir(directory) }
        var count = 0
        while unsafe readdir(directory) != nil { count += 1 }
        return count
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB, of them \(heapKibibytes) in use"
    }
}
