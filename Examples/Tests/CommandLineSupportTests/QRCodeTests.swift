import CommandLineSupport
import Testing

/// Codes for cameras.
@Suite struct QRCodeTests {
    /// Reads a code back: format, mask, columns, blocks, text.
    ///
    /// No error is corrected, so none may be there.
    private static func text(of code: QRCode, version: Int, blocks: [Int]) throws -> String {
        let size = code.size
        #expect(size == 17 + 4 * version)
        // The format stands along the first finder; its mask is bits 12 to 10.
        let format = (0..<15).reduce(0) { bits, index in
            let (x, y) = index < 6 ? (8, index) : index < 8 ? (8, index + 1) : index < 9 ? (7, 8) : (14 - index, 8)
            return bits | (code[x, y] ? 1 : 0) << index
        }
        let mask = (format ^ 0x5412) >> 10 & 7
        #expect((format ^ 0x5412) >> 13 == 1, "level L")
        let rules: [(Int, Int) -> Bool] = [
            { ($0 + $1) % 2 == 0 }, { $1 % 2 == 0 }, { x, _ in x % 3 == 0 }, { ($0 + $1) % 3 == 0 },
            { ($0 / 3 + $1 / 2) % 2 == 0 }, { $0 * $1 % 2 + $0 * $1 % 3 == 0 },
            { ($0 * $1 % 2 + $0 * $1 % 3) % 2 == 0 }, { (($0 + $1) % 2 + $0 * $1 % 3) % 2 == 0 },
        ]
        let centers = version == 1 ? [] : version < 7 ? [6, size - 7] : [6, size / 2, size - 7]
        func isFunction(_ x: Int, _ y: Int) -> Bool {
            if x == 6 || y == 6 { return true }
            if x < 9 && y < 9 || x < 9 && y >= size - 8 || x >= size - 8 && y < 9 { return true }
            if version >= 7, x >= size - 11 && y < 6 || y >= size - 11 && x < 6 { return true }
            return centers.contains { a in
                centers.contains { b in
                    let isCorner = a == 6 && b == 6 || a == 6 && b == size - 7 || a == size - 7 && b == 6
                    return !isCorner && abs(x - a) <= 2 && abs(y - b) <= 2
                }
            }
        }
        var bits: [Bool] = []
        var isUpward = true
        var right = size - 1
        while right > 0 {
            if right == 6 { right = 5 }
            for step in 0..<size {
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !isFunction(x, y) { bits.append(code[x, y] != rules[mask](x, y)) }
            }
            isUpward.toggle()
            right -= 2
        }
        let words = (0..<bits.count / 8).map { word in
            (0..<8).reduce(0) { $0 << 1 | (bits[word * 8 + $1] ? 1 : 0) }
        }
        // A word of each block in turns; the longer blocks are the last.
        var parts = [[Int]](repeating: [], count: blocks.count)
        var next = 0
        for index in 0..<(blocks.max() ?? 0) {
            for block in blocks.indices where index < blocks[block] {
                parts[block].append(words[next])
                next += 1
            }
        }
        let stream = parts.flatMap(\.self).flatMap { word in (0..<8).map { word >> (7 - $0) & 1 } }
        func number(_ range: Range<Int>) -> Int { stream[range].reduce(0) { $0 << 1 | $1 } }
        #expect(number(0..<4) == 4, "bytes")
        let start = version < 10 ? 12 : 20
        let count = number(4..<start)
        let bytes = (0..<count).map { UInt8(number(start + 8 * $0..<start + 8 * $0 + 8)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        ("hello", 1, [19]), ("é✓ ü", 1, [19]),
        ("otpauth://totp/Acme:ada@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Acme", 4, [80]),
        (String(repeating: "abc", count: 40), 6, [68, 68]), (String(repeating: "0123", count: 37), 7, [78, 78]),
        (String(repeating: "x", count: 271), 10, [68, 68, 69, 69]),
    ])
    func whatIsWrittenIsRead(_ text: String, _ version: Int, _ blocks: [Int]) throws {
        let code = try #require(QRCode(text))
        #expect(try Self.text(of: code, version: version, blocks: blocks) == text)
    }

    /// A code that two other programs have read.
    @Test func linesAreLightOnDark() throws {
        let lines = try #require(QRCode("hello")).lines
        #expect(lines.count == 13 && lines.allSatisfy { $0.count == 25 })
        #expect(lines[0] == String(repeating: "█", count: 25))
        #expect(lines[1].hasPrefix("██ ▄▄▄▄▄ █") && lines[1].hasSuffix("█ ▄▄▄▄▄ ██"))
    }

    @Test func whatIsTooLongIsNotDrawn() {
        #expect(QRCode(String(repeating: "x", count: QRCode.longestText)) != nil)
        #expect(QRCode(String(repeating: "x", count: QRCode.longestText + 1)) == nil)
    }
}
