import HTTPRecovery

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Damages bytes at random, the same way for the same seed: what a fuzz test feeds to a parser of network input.
public struct ByteMutator: Sendable {
    /// The most bytes that a damaged text has.
    private static let maximumLength = 4096

    private let random: Runtime.RandomSource

    /// Creates a mutator.
    ///
    /// - Parameter seed: What the damage depends on.
    public init(seed: UInt64) {
        random = Runtime.RandomSource(seed: seed)
    }

    /// How often a fuzz test tries: the number, or that many times as often if the environment has a `FUZZ_FACTOR`.
    ///
    /// - Parameter count: What is enough for each change of the code.
    /// - Returns: The number, times the factor (0.001 to 10,000, else 1), at least 1.
    public static func rounds(_ count: Int) -> Int {
        guard let text = unsafe getenv("FUZZ_FACTOR"), let factor = unsafe Double(String(cString: text)),
            (0.001...10_000).contains(factor)
        else { return count }
        return max(1, Int(exactly: (Double(count) * factor).rounded()) ?? count)
    }

    /// A random number in `0 ..< bound`; 0 for a bound below 1.
    public func below(_ bound: Int) -> Int {
        bound <= 1 ? 0 : Int(random.bits() % UInt64(bound))
    }

    /// A random element; the collection must have one.
    public func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// The text with one to four changes: something inserted, removed, replaced, cut off or repeated.
    public func mutate(_ text: some Collection<UInt8>) -> [UInt8] {
        var text = Array(text)
        for _ in 0...below(4) {
            let at = below(text.count + 1)
            switch below(7) {
            case 0: text.insert(contentsOf: pick(Self.morsels), at: at)
            case 1 where at < text.count: text.remove(at: at)
            case 2 where at < text.count: text[at] = UInt8(truncatingIfNeeded: below(256))
            case 3: text = Array(text.prefix(at))
            case 4: text = Array(text.dropFirst(at))
            case 5: text += text.prefix(at)
            default: text.insert(UInt8(truncatingIfNeeded: below(256)), at: at)
            }
            if text.count > Self.maximumLength { text = Array(text.prefix(Self.maximumLength)) }
        }
        return text
    }

    /// What parsers stumble over.
    private static let morsels: [[UInt8]] =
        [
            "nan", "1e400", "-1", "\"", "\\", ",", ";", "=", "\r", "\n", "\0", "\u{1F600}", "{", "[", "(", ":YQ==:",
            "99999999999999999999999", "0x10", " ", "\t", "Bearer", "GMT", "null", "\\ud83d", "<html>", "@1",
            "%\"%ff\"", "?1", "1.5", "-",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]]
}
