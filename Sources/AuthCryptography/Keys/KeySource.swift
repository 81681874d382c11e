#if Cryptography
import AuthRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the caller keeps keys: files that only their owner can read, and the environment.
enum KeySource {
    /// No key in any usual form is longer.
    private static let limit = 65_536

    /// The text of an environment variable; nil if it is not set or empty.
    static func environment(_ variable: String) -> Secret? {
        guard let text = unsafe getenv(variable) else { return nil }
        let secret = Secret(unsafe String(cString: text))
        return secret.isEmpty ? nil : secret
    }

    /// The bytes of a file that only its owner can read.
    static func privateFile(_ path: String) throws(KeySourceError) -> [UInt8] {
        // Not to be held up by a pipe in the file's place.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(path, "cannot be opened: \(systemError)") }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0 else {
            throw failure(path, "cannot be examined: \(systemError)")
        }
        guard information.st_mode & S_IFMT == S_IFREG else { throw failure(path, "is not a regular file") }
        guard information.st_uid == geteuid() || information.st_uid == 0 else {
            throw failure(path, "belongs to another user")
        }
        guard information.st_mode & 0o077 == 0 else {
            throw failure(path, "can be reached by others than its owner; change its mode to 0600 or 0400")
        }
        return try read(descriptor, path)
    }

    private static func read(_ descriptor: Int32, _ path: String) throws(KeySourceError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe systemRead(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, "cannot be read: \(systemError)") }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= limit else { throw failure(path, "is larger than \(limit) bytes; it is no key") }
        }
    }

    private static var systemError: String {
        unsafe String(cString: strerror(errno))
    }

    private static func failure(_ path: String, _ problem: String) -> KeySourceError {
        KeySourceError(description: "the key file \(path) \(problem)")
    }
}

/// Why a key could not be had from where it is kept.
struct KeySourceError: Error {
    let description: String
}

// The C function under a name that the method above does not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}
#endif
