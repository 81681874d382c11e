import Glibc
import HTTPRecovery

/// Why something could not be read or written; the text can be shown as it is.
public struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened to which file.
    public var description: String { text.description }
    /// The system's error number.
    public let code: Int32

    private let text: ScreenText

    /// Whether it is standard output that cannot be written.
    public let isOfOutput: Bool

    init(_ action: String, _ path: String, code: Int32) {
        isOfOutput = path == Self.outputName && action == "written"
        self.text = "\(path, limit: 500) cannot be \(action): \(Self.message(code))"
        self.code = code
    }

    /// Something is larger than what is taken into memory.
    init(_ path: String, isLargerThan limit: Int) {
        isOfOutput = false
        text = "\(path, limit: 500) cannot be read into memory: it is larger than \(HumanSize.text(limit))"
        code = EFBIG
    }

    /// Whoever read standard output has gone.
    public static let unread = FileError("written", outputName, code: EPIPE)

    /// What standard output is called.
    static let outputName = "standard output"

    private static func message(_ code: Int32) -> String {
        // The text belongs to the C library and is copied at once.
        unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
    }
}

/// Something that takes a response's body.
public protocol ByteSink: Sendable {
    /// Whether a write may wait for somebody who reads, and so without an end.
    var mayGetStuck: Bool { get }

    /// Whether a body can begin from its first byte.
    var canRestart: Bool { get }

    /// Gets ready for a body from its first byte; false when a part of another has gone out and cannot be taken back.
    func restart() throws -> Bool

    /// Takes the next bytes.
    func write(_ bytes: ArraySlice<UInt8>) throws
}

/// A file that takes a response's body.
public protocol FileSink: ByteSink {
    /// Puts the file in place, whole.
    func commit() throws(FileError)

    /// Ends writing before the file is whole.
    func abandon()
}

/// Takes bytes and forgets them.
public struct DiscardingSink: ByteSink {
    /// Creates a sink.
    public init() {}

    /// Always possible.
    public func restart() -> Bool { true }

    /// It waits for nobody.
    public var mayGetStuck: Bool { false }

    /// It always can.
    public var canRestart: Bool { true }

    /// Does nothing.
    public func write(_ bytes: ArraySlice<UInt8>) {}
}

/// Writing to file descriptors, whole or with an error.
enum FileDescriptor {
    /// Writes all bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - descriptor: Where to.
    ///   - name: What to call it in an error.
    static func write(_ bytes: some Sequence<UInt8>, to descriptor: Int32, name: String) throws(FileError) {
        var rest = ArraySlice(bytes)
        while !rest.isEmpty {
            // The buffer outlives the call, which reads it only.
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&poller, 1, -1)
            } else if errno != EINTR {
                throw FileError("written", name, code: errno)
            }
        }
    }

    /// Reads until the end or past the limit.
    static func read(_ descriptor: Int32, upTo limit: Int, name: String) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count <= limit {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count > 0 {
                bytes.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw FileError("read", name, code: errno)
            }
        }
        return bytes
    }
}
