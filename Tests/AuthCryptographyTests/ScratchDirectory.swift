#if Cryptography
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A directory of a test's own, removed with the files in it.
final class ScratchDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/http-recovery-XXXXXX".utf8CString)
        path = unsafe template.withUnsafeMutableBufferPointer { buffer in
            unsafe String(cString: mkdtemp(buffer.baseAddress!))
        }
    }

    deinit {
        for name in ["key", "link", "pipe", "tokens.json", "tokens.json.lock"] { unsafe unlink(file(name)) }
        unsafe rmdir(path)
    }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o600) {
        let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC, mode)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
        fchmod(descriptor, mode)
        close(descriptor)
    }

    func read(_ name: String) -> [UInt8] {
        let descriptor = unsafe open(file(name), O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return Array(buffer.prefix(max(0, count)))
    }
}
#endif
