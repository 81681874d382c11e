extension JSONValue {
    /// Why a text is not JSON.
    public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
        /// What is wrong.
        public let problem: String
        /// The offset of the byte at which it was noticed.
        public let offset: Int

        /// What is wrong and where.
        public var description: String { "\(problem) at byte \(offset)" }
    }
}

extension JSONValue {
    /// Parses a JSON text (RFC 8259), in time and memory proportional to its length.
    ///
    /// Invalid UTF-8 inside a string is repaired with U+FFFD, as a lone surrogate escape is: a broken text in one
    /// member should not hide the others. A byte order mark at the start is skipped.
    ///
    /// - Parameters:
    ///   - bytes: The text.
    ///   - maximumDepth: The deepest nesting to accept.
    /// - Throws: ``JSONValue/ParseError`` when the text is not JSON or is nested too deeply.
    public init(parsing bytes: some Collection<UInt8>, maximumDepth: Int = 128) throws(JSONValue.ParseError) {
        var parser = JSONParser(bytes: Array(bytes), maximumDepth: maximumDepth)
        self = try parser.parseDocument()
    }

    /// Parses a JSON text from a string.
    public init(parsing text: String) throws(JSONValue.ParseError) {
        try self.init(parsing: Array(text.utf8))
    }
}

/// A recursive-descent parser over bytes; the recursion is bounded by `maximumDepth`.
struct JSONParser {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var position = 0

    init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    mutating func parseDocument() throws(JSONValue.ParseError) -> JSONValue {
        let value = try parseValue(depth: 0)
        skipWhitespace()
        guard position == bytes.count else { throw failure("there is more after the value") }
        return value
    }

    private func failure(_ problem: String) -> JSONValue.ParseError {
        JSONValue.ParseError(problem: problem, offset: position)
    }

    private var current: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private mutating func skipWhitespace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func parseValue(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        guard depth <= maximumDepth else { throw failure("the nesting is deeper than \(maximumDepth)") }
        skipWhitespace()
        switch current {
        case UInt8(ascii: "{"): return try parseObject(depth: depth)
        case UInt8(ascii: "["): return try parseArray(depth: depth)
        case UInt8(ascii: "\""): return .string(try parseString())
        case UInt8(ascii: "t"): return try parseWord("true", .bool(true))
        case UInt8(ascii: "f"): return try parseWord("false", .bool(false))
        case UInt8(ascii: "n"): return try parseWord("null", .null)
        case .some(let byte) where byte == UInt8(ascii: "-") || byte.isDigit: return try parseNumber()
        case nil: throw failure("the text ends where a value should be")
        default: throw failure("no value begins here")
        }
    }

    private mutating func parseWord(_ word: StaticString, _ value: JSONValue) throws(JSONValue.ParseError) -> JSONValue
    {
        for expected in word.description.utf8 {
            guard current == expected else { throw failure("no value begins here") }
            position += 1
        }
        return value
    }

    private mutating func parseObject(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        position += 1
        var members: [JSONValue.Member] = []
        skipWhitespace()
        if current == UInt8(ascii: "}") {
            position += 1
            return .object(members)
        }
        while true {
            skipWhitespace()
            guard current == UInt8(ascii: "\"") else { throw failure("a member's name should be here") }
            let key = try parseString()
            skipWhitespace()
            guard current == UInt8(ascii: ":") else { throw failure("a colon should be here") }
            position += 1
            members.append(JSONValue.Member(key, try parseValue(depth: depth + 1)))
            if try !parseSeparator(closing: UInt8(ascii: "}")) { return .object(members) }
        }
    }

    private mutating func parseArray(depth: Int) throws(JSONValue.ParseError) -> JSONValue {
        position += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        if current == UInt8(ascii: "]") {
            position += 1
            return .array(elements)
        }
        while true {
            elements.append(try parseValue(depth: depth + 1))
            if try !parseSeparator(closing: UInt8(ascii: "]")) { return .array(elements) }
        }
    }

    /// Reads a comma (true) or the closing bracket (false).
    private mutating func parseSeparator(closing: UInt8) throws(JSONValue.ParseError) -> Bool {
        skipWhitespace()
        guard let byte = current, byte == UInt8(ascii: ",") || byte == closing else {
            throw failure("a comma or a closing bracket should be here")
        }
        position += 1
        return byte != closing
    }

    private mutating func parseNumber() throws(JSONValue.ParseError) -> JSONValue {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
        } else {
            try parseDigits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try parseDigits()
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try parseDigits()
        }
        return .number(JSONValue.Number(validated: String(decoding: bytes[start..<position], as: UTF8.self)))
    }

    private mutating func parseDigits() throws(JSONValue.ParseError) {
        guard let first = current, first.isDigit else { throw failure("a digit should be here") }
        while let byte = current, byte.isDigit { position += 1 }
    }

    private mutating func parseString() throws(JSONValue.ParseError) -> String {
        position += 1
        let start = position
        while let byte = current, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if current == UInt8(ascii: "\"") {
            defer { position += 1 }
            return String(decoding: bytes[start..<position], as: UTF8.self)
        }
        var text = Array(bytes[start..<position])
        while let byte = current {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try parseEscape(into: &text)
            case 0..<0x20: throw failure("a control character stands in a string")
            default: text.append(byte)
            }
        }
        throw failure("the text ends inside a string")
    }

    private mutating func parseEscape(into text: inout [UInt8]) throws(JSONValue.ParseError) {
        guard let byte = current else { throw failure("the text ends inside a string") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(Character(try parseUnicodeEscape())).utf8)
        default: throw failure("an unknown escape stands in a string")
        }
    }

    private mutating func parseUnicodeEscape() throws(JSONValue.ParseError) -> Unicode.Scalar {
        let first = try parseHex()
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        let resume = position
        if current == UInt8(ascii: "\\"), position + 1 < bytes.count, bytes[position + 1] == UInt8(ascii: "u") {
            position += 2
            let second = try parseHex()
            if (0xDC00..<0xE000).contains(second) {
                return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)) ?? "\u{FFFD}"
            }
        }
        position = resume
        return "\u{FFFD}"
    }

    private mutating func parseHex() throws(JSONValue.ParseError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = byte.hexDigitValue else {
                throw failure("four hexadecimal digits should be here")
            }
            value = value << 4 + UInt32(digit)
            position += 1
        }
        return value
    }
}
