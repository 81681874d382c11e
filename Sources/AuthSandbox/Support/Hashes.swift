import HTTPRecovery

/// SHA-1, for RFC 6238 alone.
enum SHA1 {
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var words = [UInt32](repeating: 0, count: 80)
        forEachBlock(of: message) { block in
            for index in 0..<16 { words[index] = block[index] }
            for index in 16..<80 {
                words[index] = rotateLeft(
                    words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16],
                    1
                )
            }
            var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
            for index in 0..<80 {
                let mixed: UInt32
                let constant: UInt32
                switch index {
                case 0..<20: (mixed, constant) = ((b & c) | (~b & d), 0x5A82_7999)
                case 20..<40: (mixed, constant) = (b ^ c ^ d, 0x6ED9_EBA1)
                case 40..<60: (mixed, constant) = ((b & c) | (b & d) | (c & d), 0x8F1B_BCDC)
                default: (mixed, constant) = (b ^ c ^ d, 0xCA62_C1D6)
                }
                let next = rotateLeft(a, 5) &+ mixed &+ e &+ constant &+ words[index]
                (a, b, c, d, e) = (next, a, rotateLeft(b, 30), c, d)
            }
            state[0] &+= a
            state[1] &+= b
            state[2] &+= c
            state[3] &+= d
            state[4] &+= e
        }
        return state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    private static func forEachBlock(of message: [UInt8], _ body: ([UInt32]) -> Void) {
        var padded = message + [0x80]
        padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
        let bits = UInt64(message.count) &* 8
        padded += stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> $0) }
        for start in stride(from: 0, to: padded.count, by: 64) {
            body(
                stride(from: start, to: start + 64, by: 4).map { at in
                    padded[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
                }
            )
        }
    }

    private static func rotateLeft(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word << count | word >> (32 - count)
    }
}

/// RFC 2104 over either hash.
enum HMAC {
    static func sha1(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        code(message, key: key, hash: SHA1.hash)
    }

    static func sha256(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        code(message, key: key) { SHA256.hash($0) }
    }

    private static func code(_ message: [UInt8], key: [UInt8], hash: ([UInt8]) -> [UInt8]) -> [UInt8] {
        // Both hashes work on blocks of 64 bytes.
        var block = key.count > 64 ? hash(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = hash(block.map { $0 ^ 0x36 } + message)
        return hash(block.map { $0 ^ 0x5C } + inner)
    }
}
