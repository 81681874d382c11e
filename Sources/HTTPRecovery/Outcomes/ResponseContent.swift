/// What a response's body turns out to be, judged by its bytes: content types are wrong too often.
package enum ResponseContent: Sendable, Hashable {
    /// Nothing, or only whitespace.
    case empty
    /// A JSON text.
    case json(JSONValue)
    /// A page or another document with markup, so hardly the answer of an API.
    case markup
    /// Something else: plain text, broken or cut JSON, bytes.
    case other

    /// The most bytes that are parsed, in time and memory that grow with them and no faster.
    ///
    /// The answers of auth APIs are far smaller.
    package static let maximumLength = 1 << 24

    /// How much of a body a client waits for by default: what is longer may be the beginning of one that streams on.
    package static let bufferedLength = 1 << 20

    /// Judges a body.
    package init(_ body: [UInt8]) {
        var text = body[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop(while: \.isWhitespace)
        switch text.first {
        case nil: self = .empty
        case UInt8(ascii: "<"): self = .markup
        default:
            guard body.count <= Self.maximumLength, Self.mayBeWhole(text),
                let value = try? JSONValue(parsing: text)
            else {
                self = .other
                return
            }
            self = .json(value)
        }
    }

    /// Whether a text may be all of a body: nothing is parsed for a large one that ends in its middle.
    private static func mayBeWhole(_ text: ArraySlice<UInt8>) -> Bool {
        guard text.count > bufferedLength else { return true }
        let last = text.last { !$0.isWhitespace }
        switch text.first {
        case UInt8(ascii: "{"): return last == UInt8(ascii: "}")
        case UInt8(ascii: "["): return last == UInt8(ascii: "]")
        default: return false
        }
    }

    /// The JSON value, if the body is one.
    package var json: JSONValue? {
        if case .json(let value) = self { value } else { nil }
    }
}

extension String {
    /// The text, cut after so many bytes of UTF-8 at most: what a server calls a code or a message may be megabytes
    /// long, and so may a single character be that has many marks.
    package func bounded(to limit: Int) -> String {
        if utf8.count <= limit { return self }
        var end = utf8.index(startIndex, offsetBy: max(0, limit))
        // Not in the middle of a scalar.
        while end > startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
        return String(decoding: utf8[..<end], as: UTF8.self)
    }

    /// The text if there is any.
    package var nonEmpty: String? {
        isEmpty ? nil : self
    }

    /// The text if it may be shown to a person: there is one, and it is no bare code such as `signed_out`, `E0000004`
    /// or `invalidGrant`.
    package var sentence: String? {
        isEmpty || isBareCode ? nil : self
    }

    /// Whether the text is one word of the sort that programs use: with an underscore, a capital inside, or a letter and
    /// a number.
    private var isBareCode: Bool {
        var previous = UInt8(0)
        var hasJoint = false
        for byte in utf8 {
            guard byte.isToken || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/") else { return false }
            if byte == UInt8(ascii: "_") || byte.isUppercase && previous.isLowercase { hasJoint = true }
            previous = byte
        }
        let isNumbered = utf8.count > 4 && utf8.dropFirst().allSatisfy(\.isDigit) && utf8.first?.isDigit == false
        return hasJoint || isNumbered
    }
}
