#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// What tests do to files behind a program's back.
package enum Files {
    /// Writes a file; where an owner is given it is made his.
    package static func write(_ bytes: [UInt8] = [], to path: String, mode: mode_t = 0o600, owner: uid_t? = nil) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
        _ = unsafe bytes.withUnsafeBytes { unsafe systemWrite(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        setMode(mode, of: path)
        if let owner { _ = unsafe chown(path, owner, owner) }
    }

    /// The first 4 MiB of a file; empty where there is none.
    package static func read(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 22)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, $0.count) }
        return Array(bytes.prefix(max(0, count)))
    }

    package static func makeDirectory(_ path: String) { _ = unsafe mkdir(path, 0o700) }
    package static func setMode(_ mode: mode_t, of path: String) { _ = unsafe chmod(path, mode) }
    package static func remove(_ path: String) { _ = unsafe unlink(path) }
    package static func move(_ path: String, to other: String) { _ = unsafe rename(path, other) }

    /// Makes a link; where an owner is given it is made his.
    package static func link(_ path: String, to target: String, owner: uid_t? = nil) {
        _ = unsafe symlink(target, path)
        if let owner { _ = unsafe lchown(path, owner, owner) }
    }
}

// The C functions under names that the functions above do not hide.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(descriptor, buffer, count)
}
