import HTTPRecovery
import HTTPRecoveryTesting
import Testing

@Suite("Bytes of a text")
struct BytesTests {
    @Test func classesAreThoseOfASCII() {
        for byte in UInt8.min...UInt8.max {
            let character = Character(Unicode.Scalar(byte))
            let isASCII = byte < 0x80
            #expect(byte.isDigit == "0123456789".contains(character))
            #expect(byte.isUppercase == (isASCII && character.isUppercase))
            #expect(byte.isLowercase == (isASCII && character.isLowercase))
            #expect(byte.isAlphanumeric == (isASCII && (character.isLetter || character.isNumber)))
            #expect(byte.isOWS == (character == " " || character == "\t"))
            #expect(byte.isWhitespace == (isASCII && character.isWhitespace && byte < 0x7F))
            #expect(byte.isToken == (byte.isAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(byte)))
            #expect(byte.hexDigitValue.map { Int($0) } == (isASCII ? character.hexDigitValue : nil))
        }
    }

    @Test(
        arguments: [
            ("", "", 0), ("abc", "", 0), ("", "a", nil), ("abc", "abc", 0), ("abc", "abcd", nil), ("aab", "ab", 1),
            ("ababac", "abac", 2), ("abcabc", "c", 2), ("ab", "c", nil), ("http://a", "://", 4),
            ("e\u{301}x", "x", 3), ("a\r\nb", "\n", 2), ("naïve", "ï", 2),
        ] as [(String, String, Int?)]
    )
    func aPartIsFoundWhereItStandsFirst(text: String, part: String, place: Int?) throws {
        let range = Array(text.utf8).range(of: part.utf8)
        #expect(range == place.map { $0..<($0 + part.utf8.count) })
        #expect(text.holds(part) == (place != nil))
        // The same places in the text itself and in a slice of it.
        let inText = text.utf8.range(of: part.utf8)
        #expect(inText.map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } == place)
        let slice = Array("xx\(text)".utf8).dropFirst(2)
        #expect(slice.range(of: part.utf8)?.lowerBound == place.map { $0 + 2 })
    }

    /// A character swallows marks behind it; a byte does not.
    @Test func marksBehindAWordDoNotHideIt() {
        #expect("locked\u{301}".holds("locked"))
    }

    @Test func whatIsFoundIsWhatTheLibraryFinds() {
        let random = Runtime.RandomSource(seed: 7)
        for _ in 0..<2_000 {
            let text = random.bytes(Int(random.bits() % 24)).map { $0 & 1 }
            let part = random.bytes(Int(random.bits() % 5)).map { $0 & 1 }
            let places = (0...text.count).filter { text[$0...].starts(with: part) }
            #expect(text.range(of: part)?.lowerBound == places.first)
        }
    }

    @Test(
        arguments: [
            ("", ""), ("   ", ""), ("a", "a"), (" a", "a"), ("a\t ", "a"), ("  a b\t", "a b"), ("\na\n", "\na\n"),
        ]
    )
    func spaceGoesAtBothEnds(text: String, trimmed: String) {
        #expect(Array(Array(text.utf8)[...].trimmingOWS) == Array(trimmed.utf8))
        #expect(String(Substring(text.utf8.trimming(\.isOWS))) == trimmed)
    }

    @Test func charactersCanBeTrimmedToo() {
        #expect("\u{2003}\r\n a b \u{A0}".trimming(\.isWhitespace) == "a b")
    }

    @Test(arguments: [("", ""), ("abc", "abc"), ("aBC", "abc"), ("ÄB", "äb")])
    func textsComeInLowerCase(text: String, lower: String) {
        #expect(text.inLowercase == lower)
    }
}
