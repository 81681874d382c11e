#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory of a test's own, removed with everything in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
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

    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// The names in the directory, sorted.
    var names: [String] { Self.names(in: path).sorted() }

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
    static func mode(of path: String) -> mode_t {
        var information = stat()
        return unsafe lstat(path, &information) == 0 ? information.st_mode : 0
    }

    /// The permission bits of a file.
    static func permissions(of path: String) -> mode_t { mode(of: path) & 0o777 }

    static func write(_ text: String, to path: String, mode: mode_t = 0o600) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        fchmod(descriptor, mode)
        close(descriptor)
    }

    static func read(_ path: String) -> String? {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    }
}
