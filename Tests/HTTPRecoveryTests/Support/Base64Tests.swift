import HTTPRecovery
import Testing

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The vectors of RFC 4648 section 10, both ways",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ]
    )
    func vectors(text: String, encoded: String) {
        #expect(Base64.encode(text.utf8) == encoded)
        #expect(Base64.decode(encoded.utf8) == Array(text.utf8))
        let bare = encoded.filter { $0 != "=" }
        #expect(Base64.encodeForURL(text.utf8) == bare)
        #expect(Base64.decode(bare.utf8) == Array(text.utf8))
    }

    @Test func theAlphabetsDifferInTwoCharacters() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0xFF]
        #expect(Base64.encode(bytes) == "++//")
        #expect(Base64.encodeForURL(bytes) == "--__")
        #expect(Base64.decode("++//".utf8) == bytes)
        #expect(Base64.decode("--__".utf8) == bytes)
    }

    @Test(arguments: ["a", "abcde", "ab c", "a=b", "é", "ab\n"])
    func whatIsNoneIsNotRead(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test func everyByteComesBack() {
        for length in 0..<260 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
            #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
            #expect(Base64.decode(Base64.encodeForURL(bytes).utf8) == bytes)
        }
    }
}
