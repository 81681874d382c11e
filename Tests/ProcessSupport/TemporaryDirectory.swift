#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// A directory of a test's own, removed with everything in it.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() {
        var template = Array("\(Self.base)/http-recovery-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe String(cString: mkdtemp(buffer.baseAddress!))
        }
    }

    private static var base: String {
        guard let variable = unsafe getenv("TMPDIR") else { return "/tmp" }
        return unsafe String(cString: variable)
    }

    deinit {
        Self.remove(path)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, sorted.
    package var names: [String] { Self.names(in: path).sorted() }

    static func names(in path: String) -> [String] {
        guard let folder = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    private static func remove(_ path: String) {
        if mode(of: path) & S_IFMT == S_IFDIR {
            for name in names(in: path) { remove("\(path)/\(name)") }
            unsafe rmdir(path)
        } else {
            unsafe unlink(path)
        }
    }

    /// The mode of a file, with its type; links are not followed.
    package static func mode(of path: String) -> mode_t {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? information.st_mode : 0
    }

    /// The permission bits of a file.
    package static func permissions(of path: String) -> mode_t { mode(of: path) & 0o777 }

    /// Writes a file with a mode, whatever the umask says.
    package static func write(_ text: String, to path: String, mode: mode_t = 0o600) {
        write(Array(text.utf8), to: path, mode: mode)
    }

    /// Writes a file with a mode, whatever the umask says.
    package static func write(_ bytes: [UInt8], to path: String, mode: mode_t = 0o600) {
        guard let file = unsafe fopen(path, "w") else { return }
        unsafe fwrite(bytes, 1, bytes.count, file)
        unsafe fchmod(fileno(file), mode)
        unsafe fclose(file)
    }

    /// What a file holds; nil without one.
    package static func bytes(of path: String) -> [UInt8]? {
        guard let file = unsafe fopen(path, "r") else { return nil }
        defer { unsafe fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe fread(&buffer, 1, buffer.count, file)
        return Array(buffer.prefix(count))
    }

    /// What a file holds, as text; nil without one.
    package static func read(_ path: String) -> String? {
        bytes(of: path).map { String(decoding: $0, as: UTF8.self) }
    }
}
