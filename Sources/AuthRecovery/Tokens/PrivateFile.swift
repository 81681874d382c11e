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
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw failure("cannot be opened") }
        defer { close(descriptor) }
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
    func replace(with bytes: [UInt8]) throws {
        // A link keeps pointing: what it points at is replaced.
        let target = PrivateFile(path: resolvedPath)
        try target.makeDirectory()
        let temporary = "\(target.path).\(getpid()).\(UInt32.random(in: .min ... .max)).tmp"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be written") }
        do {
            try Self.write(bytes, to: descriptor, or: failure("cannot be written"))
            guard fsync(descriptor) == 0 else { throw failure("cannot be flushed to the disk") }
            guard close(descriptor) == 0 else { throw failure("cannot be written") }
        } catch {
            close(descriptor)
            unsafe unlink(temporary)
            throw error
        }
        guard unsafe rename(temporary, target.path) == 0 else {
            let error = failure("cannot be replaced")
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

    /// Runs the function while no other process does so for this file.
    func withExclusiveLock<Result>(_ body: () throws -> Result) throws -> Result {
        try makeDirectory()
        let descriptor = unsafe open("\(resolvedPath).lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("cannot be locked") }
        defer { close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("cannot be locked") }
        }
        return try body()
    }

    private var resolvedPath: String {
        guard let resolved = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
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

    private static func write(_ bytes: [UInt8], to descriptor: Int32, or failure: @autoclosure () -> TokenStoreError)
        throws
    {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            rest = rest.dropFirst(count)
        }
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
