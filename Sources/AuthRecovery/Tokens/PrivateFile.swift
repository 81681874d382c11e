#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that only its owner can read and that is only ever replaced as a whole.
struct PrivateFile: Sendable {
    let path: String

    private var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The bytes of the file; nil where there is none.
    func read(upTo limit: Int) throws -> [UInt8]? {
        // Not blocking: what is no file, such as a pipe, must not hold anybody up.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("cannot be opened") }
        defer { close(descriptor) }
        var status = stat()
        // The call fills the local value.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw TokenStoreError("the token file \(path) is no regular file")
        }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe systemRead(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("cannot be read") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else {
                throw TokenStoreError("the token file \(path) is larger than \(limit) bytes; it is no token file")
            }
        }
    }

    /// Replaces the file: a temporary one beside it is written, flushed and renamed over it.
    ///
    /// The caller holds the lock. The temporary file has one name, so that one that a crash has left behind, with
    /// secrets in it, goes with the next replacement.
    func replace(with bytes: [UInt8]) throws {
        // A link keeps pointing: what it points at is replaced.
        let target = PrivateFile(path: resolvedPath)
        try target.makeDirectory()
        let temporary = "\(target.path).tmp"
        unsafe unlink(temporary)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        var error: TokenStoreError?
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
    /// - Returns: What the function returned; nil where somebody else holds the lock, and nothing was run.
    func withLock<Result>(_ body: () throws -> Result) throws -> Result? {
        guard let descriptor = try lock(suffix: "lock") else { return nil }
        defer { close(descriptor) }
        return try body()
    }

    /// The file in which the lease of this one is written.
    var leaseFile: PrivateFile { PrivateFile(path: "\(resolvedPath).lease") }

    /// Locks a file beside this one.
    ///
    /// - Returns: The open file, which holds the lock until it is closed; nil where somebody else holds it.
    private func lock(suffix: String) throws -> Int32? {
        let target = PrivateFile(path: resolvedPath)
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

    /// The path without links, also where the file that a link points at is yet to be made.
    private var resolvedPath: String {
        var path = path
        for _ in 0..<16 {
            if let resolved = unsafe realpath(path, nil) {
                defer { unsafe free(resolved) }
                return unsafe String(cString: resolved)
            }
            guard let target = Self.target(ofLink: path) else { return path }
            path = target.hasPrefix("/") ? target : "\(PrivateFile(path: path).directory)/\(target)"
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
        var missing: [String] = []
        var folder = directory
        while unsafe access(folder, F_OK) != 0, folder != "/", folder != "." {
            missing.append(folder)
            folder = PrivateFile(path: folder).directory
        }
        for folder in missing.reversed() where unsafe mkdir(folder, 0o700) != 0 && errno != EEXIST {
            throw failure("is in a directory that cannot be made")
        }
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

    private func failure(_ problem: String) -> TokenStoreError {
        let cause = unsafe String(cString: strerror(errno))
        return TokenStoreError("the token file \(path) \(problem): \(cause)")
    }
}

// The C functions under names that the methods above do not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}
