/// A QR code (ISO/IEC 18004) of a text, in byte mode with the lowest error correction, as a screen needs it.
public struct QRCode: Sendable {
    /// The modules on a side, without the quiet zone.
    public let size: Int
    private var modules: [Bool]
    /// Modules that hold no data: finders, timing, alignment, format and version.
    private var isFixed: [Bool]

    /// The longest text in UTF-8 bytes: what version 15 holds.
    public static let longestText = 520

    /// Draws a text; nil for one that is too long.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        let version = (1...15).first { version in
            4 + (version < 10 ? 8 : 16) + 8 * bytes.count <= 8 * Blocks(version).dataCount
        }
        guard let version else { return nil }
        size = 17 + 4 * version
        modules = [Bool](repeating: false, count: size * size)
        isFixed = modules
        drawPatterns(version)
        drawData(Blocks(version).interleaved(Self.codewords(bytes, version)))
        let best = (0..<8).min { penalty(withMask: $0) < penalty(withMask: $1) } ?? 0
        apply(mask: best)
        drawFormat(mask: best)
    }

    /// Whether the module is dark; what lies outside is light.
    public subscript(x: Int, y: Int) -> Bool {
        guard (0..<size).contains(x), (0..<size).contains(y) else { return false }
        return modules[y * size + x]
    }

    /// The code as lines of text, two rows in each, light on a dark screen, with the quiet zone around it.
    public var lines: [String] {
        stride(from: -2, to: size + 2, by: 2).map { y in
            (-2..<size + 2).map { x in
                switch (self[x, y], self[x, y + 1]) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
        }
    }

    private mutating func set(_ x: Int, _ y: Int, _ isDark: Bool) {
        modules[y * size + x] = isDark
        isFixed[y * size + x] = true
    }

    // MARK: What does not depend on the text

    private mutating func drawPatterns(_ version: Int) {
        for index in 0..<size {
            set(6, index, index % 2 == 0)
            set(index, 6, index % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        let centers = Self.alignmentCenters(version, size)
        for x in centers {
            for y in centers {
                let isCorner = (x == 6 && y == 6) || (x == 6 && y == size - 7) || (x == size - 7 && y == 6)
                if !isCorner { drawAlignment(x, y) }
            }
        }
        drawFormat(mask: 0)
        drawVersion(version)
    }

    private mutating func drawFinder(_ centerX: Int, _ centerY: Int) {
        for dy in -4...4 {
            for dx in -4...4 {
                let (x, y, distance) = (centerX + dx, centerY + dy, max(abs(dx), abs(dy)))
                if (0..<size).contains(x), (0..<size).contains(y) { set(x, y, distance != 2 && distance != 4) }
            }
        }
    }

    private mutating func drawAlignment(_ centerX: Int, _ centerY: Int) {
        for dy in -2...2 {
            for dx in -2...2 { set(centerX + dx, centerY + dy, max(abs(dx), abs(dy)) != 1) }
        }
    }

    private static func alignmentCenters(_ version: Int, _ size: Int) -> [Int] {
        guard version > 1 else { return [] }
        let count = version / 7 + 2
        let step = (version * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).map { size - 7 - $0 * step }.reversed()
    }

    private mutating func drawFormat(mask: Int) {
        // Level L is 01; the ten bits behind it are the remainder of a division (section 7.9).
        let data = 1 << 3 | mask
        var remainder = data
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (data << 10 | remainder) ^ 0x5412
        func bit(_ index: Int) -> Bool { bits >> index & 1 == 1 }
        for index in 0...5 { set(8, index, bit(index)) }
        set(8, 7, bit(6))
        set(8, 8, bit(7))
        set(7, 8, bit(8))
        for index in 9..<15 { set(14 - index, 8, bit(index)) }
        for index in 0..<8 { set(size - 1 - index, 8, bit(index)) }
        for index in 8..<15 { set(8, size - 15 + index, bit(index)) }
        set(8, size - 8, true)
    }

    private mutating func drawVersion(_ version: Int) {
        guard version >= 7 else { return }
        var remainder = version
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1f25 }
        let bits = version << 12 | remainder
        for index in 0..<18 {
            let (a, b) = (size - 11 + index % 3, index / 3)
            set(a, b, bits >> index & 1 == 1)
            set(b, a, bits >> index & 1 == 1)
        }
    }

    // MARK: The text

    /// The data codewords: mode, length, text, and what fills the rest.
    private static func codewords(_ bytes: [UInt8], _ version: Int) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for index in (0..<count).reversed() { bits.append(value >> index & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, version < 10 ? 8 : 16)
        for byte in bytes { append(Int(byte), 8) }
        let capacity = 8 * Blocks(version).dataCount
        bits += [Bool](repeating: false, count: min(4, capacity - bits.count))
        bits += [Bool](repeating: false, count: (8 - bits.count % 8) % 8)
        var words = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        while words.count < capacity / 8 {
            words.append(0xec)
            if words.count < capacity / 8 { words.append(0x11) }
        }
        return words
    }

    /// Writes the codewords in columns of two, up and down in turns, from the right (section 7.7.3).
    private mutating func drawData(_ words: [UInt8]) {
        var index = 0
        for right in stride(from: size - 1, through: 1, by: -2).map({ $0 <= 6 ? $0 - 1 : $0 }) {
            for step in 0..<size {
                let isUpward = (right + 1) & 2 == 0
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !isFixed[y * size + x] && index < words.count * 8 {
                    modules[y * size + x] = words[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
        }
    }

    private mutating func apply(mask: Int) {
        for y in 0..<size {
            for x in 0..<size where !isFixed[y * size + x] && Self.isInverted(mask, x, y) {
                modules[y * size + x].toggle()
            }
        }
    }

    private static func isInverted(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// How hard the code would be to read (section 7.8.3).
    private func penalty(withMask mask: Int) -> Int {
        var code = self
        code.apply(mask: mask)
        code.drawFormat(mask: mask)
        var sum = 0
        for a in 0..<size {
            sum += code.penalty(of: (0..<size).map { code[$0, a] }) + code.penalty(of: (0..<size).map { code[a, $0] })
        }
        for y in 0..<size - 1 {
            for x in 0..<size - 1 {
                let isDark = code[x, y]
                if code[x + 1, y] == isDark, code[x, y + 1] == isDark, code[x + 1, y + 1] == isDark { sum += 3 }
            }
        }
        let dark = code.modules.count(where: \.self)
        return sum + abs(dark * 20 - modules.count * 10) / modules.count * 10
    }

    /// Long runs, and what looks like a finder, in a row or a column.
    private func penalty(of line: [Bool]) -> Int {
        var (sum, run) = (0, 1)
        for index in 1..<size {
            run = line[index] == line[index - 1] ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
        }
        let finder = [true, false, true, true, true, false, true]
        for start in 0...(size - 7) where Array(line[start..<start + 7]) == finder {
            func isLight(_ range: Range<Int>) -> Bool { range.allSatisfy { !line.indices.contains($0) || !line[$0] } }
            if isLight(start - 4..<start) || isLight(start + 7..<start + 11) { sum += 40 }
        }
        return sum
    }
}

/// How a version's codewords are split up for error correction at level L.
private struct Blocks {
    private static let correction = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22]
    private static let counts = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6]

    private let count: Int
    private let correctionLength: Int
    private let total: Int

    init(_ version: Int) {
        count = Self.counts[version - 1]
        correctionLength = Self.correction[version - 1]
        var modules = (16 * version + 128) * version + 64
        if version >= 2 {
            let centers = version / 7 + 2
            modules -= (25 * centers - 10) * centers - 55
            if version >= 7 { modules -= 36 }
        }
        total = modules / 8
    }

    /// How many codewords are data.
    var dataCount: Int { total - count * correctionLength }

    /// The data with its error correction, a codeword of each block in turns.
    func interleaved(_ data: [UInt8]) -> [UInt8] {
        let short = dataCount / count
        let longBlocks = dataCount % count
        var start = 0
        let blocks: [ArraySlice<UInt8>] = (0..<count).map { index in
            let length = short + (index >= count - longBlocks ? 1 : 0)
            defer { start += length }
            return data[start..<start + length]
        }
        let divisor = ReedSolomon.divisor(correctionLength)
        let corrections = blocks.map { ReedSolomon.remainder(of: $0, by: divisor) }
        var result: [UInt8] = []
        for index in 0...short {
            for block in blocks where index < block.count { result.append(block[block.startIndex + index]) }
        }
        for index in 0..<correctionLength { result += corrections.map { $0[index] } }
        return result
    }
}

/// Arithmetic on bytes as polynomials modulo x^8 + x^4 + x^3 + x^2 + 1.
private enum ReedSolomon {
    static func divisor(_ degree: Int) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: degree)
        result[degree - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in 0..<degree {
                result[index] = product(result[index], root)
                if index + 1 < degree { result[index] ^= result[index + 1] }
            }
            root = product(root, 2)
        }
        return result
    }

    static func remainder(of data: ArraySlice<UInt8>, by divisor: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: divisor.count)
        for byte in data {
            let factor = byte ^ result.removeFirst()
            result.append(0)
            for index in divisor.indices { result[index] ^= product(divisor[index], factor) }
        }
        return result
    }

    private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result = 0
        for index in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11d
            result ^= Int(b >> index & 1) * Int(a)
        }
        return UInt8(truncatingIfNeeded: result)
    }
}
