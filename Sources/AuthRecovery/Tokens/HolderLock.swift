#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Proves that the holder of a lease lives: a lock on one byte of a file, which the system takes away with its holder.
///
/// Each lease has a byte of its own, that of its fence, so that who was stopped for longer than its lease lasts does not
/// stand in the way of the next holder. The lock belongs to the open file, not to the process: it is seen from every
/// container of the machine, and by other hosts if a network file system passes locks on.
final class HolderLock: Sendable {
    private let descriptor: Int32

    // Open file description locks; headers show their names to GNU programs only.
    #if canImport(Darwin)
    private static let setLock: Int32 = 90
    private static let getLock: Int32 = 92
    #else
    private static let setLock: Int32 = 37
    private static let getLock: Int32 = 36
    #endif

    private init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// What came of an attempt to take a lock.
    enum Attempt {
        case taken(HolderLock)
        /// Somebody else holds it.
        case held
        /// The file system knows no such locks.
        case unsupported
    }

    /// Takes the lock of a fence; it is held until the result is released.
    static func take(_ path: String, fence: UInt64) -> Attempt {
        guard let file = open(path) else { return .unsupported }
        var lock = request(fence)
        while unsafe fcntl(file.descriptor, Self.setLock, &lock) != 0 {
            if errno == EINTR { continue }
            return errno == EAGAIN || errno == EACCES ? .held : .unsupported
        }
        return .taken(file)
    }

    /// Whether somebody holds the lock of a fence; nil if that cannot be told.
    static func isHeld(_ path: String, fence: UInt64) -> Bool? {
        guard let file = open(path) else { return nil }
        var lock = request(fence)
        while unsafe fcntl(file.descriptor, Self.getLock, &lock) != 0 {
            if errno != EINTR { return nil }
        }
        return lock.l_type != Int16(F_UNLCK)
    }

    private static func open(_ path: String) -> HolderLock? {
        let descriptor = systemOpen(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        return descriptor >= 0 ? HolderLock(descriptor: descriptor) : nil
    }

    private static func request(_ fence: UInt64) -> flock {
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        // The system counts bytes in signed numbers.
        lock.l_start = off_t(truncatingIfNeeded: fence & 0x3FFF_FFFF_FFFF_FFFF)
        lock.l_len = 1
        return lock
    }
}

// The C function under a name that the method above does not hide.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 {
    unsafe open(path, flags, mode)
}
