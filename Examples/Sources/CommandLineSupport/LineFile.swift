import Glibc
public import HTTPRecovery
import Locking

/// A file that is written line by line, each at once and whole, as recordings are.
public final class LineFile: Sendable {
    private let descriptor: Int32
    private let name: String
    private let problem = Locked<FileError?>(nil)

    /// Opens the file, which is emptied, or made with mode 0600.
    public init(_ path: String) throws(FileError) {
        name = path
        descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError("written", path, code: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Why lines are missing; nil when none is.
    public var failure: FileError? { problem.withLock { $0 } }

    /// Writes a value as a line.
    public func write(_ value: JSONValue) {
        problem.withLock { problem in
            guard problem == nil else { return }
            do throws(FileError) {
                try FileDescriptor.write((value.description + "\n").utf8, to: descriptor, name: name)
            } catch {
                problem = error
            }
        }
    }

    /// The lines of a file, as far as they are JSON; nil for one that is none.
    ///
    /// - Parameter limit: The most bytes that are read.
    public static func read(_ path: String, upTo limit: Int = 256 << 20) throws(FileError) -> [JSONValue?] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("read", path, code: errno) }
        defer { close(descriptor) }
        let bytes = try FileDescriptor.read(descriptor, upTo: limit, name: path)
        guard bytes.count <= limit else { throw FileError("read", path, code: EFBIG) }
        return bytes.split(separator: UInt8(ascii: "\n")).map { try? JSONValue(parsing: Array($0)) }
    }
}
