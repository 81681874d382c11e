/// Compressed data, made without a library: what `Content-Encoding: deflate` stands for (RFC 1950 and RFC 1951).
enum Zlib {
    /// Zeros at deflate's best: two bits for 258 of them.
    ///
    /// - Parameter runs: The number of zeros is one more than 258 times this.
    static func zeros(runs: Int) -> [UInt8] {
        var bits = Bits()
        // The last block, with codes of its own: 286 for literals and lengths, 1 for distances.
        bits.append(1, count: 1)
        bits.append(2, count: 2)
        bits.append(286 - 257, count: 5)
        bits.append(0, count: 5)
        bits.append(18 - 4, count: 4)
        // The lengths of the codes of code lengths, in their odd order: 18 has one bit, 2 and 1 have two.
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.append(length, count: 3) }
        let (one, two) = ([1, 0], [1, 1])
        func unused(_ count: Int) {
            bits.append(code: [0])
            bits.append(count - 11, count: 7)
        }
        bits.append(code: two)  // 0
        unused(138)
        unused(117)
        bits.append(code: two)  // 256, the end
        unused(28)
        bits.append(code: one)  // 285, 258 bytes
        bits.append(code: one)  // a distance of 1
        bits.append(code: [1, 0])
        for _ in 0..<(2 * runs) { bits.append(code: [0]) }
        bits.append(code: [1, 1])
        let count = 258 * runs + 1
        return [0x78, 0x9c] + bits.bytes + bigEndian(UInt32(count % 65_521) << 16 | 1)
    }

    /// Bytes as they are, in stored blocks.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x9c]
        var (low, high): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            low = (low + UInt32(byte)) % 65_521
            high = (high + low) % 65_521
        }
        for start in stride(from: 0, to: max(1, bytes.count), by: 65_535) {
            let block = bytes[start..<min(start + 65_535, bytes.count)]
            let length = UInt16(block.count)
            result.append(start + 65_535 >= bytes.count ? 1 : 0)
            result += [UInt8(truncatingIfNeeded: length), UInt8(length >> 8)]
            result += [UInt8(truncatingIfNeeded: ~length), UInt8(~length >> 8)]
            result += block
        }
        return result + bigEndian(high << 16 | low)
    }

    private static func bigEndian(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    private struct Bits {
        var bytes: [UInt8] = []
        private var free = 0

        /// A number, its lowest bit first.
        mutating func append(_ value: Int, count: Int) {
            for place in 0..<count { append(bit: value >> place & 1) }
        }

        /// A code, its highest bit first.
        mutating func append(code: [Int]) {
            for bit in code { append(bit: bit) }
        }

        private mutating func append(bit: Int) {
            if free == 0 {
                bytes.append(0)
                free = 8
            }
            if bit == 1 { bytes[bytes.count - 1] |= 1 << UInt8(8 - free) }
            free -= 1
        }
    }
}
