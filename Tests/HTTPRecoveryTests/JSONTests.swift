import HTTPRecovery
import Testing

@Suite("JSON")
struct JSONTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "17", "-1.5e+10", "1E400", "\"\"", "\"a\"", "[]", "{}", "[1,[2,{}]]",
        #"{"a":1,"b":[true,null],"a":2}"#, "\"\u{1F600}\"",
    ])
    func whatIsReadIsWrittenAgain(text: String) throws {
        #expect(try JSONValue(parsing: text).description == text)
    }

    @Test(arguments: [
        (" \t\r\n{ \"a\" : [ 1 , 2 ] } \n", #"{"a":[1,2]}"#), ("\u{FEFF}1", "1"),
        (#""\u0041\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#, "\"Aé😀/\\u0008\\u000c\\n\\r\\t\\\"\\\\\""),
        // A lone surrogate is repaired, and what follows it is kept.
        (#""\ud83dx""#, "\"\u{FFFD}x\""), (#""\ud83d\u0041""#, "\"\u{FFFD}A\""), (#""\ude00""#, "\"\u{FFFD}\""),
    ])
    func otherSpellings(text: String, written: String) throws {
        #expect(try JSONValue(parsing: text).description == written)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "True", "nan", "NaN", "Infinity", "-", "+1", "01", "1.", ".5", "1e", "1e+", "0x1",
        "--1",
        "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\u{01}\"", "\"\n\"", "'a'", "[", "[1", "[1,",
        "[1,]",
        "[,]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}",
        "]", "}",
        "1 2", "{}{}", "// c", "\u{00A0}1",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: text) }
    }

    @Test func invalidUTF8IsRepairedWithinStringsOnly() throws {
        let bytes: [UInt8] = Array("[\"a".utf8) + [0xFF, 0xC0] + Array("b\"]".utf8)
        #expect(try JSONValue(parsing: bytes)[0]?.string?.hasSuffix("b") == true)
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: [0xFF, 0xFE] as [UInt8]) }
    }

    @Test func nestingIsBounded() throws {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: deep) }
        #expect(throws: JSONValue.ParseError.self) {
            try JSONValue(parsing: String(repeating: "{\"a\":", count: 100_000))
        }
        let fine = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(try JSONValue(parsing: fine).description == fine)
        #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: Array("[[1]]".utf8), maximumDepth: 1) }
    }

    @Test func errorsTellWhere() {
        let error = #expect(throws: JSONValue.ParseError.self) { try JSONValue(parsing: "[1,x]") }
        #expect(error?.offset == 3)
        #expect(error?.description == "no value begins here at byte 3")
    }

    @Test func theLastOfRepeatedMembersCounts() throws {
        let value = try JSONValue(parsing: #"{"a":1,"a":"x","b":{}}"#)
        #expect(value["a"]?.string == "x" && value["c"] == nil && value[0] == nil)
        #expect(value.members?.count == 3)
    }

    @Test func wrongTypesAreAbsent() {
        let value: JSONValue = ["t": "x", "n": 1, "b": true, "z": nil, "l": [1]]
        #expect(value["t"]?.number == nil && value["n"]?.string == nil && value["b"]?.array == nil)
        #expect(
            value["l"]?[1] == nil && value["l"]?[-1] == nil && value["l"]?["x"] == nil && value["z"]?.isNull == true
        )
        #expect(value["n"]?.codeText == "1" && value["t"]?.codeText == "x" && value["b"]?.codeText == nil)
        #expect(JSONValue.string("").codeText == nil)
    }

    @Test(arguments: [
        ("0", Int64(0)), ("-7", -7), ("9223372036854775807", .max), ("9223372036854775808", .max),
        ("-9223372036854775809", .min), ("1e400", .max), ("-1e400", .min), ("1.9", 1), ("-1.9", -1), ("1e3", 1000),
        ("1e-400", 0),
    ])
    func wholeNumbersSaturate(text: String, number: Int64) throws {
        #expect(try JSONValue(parsing: text).number?.saturatedInt == number)
    }

    @Test(arguments: [
        ("30", 30.0), ("-1", -1), ("0.5", 0.5), ("1e400", 9_223_372_036_854_776), ("-1e400", -9_223_372_036_854_776),
        ("99999999999999999999", 9_223_372_036_854_776),
    ])
    func secondsSaturate(text: String, seconds: Double) throws {
        #expect(try JSONValue(parsing: text).number?.seconds.inSeconds == seconds)
    }

    @Test func aMillionDigitsAreANumber() throws {
        let number = try #require(try JSONValue(parsing: String(repeating: "9", count: 1_000_000)).number)
        #expect(number.saturatedInt == .max && number.seconds == .longest)
    }

    @Test(arguments: [
        (Duration.zero, "0"), (.seconds(30), "30"), (.milliseconds(1500), "1.5"), (.milliseconds(20), "0.02"),
        (.nanoseconds(1), "0.000000001"), (.seconds(64) + .milliseconds(570), "64.57"), (.seconds(-1), "-1"),
        (.milliseconds(-20), "-0.02"), (.longest, "9223372036854775"), (.seconds(Int64.max), "9223372036854775"),
        (Duration(secondsComponent: 0, attosecondsComponent: 1), "0"),
    ])
    func durationsAreSecondsWithoutNeedlessFractions(duration: Duration, text: String) {
        #expect(JSONValue.Number(seconds: duration).text == text)
    }

    @Test(arguments: [(1.0, "1"), (0.5, "0.5"), (.nan, "0"), (.infinity, "1e308"), (-.infinity, "-1e308"), (-0.0, "0")])
    func floatingPointNumbersAreAlwaysJSON(value: Double, text: String) throws {
        #expect(JSONValue.Number(value).text == text)
        #expect(try JSONValue(parsing: JSONValue.Number(value).text).number != nil)
    }
}
