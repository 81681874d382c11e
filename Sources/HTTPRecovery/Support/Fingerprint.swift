/// Tells secrets and names apart without showing them, alike in every process.
package enum Fingerprint {
    /// The first 128 bits of the text's SHA-256, in hexadecimal.
    package static func text(of text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        for byte in SHA256.hash(text.utf8).prefix(16) {
            result.append(digits[Int(byte >> 4)])
            result.append(digits[Int(byte & 15)])
        }
        return String(decoding: result, as: UTF8.self)
    }
}
