import Glibc

/// Standard input as lines.
public enum StandardInput {
    /// The longest line that is accepted: 64 MiB.
    public static let longestLine = 64 << 20

    /// Calls the function with each line, without its end, as soon as it is complete.
    ///
    /// - Throws: ``FileError`` when the input cannot be read or a line is too long; whatever the function throws.
    public static func forEachLine(_ body: (ArraySlice<UInt8>) throws -> Void) throws {
        var pending: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            // The buffer outlives the call, which fills it.
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(STDIN_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", "standard input", code: errno) }
            if count == 0 { break }
            var rest = buffer[..<count]
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                pending.append(contentsOf: rest[..<end])
                try body(pending[...])
                pending.removeAll(keepingCapacity: true)
                rest = rest[(end + 1)...]
            }
            pending.append(contentsOf: rest)
            guard pending.count <= longestLine else { throw FileError("read", "standard input", code: EMSGSIZE) }
        }
        if !pending.isEmpty { try body(pending[...]) }
    }

    /// The first line, without its end.
    ///
    /// - Throws: ``InputEnded`` when there is none.
    public static func firstLine() throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            // The buffer is the local byte.
            let count = unsafe read(STDIN_FILENO, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError("read", "standard input", code: errno) }
            if count == 0, line.isEmpty { throw InputEnded() }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            line.append(byte)
            guard line.count <= 65_536 else { throw FileError("read", "standard input", code: EMSGSIZE) }
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Reads a file whole.
    ///
    /// - Parameters:
    ///   - path: The file; `-` is standard input.
    ///   - limit: The most bytes to accept.
    public static func contents(of path: String, upTo limit: Int = 1 << 20) throws(FileError) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path, code: errno) }
        defer { if path != "-" { close(descriptor) } }
        let name = path == "-" ? "standard input" : path
        let bytes = try FileDescriptor.read(descriptor, upTo: limit, name: name)
        guard bytes.count <= limit else { throw FileError(name, isLargerThan: limit) }
        return bytes
    }
}
