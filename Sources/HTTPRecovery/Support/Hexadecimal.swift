/// Bytes as hexadecimal digits, two each.
package enum Hexadecimal {
    /// The bytes in lower case.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.underestimatedCount)
        for byte in bytes { text += digits(of: byte) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text in either case; nil if it is none.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var high: UInt8?
        for byte in text {
            guard let digit = byte.hexDigitValue else { return nil }
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        return high == nil ? bytes : nil
    }

    /// The two digits of a byte; in lower case unless others are named.
    static func digits(of byte: UInt8, among digits: StaticString = "0123456789abcdef") -> [UInt8] {
        unsafe [digits.utf8Start[Int(byte >> 4)], digits.utf8Start[Int(byte & 15)]]
    }
}
