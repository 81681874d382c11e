import HTTPRecovery

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
    /// Those of the concurrency runtime aside, which adds one where its own wait, and keeps it while there is anything to do.
    var threads = 0
    /// What is resident, with what the allocator keeps for itself.
    var kibibytes = 0
    /// What is allocated and was not freed.
    var heapKibibytes = 0

    static func now() -> ProcessHoldings {
        var holdings = ProcessHoldings()
        holdings.heapKibibytes = heap() / 1024
        holdings.descriptors = entries(of: "/proc/self/fd").count
        // Dispatch calls its threads after their queues: `…root.default-qos`, of which the system keeps the end. What a
        // transport begins has that name only if it is begun there and takes none, as `SystemThread` and NIO do.
        let threads = entries(of: "/proc/self/task").map { line(of: "/proc/self/task/\($0)/comm") }
        holdings.threads = threads.count { $0.utf8.range(of: "-qos".utf8) == nil }
        let pages = line(of: "/proc/self/statm").split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
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

    /// The names in a directory; a thread or a descriptor may be gone by now.
    private static func entries(of path: String) -> [String] {
        guard let directory = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                // The system ends the name with a zero byte.
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(cString: $0) }
            }
            if name.first != "." { names.append(name) }
        }
        return names
    }

    /// The first line of a file of the system's; empty if it cannot be read.
    private static func line(of path: String) -> String {
        guard let file = unsafe fopen(path, "r") else { return "" }
        defer { unsafe fclose(file) }
        var text = [CChar](repeating: 0, count: 256)
        guard unsafe fgets(&text, Int32(text.count), file) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 && $0 != 0x0a }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var description: String {
        "\(descriptors) descriptors, \(threads) threads, \(kibibytes) KiB, of them \(heapKibibytes) in use"
    }
}
