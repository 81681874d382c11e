#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension MessageBody {
    /// Creates a body from a file, which is opened anew for each reading.
    ///
    /// The length is taken now; a file that shrinks before it is sent ends the request with an error.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - chunkSize: The size of the pieces in bytes; at least 1.
    /// - Throws: ``MessageBody/ReadError/unreadableFile(path:errno:)`` when the file cannot be opened.
    public init(file path: String, chunkSize: Int = 65_536) throws {
        let file = try FileChunks.open(path)
        var status = stat()
        guard unsafe fstat(file.descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw MessageBody.ReadError.unreadableFile(path: path, errno: errno == 0 ? EINVAL : errno)
        }
        self.init(length: Int(status.st_size)) { FileChunks(path: path, size: Swift.max(1, chunkSize)) }
    }
}

/// The chunks of a file; each iteration opens it anew.
private struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    /// An open file, closed with its last reference.
    final class OpenFile: Sendable {
        let descriptor: Int32

        init(descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit {
            close(descriptor)
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let path: String
        let size: Int
        var file: OpenFile?

        mutating func next() async throws -> ArraySlice<UInt8>? {
            let file = try file ?? FileChunks.open(path)
            self.file = file
            var buffer = [UInt8](repeating: 0, count: size)
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(file.descriptor, $0.baseAddress, $0.count) }
            if count < 0 { throw MessageBody.ReadError.unreadableFile(path: path, errno: errno) }
            return count == 0 ? nil : buffer[..<count]
        }
    }

    let path: String
    let size: Int

    static func open(_ path: String) throws -> OpenFile {
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC)
        #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(path, O_RDONLY | O_CLOEXEC)
        #else
        let descriptor = unsafe Darwin.open(path, O_RDONLY | O_CLOEXEC)
        #endif
        guard descriptor >= 0 else { throw MessageBody.ReadError.unreadableFile(path: path, errno: errno) }
        return OpenFile(descriptor: descriptor)
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(path: path, size: size)
    }
}
