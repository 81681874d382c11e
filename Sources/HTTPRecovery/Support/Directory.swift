#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The directories that files are kept in.
package enum Directory {
    /// The path of the directory that a path leads into.
    package static func of(_ path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Makes a directory, and those that it is in, if they are missing: for their owner alone.
    ///
    /// - Returns: The one that cannot be made, of which `errno` tells why; nil if all are there.
    package static func make(_ directory: String) -> String? {
        var missing: [String] = []
        var folder = directory
        while unsafe access(folder, F_OK) != 0, folder != "/", folder != "." {
            missing.append(folder)
            folder = of(folder)
        }
        return missing.reversed().first { unsafe mkdir($0, 0o700) != 0 && errno != EEXIST }
    }
}
