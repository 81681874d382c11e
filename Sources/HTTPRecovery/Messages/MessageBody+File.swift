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
    /// It is opened now, on the caller's thread, for its length; of a file that grows before it is sent no more than that is
    /// sent, and one that shrinks ends the request with an error. It is read on a thread of its own, so that a slow disk
    /// holds up no other task then.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - chunkSize: The size of the pieces in bytes; at least 1.
    /// - Throws: ``MessageBody/ReadError/unreadableFile(path:errno:)`` when the file cannot be opened, and for what is no
    ///   regular file: with `EISDIR` for a directory, else with `EINVAL`. A pipe is not waited for.
    public init(file path: String, chunkSize: Int = 65_536) throws {
        let length = try FileChunks.open(path).length
        self.init(length: length) { FileChunks(path: path, size: Swift.max(1, chunkSize), length: length) }
    }
}

/// The chunks of a file; each iteration opens it anew.
private struct FileChunks: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>

    /// An open file, closed with its last reference.
    final class OpenFile: Sendable {
        let descriptor: Int32
        let length: Int

        /// - Throws: ``MessageBody/ReadError`` for what is no regular file.
        init(descriptor: Int32, _ path: String) throws {
            self.descriptor = descriptor
            var status = stat()
            guard unsafe fstat(descriptor, &status) == 0 else {
                length = 0
                throw MessageBody.ReadError.unreadableFile(path: path, errno: errno)
            }
            length = Int(status.st_size)
            let sort = status.st_mode & S_IFMT
            guard sort == S_IFREG else {
                throw MessageBody.ReadError.unreadableFile(path: path, errno: sort == S_IFDIR ? EISDIR : EINVAL)
            }
        }

        deinit {
            close(descriptor)
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let path: String
        let size: Int
        let thread = WorkerThreads()
        /// How many bytes are left of those that were announced.
        var rest: Int
        var file: OpenFile?

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if rest <= 0, file != nil { return nil }
            let (chunk, file) = try await thread.run { [path, size, rest, file] in
                let file = try file ?? FileChunks.open(path)
                return (try FileChunks.chunk(file, upTo: Swift.min(size, rest), path), file)
            }
            self.file = file
            rest -= chunk?.count ?? 0
            return chunk
        }
    }

    let path: String
    let size: Int
    let length: Int

    static func open(_ path: String) throws -> OpenFile {
        // Not blocking: a pipe in the file's place must hold nobody up.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        #if canImport(Glibc)
        let descriptor = unsafe Glibc.open(path, flags)
        #elseif canImport(Musl)
        let descriptor = unsafe Musl.open(path, flags)
        #else
        let descriptor = unsafe Darwin.open(path, flags)
        #endif
        guard descriptor >= 0 else { throw MessageBody.ReadError.unreadableFile(path: path, errno: errno) }
        return try OpenFile(descriptor: descriptor, path)
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
        AsyncIterator(path: path, size: size, rest: length)
    }
}
