import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that only its owner can read and that is only ever replaced as a whole.
///
/// Its functions block: they are for a thread that may.
struct PrivateFile: Sendable {
    /// What tells one state of the file from another.
    ///
    /// A replacement has another inode; a change in place has another time, which nobody can set back, unless it comes
    /// within the granularity of the file system's clock.
    struct State: Sendable, Equatable {
        var device: UInt64
        var inode: UInt64
        var size: Int64
        var modifiedAt: Timestamp
        var changedAt: Timestamp
    }

    let path: String
    /// Where the names of temporary files come from.
    let random: Runtime.RandomSource

    init(path: String, random: Runtime.RandomSource = Runtime.RandomSource()) {
        self.path = path
        self.random = random
    }

    private func file(_ path: String) -> PrivateFile { PrivateFile(path: path, random: random) }

    /// The file's present state; nil if there is none.
    func state() -> State? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return State(status)
    }

    private var directory: String { Directory.of(path) }

    /// The bytes of the file; nil if there is none.
    func read(upTo limit: Int) throws -> [UInt8]? {
        try readWithState(upTo: limit)?.bytes
    }

    /// The bytes of the file, and the state that it was in before they were read; nil if there is none.
    func readWithState(upTo limit: Int) throws -> (bytes: [UInt8], state: State)? {
        // Not blocking: what is no file, such as a pipe, must not hold anybody up.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("cannot be opened") }
        defer { close(descriptor) }
        var status = stat()
        // The call fills the local value.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Credentials.StoreError("the token file \(path) is no regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe systemRead(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read") }
            if count == 0 { return (bytes, State(status)) }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else {
                throw Credentials.StoreError(
                    "the token file \(path) is larger than \(limit) bytes; it is no token file"
                )
            }
        }
    }

    /// Replaces the file: a temporary one beside it is written, flushed and renamed over it.
    ///
    /// The caller holds the lock, so nobody else writes one: a temporary file that is there was left behind by a crash,
    /// with secrets in it, and goes. The new one has a name that nobody can tell beforehand.
    func replace(with bytes: [UInt8]) throws {
        // A link keeps pointing: what it points at is replaced.
        let target = file(resolvedPath)
        try target.makeDirectory()
        target.removeLeftovers()
        let temporary = "\(target.path).\(Hexadecimal.encode(random.bytes(16)))\(Self.temporarySuffix)"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        var error: Credentials.StoreError?
        if !Self.write(bytes, to: descriptor) {
            error = failure("cannot be written")
        } else if fsync(descriptor) != 0 {
            error = failure("cannot be flushed to the disk")
        }
        if close(descriptor) != 0, error == nil { error = failure("cannot be written") }
        if error == nil, unsafe rename(temporary, target.path) != 0 { error = failure("cannot be replaced") }
        if let error {
            unsafe unlink(temporary)
            throw error
        }
        // The rename itself has to reach the disk too.
        let folder = unsafe open(target.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    /// Runs the function while nobody else does so for this file, in this process or another.
    ///
    /// - Returns: What the function returned; nil if somebody else holds the lock, and nothing was run.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result? {
        guard let descriptor = try lock(suffix: "lock") else { return nil }
        defer { close(descriptor) }
        return try body()
    }

    /// The file in which the lease of this one is written.
    var leaseFile: PrivateFile { file("\(resolvedPath).lease") }

    /// The file in which the holder of the lease proves that it lives.
    var holderPath: String { "\(resolvedPath).holder" }

    private static let temporarySuffix = ".tmp"

    /// Removes temporary files that a crash has left behind.
    private func removeLeftovers() {
        guard let folder = unsafe opendir(directory) else { return }
        defer { unsafe closedir(folder) }
        let prefix = "\(name)."
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard name.hasPrefix(prefix), name.hasSuffix(Self.temporarySuffix) else { continue }
            // Earlier versions had one name for all: nothing between the dots.
            let middle = name.utf8.dropFirst(prefix.utf8.count - 1).dropLast(Self.temporarySuffix.utf8.count)
            if middle.isEmpty || middle.dropFirst().allSatisfy({ $0.hexDigitValue != nil }) && middle.count == 33 {
                unsafe unlink("\(directory)/\(name)")
            }
        }
    }

    /// The file's name in its directory.
    private var name: String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Locks a file beside this one.
    ///
    /// - Returns: The open file, which holds the lock until it is closed; nil if somebody else holds it.
    private func lock(suffix: String) throws -> Int32? {
        let target = file(resolvedPath)
        try target.makeDirectory()
        let path = "\(target.path).\(suffix)"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be locked") }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            defer { close(descriptor) }
            if errno == EWOULDBLOCK { return nil }
            throw failure("cannot be locked")
        }
        return descriptor
    }

    /// The path without links, also if the file that a link points at is yet to be made.
    private var resolvedPath: String {
        var path = path
        for _ in 0..<16 {
            if let resolved = unsafe realpath(path, nil) {
                defer { unsafe free(resolved) }
                return unsafe String(cString: resolved)
            }
            guard let target = Self.target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(Directory.of(path))/\(target)"
        }
        return path
    }

    private static func target(ofLink path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe readlink(path, $0.baseAddress!, $0.count) }
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    private func makeDirectory() throws {
        if Directory.make(directory) != nil { throw failure("is in a directory that cannot be made") }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func failure(_ problem: String) -> Credentials.StoreError {
        let cause = unsafe String(cString: strerror(errno))
        return Credentials.StoreError("the token file \(path) \(problem): \(cause)")
    }
}

// The C functions under names that the methods above do not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}

extension PrivateFile.State {
    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
        size = Int64(status.st_size)
        #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        modifiedAt = Self.timestamp(modified)
        changedAt = Self.timestamp(changed)
    }

    /// Reads a time as two words: which C module owns the fields of `timespec` differs from build to build.
    private static func timestamp(_ time: timespec) -> Timestamp {
        unsafe withUnsafeBytes(of: time) { words in
            let seconds = unsafe words.load(as: Int.self)
            let nanoseconds = unsafe words.load(fromByteOffset: MemoryLayout<Int>.size, as: Int.self)
            return Timestamp(sinceEpoch: .seconds(seconds) + .nanoseconds(nanoseconds))
        }
    }
}
