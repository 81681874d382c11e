import Glibc
import HTTPRecovery
import Synchronization

/// A file that keeps what has come of it, so that a later run can go on with that.
///
/// It is written in place. What is not a regular file (a device, a pipe) has nothing to go on with.
public final class ResumableFile: FileSink {
    /// Where the file is.
    public let path: String
    /// How many bytes it had when it was opened.
    public let length: Int64

    private let descriptor: Int32
    private let isRegular: Bool
    private let isNew: Bool
    private let isOpen = Atomic(true)
    private let hasWritten = Atomic(false)

    /// Opens the file for writing behind what it holds.
    ///
    /// - Parameter path: Where the file is; one that is missing is made.
    public init(_ path: String) throws(FileError) {
        self.path = path
        let made = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        isNew = made >= 0
        descriptor = isNew ? made : unsafe open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError("written", path, code: errno) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            let code = errno
            close(descriptor)
            throw FileError("written", path, code: code)
        }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        length = isRegular ? Int64(lseek(descriptor, 0, SEEK_END)) : 0
    }

    deinit {
        abandon()
    }

    /// Not for a regular file.
    public var mayGetStuck: Bool { !isRegular }

    /// Whether it can be emptied, or nothing has gone out yet.
    public var canRestart: Bool { isRegular || !hasWritten.load(ordering: .relaxed) }

    /// Begins again with an empty file.
    public func restart() throws -> Bool {
        guard isRegular else { return canRestart }
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FileError("written", path, code: errno)
        }
        return true
    }

    /// Writes the bytes.
    public func write(_ bytes: ArraySlice<UInt8>) throws {
        if !bytes.isEmpty { hasWritten.store(true, ordering: .relaxed) }
        try FileDescriptor.write(bytes, to: descriptor, name: path)
    }

    /// Ends writing.
    public func commit() throws(FileError) {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let isWritten = !isRegular || fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw FileError("written", path, code: errno) }
    }

    /// Ends writing; what has come stays, but not an empty file that nobody had before.
    public func abandon() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        var status = stat()
        if isNew, unsafe fstat(descriptor, &status) == 0, status.st_size == 0 { unsafe unlink(path) }
        close(descriptor)
    }
}
