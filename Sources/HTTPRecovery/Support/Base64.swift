/// Base64 and its URL-safe form (RFC 4648), for what servers, keys and tokens carry.
package enum Base64 {
    /// The bytes of a Base64 text in either alphabet, with or without padding; nil when it is none.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer: UInt32 = 0
        var bits = 0
        var isPadded = false
        for byte in text {
            if byte == UInt8(ascii: "=") {
                isPadded = true
                continue
            }
            guard !isPadded, let value = value(of: byte) else { return nil }
            buffer = (buffer << 6 | value) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        // A single left-over character holds no whole byte.
        return bits >= 6 ? nil : bytes
    }

    /// The bytes as Base64 with padding (RFC 4648 section 4).
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = encode(bytes, last: "+/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        return text
    }

    /// The bytes in the URL-safe alphabet without padding (RFC 4648 section 5), as JOSE and PKCE write them.
    package static func encodeForURL(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes, last: "-_")
    }

    private static func encode(_ bytes: some Sequence<UInt8>, last: String) -> String {
        let alphabet = Array(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + last).utf8)
        var text: [UInt8] = []
        var buffer: UInt32 = 0
        var bits: UInt32 = 0
        for byte in bytes {
            buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(buffer >> bits & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << (6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
