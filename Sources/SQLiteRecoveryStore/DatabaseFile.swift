#if SQLite
import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The file on the disk: for its owner alone, and the same one as long as it is open.
struct DatabaseFile: Sendable {
    /// Which file it is, whatever its name.
    struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64
    }

    /// The path without links at its end.
    let path: String
    let identity: Identity

    /// Makes the file and its directory if they are missing, and sees to it that nobody else can read them.
    ///
    /// An existing file is looked at by its name only, never opened: closing it would give up the locks that this process
    /// holds on it through SQLite.
    ///
    /// - Parameter examine: Looks at a file that is there before anything about it is changed; throws if it is another program's.
    init(path given: String, examine: (String) throws -> Void) throws {
        let path = try Self.withoutLink(given)
        try Self.prepareDirectory(of: path)
        if Self.information(path) == nil {
            let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor >= 0 {
                close(descriptor)
            } else if errno != EEXIST {
                throw Self.failure(path, "cannot be made")
            }
        } else {
            for suffix in Self.suffixes { try Self.check(path + suffix) }
            try examine(path)
        }
        for suffix in Self.suffixes { try Self.secure(path + suffix) }
        guard let information = Self.information(path) else { throw Self.failure(path, "cannot be read") }
        self.path = path
        self.identity = Identity(information)
    }

    /// Of the database, its log and the index of that.
    private static let suffixes = ["", "-wal", "-shm"]

    /// Throws when the file was deleted, or another has taken its place.
    func verify() throws {
        if !isPresent { throw FileIsGone() }
    }

    var isPresent: Bool {
        var information = stat()
        return unsafe stat(path, &information) == 0 && Identity(information) == identity
    }

    struct FileIsGone: Error {}

    private static func information(_ path: String) -> stat? {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? information : nil
    }

    /// Follows a link that the owner has made; one of another user is a trap.
    private static func withoutLink(_ path: String) throws -> String {
        guard let link = information(path), link.st_mode & S_IFMT == S_IFLNK else { return path }
        guard isTrusted(link.st_uid) else {
            throw SharedState.StoreError("\(path) is a link that another user has made; remove it or name another file")
        }
        guard let resolved = unsafe realpath(path, nil) else { throw failure(path, "is a link that leads nowhere") }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    private static func prepareDirectory(of path: String) throws {
        let directory = Directory.of(path)
        if let missing = Directory.make(directory) { throw failure(missing, "cannot be made") }
        var information = stat()
        guard unsafe stat(directory, &information) == 0 else { throw failure(directory, "cannot be read") }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            throw SharedState.StoreError("\(path) cannot be made: \(directory) is no directory; name another file")
        }
        // If everybody may rename everything, no file is one's own.
        if information.st_mode & S_IWOTH != 0, information.st_mode & S_ISVTX == 0 {
            throw SharedState.StoreError(
                "everybody may write to the directory of \(path); take that away, or name another one"
            )
        }
    }

    /// Sees to it that a file is the owner's alone; one that is missing is made by SQLite with the database's mode.
    private static func secure(_ path: String) throws {
        guard let information = try check(path), information.st_mode & 0o077 != 0, information.st_uid == geteuid()
        else {
            return
        }
        if unsafe chmod(path, 0o600) != 0 { throw failure(path, "cannot be kept from others") }
    }

    /// What the system says of a file, which has to be a regular one of somebody who can be trusted; nil if it is missing.
    @discardableResult
    private static func check(_ path: String) throws -> stat? {
        guard let information = information(path) else { return nil }
        guard information.st_mode & S_IFMT == S_IFREG else {
            throw SharedState.StoreError("\(path) is not a regular file; name another one")
        }
        guard isTrusted(information.st_uid) else {
            throw SharedState.StoreError("\(path) belongs to another user; name another file")
        }
        return information
    }

    /// This user, or the one who can do anything anyway.
    private static func isTrusted(_ owner: uid_t) -> Bool {
        owner == geteuid() || owner == 0
    }

    private static func failure(_ path: String, _ problem: String) -> SharedState.StoreError {
        let advice =
            switch errno {
            case ENOSPC, EDQUOT: "free some space on its disk"
            case EROFS: "its disk is read-only; name a file on another"
            case EACCES, EPERM: "give this user access, or name another file"
            default: "name another file"
            }
        let cause = unsafe String(cString: strerror(errno))
        return SharedState.StoreError("\(path) \(problem) (\(cause)); \(advice)")
    }
}

extension DatabaseFile.Identity {
    init(_ information: stat) {
        device = UInt64(truncatingIfNeeded: information.st_dev)
        number = UInt64(truncatingIfNeeded: information.st_ino)
    }
}
#endif
