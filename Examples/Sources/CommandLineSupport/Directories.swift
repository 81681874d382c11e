import Glibc

/// Makes directories.
public enum Directories {
    /// Makes the directories that a file's path names and that are missing.
    ///
    /// - Parameters:
    ///   - path: The file's path.
    ///   - mode: Who may enter them. Default: 0750, as curl has it.
    /// - Throws: ``FileError`` for the first that cannot be made.
    public static func make(above path: String, mode: UInt32 = 0o750) throws(FileError) {
        let bytes = Array(path.utf8)
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
            let directory = String(decoding: bytes[..<index], as: UTF8.self)
            guard unsafe mkdir(directory, mode) != 0, errno != EEXIST else { continue }
            throw FileError("made", directory, code: errno)
        }
    }

    /// Checks that the directory is there that a file's path names.
    ///
    /// - Throws: ``FileError`` if it is not.
    public static func check(above path: String) throws(FileError) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return }
        let directory = String(path[..<slash])
        var status = stat()
        guard unsafe stat(directory, &status) == 0 else { throw FileError("written to", directory, code: errno) }
        if status.st_mode & S_IFMT != S_IFDIR { throw FileError("written to", directory, code: ENOTDIR) }
    }
}
