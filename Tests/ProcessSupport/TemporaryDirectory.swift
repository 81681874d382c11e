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
}
