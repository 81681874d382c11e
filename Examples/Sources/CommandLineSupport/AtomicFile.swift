import Glibc
import HTTPRecovery
import Synchronization

/// A file that appears under its name only when it is complete.
///
/// Until ``commit()`` everything goes to a hidden file beside it; what is not committed is removed with the value. A
/// target that is no regular file (a device, a pipe) is written to directly.
public final class AtomicFile: FileSink {
    /// Where the file will be.
    public let path: String

    private let temporary: String?
    private let descriptor: Int32
    private let isOpen = Atomic(true)

    /// Opens the file for writing.
    ///
    /// - Parameters:
    ///   - path: Where the file will be.
    ///   - mode: The permissions of a new file before the process's mask; one that exists keeps its own, and its owner
    ///     and group as far as this user may give files away.
    public init(_ path: String, mode: UInt32 = 0o666) throws(FileError) {
        var status = stat()
        let exists = unsafe stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw FileError("written", path, code: EISDIR) }
        if exists, status.st_mode & S_IFMT != S_IFREG {
            self.path = path
            self.temporary = nil
            self.descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
        } else {
            // A link stays a link: the file behind it is replaced.
            let target = exists ? Self.resolved(path) : path
            let slash = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) }
            let directory = slash.map { target[..<$0] } ?? ""
            var name = slash.map { target[$0...] } ?? target[...]
            // With what stands around it the name must not become longer than file systems take.
            while name.utf8.count > Self.longestName { name.removeLast() }
            // Nobody can have put something under a name that nobody can guess; a file that is there all the same stays.
            let temporary = "\(directory).\(name).\(String(UInt64.random(in: 0 ... .max), radix: 36)).part"
            self.path = target
            self.temporary = temporary
            let permissions = exists ? status.st_mode & 0o777 : mode
            self.descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, permissions)
            if descriptor >= 0, exists { Self.keep(permissions, of: status, for: descriptor) }
        }
        guard descriptor >= 0 else { throw FileError("written", path, code: errno) }
    }

    deinit {
        abandon()
    }

    /// Not for a regular file.
    public var mayGetStuck: Bool { temporary == nil }

    /// Whether it can be emptied, or nothing has gone out yet.
    public var canRestart: Bool { temporary != nil || lseek(descriptor, 0, SEEK_CUR) <= 0 }

    /// Begins again with an empty file.
    public func restart() throws -> Bool {
        guard temporary != nil else { return canRestart }
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FileError("written", path, code: errno)
        }
        return true
    }

    /// Writes the bytes.
    public func write(_ bytes: ArraySlice<UInt8>) throws {
        try FileDescriptor.write(bytes, to: descriptor, name: path)
    }

    /// Puts the file in place.
    public func commit() throws(FileError) {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        let isWritten = temporary == nil || fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        guard let temporary else { return }
        guard isWritten, isClosed, unsafe rename(temporary, path) == 0 else {
            let code = errno
            unsafe unlink(temporary)
            throw FileError("written", path, code: code)
        }
    }

    /// Removes what was written; the file that was there before stays.
    public func abandon() {
        guard isOpen.exchange(false, ordering: .acquiringAndReleasing) else { return }
        close(descriptor)
        if let temporary { unsafe unlink(temporary) }
    }

    /// Gives a file the owner, the group and the permissions of the one whose place it takes.
    private static func keep(_ permissions: UInt32, of status: stat, for descriptor: Int32) {
        // Who may not give it away keeps it, with the group if that is one of theirs.
        if fchown(descriptor, status.st_uid, status.st_gid) != 0 { _ = fchown(descriptor, .max, status.st_gid) }
        // A change of owner may take permissions away.
        fchmod(descriptor, permissions)
    }

    private static let longestName = 200

    private static func resolved(_ path: String) -> String {
        // The text is allocated by the C library, copied, and freed.
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
