/// Arithmetic modulo an odd number whose highest bit is set, in Montgomery's form: a residue stands for itself times a power of
/// the word.
struct ResidueRing {
    /// The lowest word first.
    private let modulus: [UInt64]
    /// What a multiple of the modulus is chosen by that makes the lowest word vanish.
    private let factor: UInt64
    /// One, and the number whose product with another brings that into the form.
    private let one: [UInt64]
    private let square: [UInt64]

    init(_ modulus: [UInt64]) {
        self.modulus = modulus
        // Newton's iteration: each step doubles the bits that are right.
        var inverse: UInt64 = 1
        for _ in 0..<6 { inverse = inverse &* (2 &- modulus[0] &* inverse) }
        factor = 0 &- inverse
        var power: [UInt64] = [1] + [UInt64](repeating: 0, count: modulus.count - 1)
        for _ in 0..<64 * modulus.count { power = Self.sum(power, power, modulus) }
        one = power
        for _ in 0..<64 * modulus.count { power = Self.sum(power, power, modulus) }
        square = power
    }

    /// A number of any length in the form.
    func residue(of number: [UInt64]) -> [UInt64] {
        let count = modulus.count
        let starts = stride(from: 0, to: number.count, by: count)
        return starts.reversed().reduce([UInt64](repeating: 0, count: count)) { high, start in
            let part = Array(number[start..<min(start + count, number.count)])
            let padded = part + [UInt64](repeating: 0, count: count - part.count)
            return Self.sum(multiply(high, square), multiply(padded, square), modulus)
        }
    }

    /// The number that stands for a residue.
    func value(of residue: [UInt64]) -> [UInt64] {
        multiply(residue, [1] + [UInt64](repeating: 0, count: modulus.count - 1))
    }

    func add(_ one: [UInt64], _ other: [UInt64]) -> [UInt64] {
        Self.sum(one, other, modulus)
    }

    func subtract(_ one: [UInt64], _ other: [UInt64]) -> [UInt64] {
        Self.sum(one, Self.difference(modulus, other).words, modulus)
    }

    func power(_ base: [UInt64], _ exponent: [UInt64]) -> [UInt64] {
        var result = one
        for word in exponent.reversed() {
            for bit in (0..<64).reversed() {
                result = multiply(result, result)
                if word >> UInt64(bit) & 1 == 1 { result = multiply(result, base) }
            }
        }
        return result
    }

    /// What a residue is multiplied with to be one, if the modulus is a prime (Fermat).
    func inverse(_ residue: [UInt64]) -> [UInt64] {
        let two: [UInt64] = [2] + [UInt64](repeating: 0, count: modulus.count - 1)
        return power(residue, Self.difference(modulus, two).words)
    }

    func multiply(_ one: [UInt64], _ other: [UInt64]) -> [UInt64] {
        let count = modulus.count
        var words = [UInt64](repeating: 0, count: count + 2)
        for index in 0..<count {
            Self.accumulate(one, times: other[index], into: &words)
            Self.accumulate(modulus, times: words[0] &* factor, into: &words)
            words.removeFirst()
            words.append(0)
        }
        return Self.reduced(words, modulus)
    }

    // MARK: Numbers

    /// A number by its bytes, the highest first.
    static func words(_ bytes: [UInt8]) -> [UInt64] {
        stride(from: bytes.count, to: 0, by: -8).map { end in
            bytes[max(0, end - 8)..<end].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// The product of two numbers.
    static func multiply(_ one: [UInt64], _ other: [UInt64]) -> [UInt64] {
        var words = [UInt64](repeating: 0, count: one.count + other.count)
        for (index, word) in other.enumerated() { accumulate(one, times: word, into: &words, at: index) }
        return words
    }

    /// The sum of two numbers, of the length of the longer one.
    static func add(_ one: [UInt64], _ other: [UInt64]) -> [UInt64] {
        var words = one + [UInt64](repeating: 0, count: max(0, other.count - one.count))
        accumulate(other, times: 1, into: &words)
        return words
    }

    /// Adds a multiple of a number to another, which has room for it.
    private static func accumulate(
        _ number: [UInt64],
        times factor: UInt64,
        into words: inout [UInt64],
        at start: Int = 0
    ) {
        var carry: UInt64 = 0
        for index in start..<words.count {
            let word = index - start < number.count ? number[index - start] : 0
            let (high, low) = word.multipliedFullWidth(by: factor)
            let (first, isOver) = words[index].addingReportingOverflow(low)
            let (second, isOverAgain) = first.addingReportingOverflow(carry)
            words[index] = second
            carry = high &+ (isOver ? 1 : 0) &+ (isOverAgain ? 1 : 0)
        }
    }

    /// The sum of two numbers below a modulus, below it.
    private static func sum(_ one: [UInt64], _ other: [UInt64], _ modulus: [UInt64]) -> [UInt64] {
        reduced(add(one + [0], other), modulus)
    }

    /// A number below twice the modulus, below it.
    private static func reduced(_ number: [UInt64], _ modulus: [UInt64]) -> [UInt64] {
        let (words, isBelow) = difference(number, modulus)
        return Array((isBelow ? number : words).prefix(modulus.count))
    }

    private static func difference(_ one: [UInt64], _ other: [UInt64]) -> (words: [UInt64], isBelow: Bool) {
        var (words, borrow) = (one, UInt64(0))
        for index in words.indices {
            let (left, right) = (words[index], index < other.count ? other[index] : 0)
            words[index] = left &- right &- borrow
            borrow = left < right || (left == right && borrow == 1) ? 1 : 0
        }
        return (words, borrow == 1)
    }
}
