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

    /// The most bytes that are parsed; the answers of auth APIs are far smaller.
    package static let maximumLength = 1 << 20

    /// Judges a body.
    package init(_ body: [UInt8]) {
        var text = body[...]
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { text = text.dropFirst(3) }
        text = text.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        switch text.first {
        case nil: self = .empty
        case UInt8(ascii: "<"): self = .markup
        default:
            guard body.count <= Self.maximumLength, let value = try? JSONValue(parsing: text) else {
                self = .other
                return
            }
            self = .json(value)
        }
    }

    /// The JSON value, if the body is one.
    package var json: JSONValue? {
        if case .json(let value) = self { value } else { nil }
    }
}

extension String {
    /// The text, cut after so many characters: what a server calls a code or a message may be megabytes long.
    package func bounded(to limit: Int) -> String {
        utf8.count <= limit ? self : String(prefix(limit))
    }

    /// The text if there is any.
    package var nonEmpty: String? {
        isEmpty ? nil : self
    }
}
