import HTTPRecovery
import Testing

@Suite("Hexadecimal and percent-encoding")
struct EncodingTests {
    @Test(arguments: [([], ""), ([0], "00"), ([0x0F, 0xF0], "0ff0"), ([0xDE, 0xAD, 0xBE, 0xEF], "deadbeef")])
    func bytesAreWrittenAsDigits(bytes: [UInt8], text: String) {
        #expect(Hexadecimal.encode(bytes) == text)
        #expect(Hexadecimal.decode(text.utf8) == bytes)
        #expect(Hexadecimal.decode(text.uppercased().utf8) == bytes)
    }

    @Test(arguments: ["0", "abc", "0g", " 0", "0x", "é0"])
    func whatIsNoneIsNotRead(text: String) {
        #expect(Hexadecimal.decode(text.utf8) == nil)
    }

    @Test func everyByteComesBack() {
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(Hexadecimal.decode(Hexadecimal.encode(bytes).utf8) == bytes)
        let escaped = PercentEncoding.encode(bytes) { $0.isAlphanumeric }
        let (decoded, isWhole) = PercentEncoding.decode(escaped.utf8)
        #expect(decoded == bytes && isWhole)
        #expect(escaped.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "%") })
    }

    @Test(arguments: [("", ""), ("a b", "a%20b"), ("ä/%", "%C3%A4%2F%25"), ("a-b", "a%2Db")])
    func whatIsNotKeptIsEscaped(text: String, escaped: String) {
        #expect(PercentEncoding.encode(text.utf8) { $0.isAlphanumeric } == escaped)
    }

    @Test(
        arguments: [
            ("", "", true), ("%41%5a%5A", "AZZ", true), ("a%", "a%", false), ("a%4", "a%4", false),
            ("%4g", "%4g", false), ("%%41", "%A", false), ("%25%34%31", "%41", true), ("+", "+", true),
            ("%+1", "%+1", false),
        ]
    )
    func escapesAreRead(text: String, bytes: String, isWhole: Bool) {
        let decoded = PercentEncoding.decode(text.utf8)
        #expect(decoded.bytes == Array(bytes.utf8))
        #expect(decoded.isWhole == isWhole)
    }

    @Test(
        arguments: [("/a", "/a?x=1"), ("/a?b", "/a?b&x=1"), ("", "?x=1"), ("/a?", "/a?&x=1"), ("/é", "/é?x=1")]
    )
    func aQueryGrows(path: String, result: String) {
        #expect(path.addingQuery("x=1") == result)
    }
}
