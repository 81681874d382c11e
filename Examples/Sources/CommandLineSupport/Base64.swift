/// Base64 (RFC 4648, section 4).
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text of the bytes, padded.
    public static func encode(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = 0
            for byte in group { bits = bits << 8 | Int(byte) }
            bits <<= 8 * (3 - group.count)
            for place in 0..<4 {
                let sextet = bits >> (18 - 6 * place) & 0x3f
                result.append(place <= group.count ? alphabet[sextet] : UInt8(ascii: "="))
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a text, which may be padded; nil if it holds anything else.
    public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var (result, bits, count): ([UInt8], Int, Int) = ([], 0, 0)
        var isPadded = false
        for byte in text {
            if byte == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            guard !isPadded, let sextet = alphabet.firstIndex(of: byte) else { return nil }
            bits = (bits << 6 | sextet) & 0xfff
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            result.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        // A single character stands for no byte.
        return count == 6 ? nil : result
    }
}
