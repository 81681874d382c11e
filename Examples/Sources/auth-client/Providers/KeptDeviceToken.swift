import AuthRecovery
import CommandLineSupport
import Glibc
import HTTPRecovery

/// What an org knows this device by, kept in a file.
enum KeptDeviceToken {
    /// How many characters an org takes.
    private static let length = 32

    /// Reads the file's token; without a file one is made and kept.
    ///
    /// - Throws: ``InputError`` for a file that holds none.
    static func read(_ path: String) throws -> Secret {
        guard unsafe access(path, F_OK) == 0 else { return try make(path) }
        let text = String(decoding: try StandardInput.contents(of: path), as: UTF8.self)
        let token = text.prefix { $0 != "\n" && $0 != "\r" }
        let isPlain = token.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "z")).contains(byte) && byte != UInt8(ascii: ";")
                || byte == UInt8(ascii: "-")
        }
        guard !token.isEmpty, isPlain, token.utf8.count <= 128 else {
            throw InputError("--device-token: \(path) holds no token of a device")
        }
        return Secret(String(token))
    }

    private static func make(_ path: String) throws -> Secret {
        let letters = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<length).map { _ in letters[Int.random(in: letters.indices, using: &generator)] }
        let file = try AtomicFile(path, mode: 0o600)
        try file.write((bytes + [UInt8(ascii: "\n")])[...])
        try file.commit()
        return Secret(String(decoding: bytes, as: UTF8.self))
    }
}
