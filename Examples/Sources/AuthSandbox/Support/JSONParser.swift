/// Why a text is not JSON, and where.
struct JSONSyntaxError: Error, Equatable, CustomStringConvertible {
    let message: String
    let line: Int
    let column: Int

    var description: String { "line \(line), column \(column): \(message)" }
}

/// A strict JSON parser over bytes, bounded in depth; any input ends in a value or an error.
struct JSONParser {
    private static let maximumDepth = 64

    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Parses a whole document.
    static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
        var parser = JSONParser(bytes)
        parser.skipSpace()
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        if parser.position < bytes.count { throw parser.error("something follows the end of the document") }
        return value
    }

    /// Parses a whole document from a string.
    static func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue {
        try parse(Array(text.utf8))
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func error(_ message: String) -> JSONSyntaxError {
        let before = bytes[..<min(position, bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return JSONSyntaxError(message: message, line: line, column: before.count - lineStart + 1)
    }

    private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        if depth > Self.maximumDepth { throw error("nested deeper than \(Self.maximumDepth) levels") }
        guard let byte = current else { throw error("the document ends where a value is expected") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("not the beginning of a value")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw error("not the beginning of a value") }
        position += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipSpace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw error("a key in double quotes is expected") }
            let key = try string()
            skipSpace()
            guard current == UInt8(ascii: ":") else { throw error("a colon is expected after the key") }
            position += 1
            skipSpace()
            members.append(JSONValue.Member(key: key, value: try value(depth: depth + 1)))
            skipSpace()
            guard try another(close: UInt8(ascii: "}")) else { return .object(members) }
        }
    }

    private mutating func array(depth: Int) throws(JSONSyntaxError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipSpace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            skipSpace()
            elements.append(try value(depth: depth + 1))
            skipSpace()
            guard try another(close: UInt8(ascii: "]")) else { return .array(elements) }
        }
    }

    /// Steps over a comma (true) or over the closing bracket (false).
    private mutating func another(close: UInt8) throws(JSONSyntaxError) -> Bool {
        guard let byte = current, byte == close || byte == UInt8(ascii: ",") else {
            throw error("a comma or the closing bracket is expected")
        }
        position += 1
        return byte != close
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let integerStart = position
        skipDigits()
        guard position > integerStart else { throw error("a digit is expected") }
        if bytes[integerStart] == UInt8(ascii: "0"), position > integerStart + 1 {
            throw error("a number does not begin with a zero")
        }
        var isInteger = true
        if current == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            let fraction = position
            skipDigits()
            guard position > fraction else { throw error("a digit is expected") }
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            let exponent = position
            skipDigits()
            guard position > exponent else { throw error("a digit is expected") }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .int(integer) }
        guard let number = Double(text), number.isFinite else { throw error("the number is too large") }
        return .double(number)
    }

    private mutating func skipDigits() {
        while let byte = current, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        position += 1
        var out: [UInt8] = []
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: out, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &out)
            case 0..<0x20: throw error("a control character stands in a string")
            default: out.append(byte)
            }
        }
        throw error("the string has no end")
    }

    private mutating func escape(into out: inout [UInt8]) throws(JSONSyntaxError) {
        guard let byte = current else { throw error("the string has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): out.append(byte)
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "f"): out.append(0x0C)
        case UInt8(ascii: "n"): out.append(0x0A)
        case UInt8(ascii: "r"): out.append(0x0D)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(into: &out)
        default: throw error("an unknown escape")
        }
    }

    private mutating func unicodeEscape(into out: inout [UInt8]) throws(JSONSyntaxError) {
        let first = try fourHexDigits()
        var scalar = Unicode.Scalar(UInt32(first))
        if UTF16.isLeadSurrogate(first), bytes[position...].starts(with: "\\u".utf8) {
            let mark = position
            position += 2
            let second = try fourHexDigits()
            if UTF16.isTrailSurrogate(second) {
                scalar = UTF16.decode(UTF16.EncodedScalar([first, second]))
            } else {
                position = mark
            }
        }
        out.append(contentsOf: String(Character(scalar ?? "\u{FFFD}")).utf8)
    }

    private mutating func fourHexDigits() throws(JSONSyntaxError) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits are expected")
            }
            value = value << 4 | UInt16(digit)
            position += 1
        }
        return value
    }
}
