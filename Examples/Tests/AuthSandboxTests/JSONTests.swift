import Testing

@testable import AuthSandbox

@Suite("JSON")
struct JSONTests {
    @Test func keepsOrderAndKinds() throws {
        let text = #"{"z":1,"a":[true,false,null,-0.5,"x\"\\\n\u00e9\ud83d\ude00"],"m":{},"e":[]}"#
        let value = try JSONParser.parse(text)
        #expect(value["z"] == 1)
        #expect(value["a"]?[3]?.number == -0.5)
        #expect(value["a"]?[4]?.string == "x\"\\\né😀")
        #expect(try JSONParser.parse(value.text) == value)
        #expect(try JSONParser.parse(value.prettyText) == value)
        #expect(value.text.hasPrefix(#"{"z":1,"a":["#))
    }

    @Test(arguments: [
        "", "{", "[1,", "[1 2]", "{\"a\" 1}", "{a:1}", "tru", "01", "1.", "-", "1e", "\"a", "\"\\x\"", "\"\\u12\"",
        "\"\u{1}\"", "[] x", "1e999", "nan", "{\"a\":1,}", "[,]",
    ])
    func refuses(text: String) {
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(text) }
    }

    @Test func tellsWhere() {
        #expect {
            try JSONParser.parse("{\n  \"a\": x\n}")
        } throws: { error in
            (error as? JSONSyntaxError).map { $0.line == 2 && $0.column == 8 } ?? false
        }
    }

    @Test func boundsDepthAndSurvivesLoneSurrogates() throws {
        let deep = String(repeating: "[", count: 10_000)
        #expect(throws: JSONSyntaxError.self) { try JSONParser.parse(deep) }
        #expect(try JSONParser.parse(#""\ud83d""#).string == "\u{FFFD}")
        #expect(try JSONParser.parse(#""\ud83d\u0041""#).string == "\u{FFFD}A")
        #expect(try JSONParser.parse("99999999999999999999").number == 1e20)
    }

    @Test func neverTrapsOnRandomBytes() {
        var random = SeededGenerator(seed: 3)
        let alphabet = Array("{}[]\",:\\u0123456789.eE+-truefalsn \n\u{0}\u{FF}".utf8)
        for _ in 0..<5000 {
            let count = Int.random(in: 0..<40, using: &random)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
            if let value = try? JSONParser.parse(bytes) { #expect((try? JSONParser.parse(value.text)) != nil) }
        }
    }
}
