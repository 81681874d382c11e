#if Cryptography
/// Writes the deterministic CBOR that authenticators speak (CTAP 2.1 section 8, RFC 8949 section 4.2).
struct CBORWriter {
    private(set) var bytes: [UInt8] = []

    mutating func integer(_ value: Int) {
        if value >= 0 { head(0, UInt64(value)) } else { head(1, UInt64(-1 - value)) }
    }

    mutating func byteString(_ value: [UInt8]) {
        head(2, UInt64(value.count))
        bytes += value
    }

    mutating func text(_ value: String) {
        head(3, UInt64(value.utf8.count))
        bytes += Array(value.utf8)
    }

    /// Begins a map of so many pairs; the caller writes them in canonical order.
    mutating func map(_ count: Int) {
        head(5, UInt64(count))
    }

    private mutating func head(_ major: UInt8, _ value: UInt64) {
        let type = major << 5
        switch value {
        case 0..<24: bytes.append(type | UInt8(value))
        case 24...0xFF: bytes += [type | 24, UInt8(value)]
        case 0x100...0xFFFF: append(type | 25, value, 2)
        case 0x1_0000...0xFFFF_FFFF: append(type | 26, value, 4)
        default: append(type | 27, value, 8)
        }
    }

    private mutating func append(_ first: UInt8, _ value: UInt64, _ count: Int) {
        bytes.append(first)
        for index in (0..<count).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(index * 8))) }
    }
}
#endif
