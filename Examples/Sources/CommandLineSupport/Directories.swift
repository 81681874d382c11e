import Glibc

/// Makes directories.
public enum Directories {
    /// Makes the directories that a file's path names and that are missing, with mode 0750 as curl does it.
    ///
    /// - Throws: ``FileError`` for the first that cannot be made.
    public static func make(above path: String) throws(FileError) {
        let bytes = Array(path.utf8)
        for (index, byte) in bytes.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
            let directory = String(decoding: bytes[..<index], as: UTF8.self)
            guard unsafe mkdir(directory, 0o750) != 0, errno != EEXIST else { continue }
            throw FileError("made", directory, code: errno)
        }
    }
}
