import HTTPRecovery
import Testing

@testable import AuthSandbox

@Suite("Encodings and hashes")
struct EncodingTests {
    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func sha1VectorsOfFIPS180() {
        #expect(hex(SHA1.hash(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(hex(SHA1.hash([])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        #expect(hex(SHA1.hash(long)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
    }

    @Test func hmacVectorsOfRFC2202And4231() {
        let key = Array("Jefe".utf8)
        let text = Array("what do ya want for nothing?".utf8)
        #expect(hex(HMAC.sha1(text, key: key)) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(
            hex(HMAC.sha256(text, key: key)) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        )
    }

    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"), (20_000_000_000, "353130"),
        ] as [(Int64, String)]
    )
    func totpVectorsOfRFC6238(seconds: Int64, code: String) {
        let secret = Array("12345678901234567890".utf8)
        #expect(TOTP.code(secret: secret, step: TOTP.step(atMilliseconds: seconds * 1000)) == code)
    }

    @Test func base32OfRFC4648() {
        #expect(Base32.decode("MZXW6YTBOI======") == Array("foobar".utf8))
        #expect(Base32.decode("mzxw 6ytb-oi") == Array("foobar".utf8))
        #expect(Base32.decode("1") == nil)
        #expect(Base32.decode("") == nil)
    }

    @Test func jsonForPeopleIsTheSame() throws {
        let text = #"{"z":1,"a":[true,false,null,-0.5,"x\"\\\n\u00e9"],"m":{},"e":[]}"#
        let value = try JSONValue(parsing: text)
        #expect(try JSONValue(parsing: value.prettyText) == value)
        #expect(
            value.prettyText.hasPrefix("{\n  \"z\": 1,\n  \"a\": [\n    true,")
                && value.text.hasPrefix(#"{"z":1,"a":["#)
        )
    }

    @Test func whatIsNoJSONIsToldWithItsPlace() {
        let error = #expect(throws: SandboxError.self) { try JSONValue(document: Array("{\n  \"a\": x\n}".utf8)) }
        #expect(error?.message.hasPrefix("not JSON: line 2, column 8: ") == true)
    }

    @Test func formFieldsKeepRepetitionsAndTolerateDamage() {
        let fields = FormEncoding.fields(Array("a=1+2&b=%41%zz&b&=x&%e4%b8%ad=%".utf8))
        #expect(fields.map(\.name) == ["a", "b", "b", "", "中"])
        #expect(fields.map(\.value) == ["1 2", "A%zz", "", "x", "%"])
    }

    @Test(
        arguments: [
            (784_111_777_000, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
            (0, "Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
            (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT", "2000-02-29T00:00:00Z"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59Z"),
            (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT", "9999-12-31T23:59:59Z"),
            (Int64.min, "Sat, 01 Jan 0000 00:00:00 GMT", "0000-01-01T00:00:00Z"),
        ] as [(Int64, String, String)]
    )
    func dates(milliseconds: Int64, http: String, rfc3339: String) {
        #expect(Timestamp(milliseconds: milliseconds).httpDate == http)
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == rfc3339)
    }
}
