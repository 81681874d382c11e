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
    /// The length is taken now; a file that shrinks before it is sent ends the request with an error. It is read on a
    /// thread of its own, so that a slow disk holds up no other task.
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
        let thread = WorkerThreads()
        var file: OpenFile?

        mutating func next() async throws -> ArraySlice<UInt8>? {
            let (chunk, file) = try await thread.run { [path, size, file] in
                let file = try file ?? FileChunks.open(path)
                return (try FileChunks.chunk(file, upTo: size, path), file)
            }
            self.file = file
            return chunk
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

    /// The next bytes of a file; nil at its end.
    fileprivate static func chunk(_ file: OpenFile, upTo size: Int, _ path: String) throws -> ArraySlice<UInt8>? {
        var buffer = [UInt8](repeating: 0, count: size)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { buffer in
                unsafe read(file.descriptor, buffer.baseAddress, buffer.count)
            }
            if count >= 0 { return count == 0 ? nil : buffer[..<count] }
            guard errno == EINTR else { throw MessageBody.ReadError.unreadableFile(path: path, errno: errno) }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(path: path, size: size)
    }
}
