import Glibc
import Synchronization

/// What a program has written, line by line.
final class ProgramOutput: Sendable {
    private let kept = Mutex<[String]>([])
    private let onLine: @Sendable (String) -> Void

    init(_ onLine: @escaping @Sendable (String) -> Void) {
        self.onLine = onLine
    }

    /// The last thousand lines.
    var lines: [String] { kept.withLock(\.self) }

    /// Reads until the program has ended, and closes the pipe; it blocks.
    func read(from pipe: Int32) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        var rest: [UInt8] = []
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(pipe, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            rest += buffer[..<count]
            var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            rest = lines.popLast().map(Array.init) ?? []
            let new = lines.map { String(decoding: $0, as: UTF8.self) }
            kept.withLock { $0 = ($0 + new).suffix(1000) }
            for line in new { onLine(line) }
        }
        close(pipe)
    }
}
