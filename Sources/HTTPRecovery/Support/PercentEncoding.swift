/// Bytes as `%` and two hexadecimal digits, if they may not stand for themselves (RFC 3986 section 2.1).
package enum PercentEncoding {
    /// The bytes, escaped but for those that are kept.
    package static func encode(_ bytes: some Sequence<UInt8>, keeping isKept: (UInt8) -> Bool) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            if isKept(byte) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text += Hexadecimal.digits(of: byte, among: "0123456789ABCDEF")
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that a text stands for, and whether each `%` in it begins an escape; one that does not stays as it is.
    package static func decode(_ text: some Collection<UInt8>) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        var isWhole = true
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            if let escaped = Hexadecimal.decode(rest.prefix(2))?.first {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
                isWhole = false
            }
        }
        return (bytes, isWhole)
    }
}

extension String {
    /// The path or URL with further items in its query.
    package func addingQuery(_ items: String) -> String {
        self + (utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + items
    }
}
