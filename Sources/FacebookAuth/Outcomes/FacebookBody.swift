import HTTPRecovery

/// The body of an answer, taken out of what Facebook wraps around it.
enum FacebookBody {
    /// Nothing.
    case empty
    /// A JSON value.
    case json(JSONValue)
    /// A page.
    case markup
    /// A text that is not JSON.
    case text(String)
    /// Something else: bytes, a cut value, more than is parsed.
    case other

    init(_ content: ResponseContent, _ bytes: [UInt8]) {
        switch content {
        case .empty: self = .empty
        case .json(let value): self = Self.of(value)
        case .markup: self = .markup
        case .other: self = Self.unwrapped(bytes)
        }
    }

    /// The JSON value, if the body is one.
    var json: JSONValue? {
        if case .json(let value) = self { value } else { nil }
    }

    /// A value; a text that stands alone is one however it is wrapped.
    private static func of(_ value: JSONValue) -> FacebookBody {
        if case .string(let text) = value { .text(text) } else { .json(value) }
    }

    /// A call of a function with the answer as its argument (`/**/ cb({…});`), or a loop before it that keeps other
    /// pages from reading it (`for (;;);{…}`).
    private static func unwrapped(_ bytes: [UInt8]) -> FacebookBody {
        guard bytes.count <= ResponseContent.maximumLength else { return .other }
        var rest = bytes.drop(while: \.isWhitespace)
        if let behind = rest.dropping(loop: ["for", "(", ";", ";", ")", ";"]) {
            return (try? JSONValue(parsing: behind)).map { of($0) } ?? text(bytes)
        }
        if rest.starts(with: "/**/".utf8) { rest = rest.dropFirst(4).drop(while: \.isWhitespace) }
        let name = rest.prefix { isNameByte($0) }
        let behind = rest.dropFirst(name.count).drop(while: \.isWhitespace)
        guard !name.isEmpty, behind.first == UInt8(ascii: "("), let end = behind.lastIndex(of: UInt8(ascii: ")")),
            behind[(end + 1)...].allSatisfy({ $0 == UInt8(ascii: ";") || $0.isWhitespace }),
            let value = try? JSONValue(parsing: behind[(behind.startIndex + 1)..<end])
        else { return text(bytes) }
        return of(value)
    }

    private static func text(_ bytes: [UInt8]) -> FacebookBody {
        guard bytes.count <= 65_536, let text = String(validating: bytes, as: UTF8.self) else { return .other }
        return .text(text)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "_$.[]".utf8.contains(byte)
    }
}

extension ArraySlice<UInt8> {
    /// What stands behind the parts, with any space between them; nil if they do not stand here.
    fileprivate func dropping(loop parts: [String]) -> ArraySlice<UInt8>? {
        var rest = self
        for part in parts {
            rest = rest.drop(while: \.isWhitespace)
            guard rest.starts(with: part.utf8) else { return nil }
            rest = rest.dropFirst(part.utf8.count)
        }
        return rest
    }
}

extension FacebookBody {
    /// Whether a text says that the server is out of order, as gateways do.
    static func speaksOfOutage(_ text: String) -> Bool {
        let text = text.prefix(1024).lowercased()
        return outageTexts.contains { text.holds($0) }
    }

    private static let outageTexts = [
        "service unavailable", "temporarily unavailable", "bad gateway", "gateway time", "internal server error",
        "something went wrong", "service is down",
    ]

    /// Whether a page is the one that Facebook shows when it fails.
    static func isErrorPage(_ bytes: [UInt8]) -> Bool {
        let page = String(decoding: bytes.prefix(16_384), as: UTF8.self).lowercased()
        return page.holds("<title>facebook | error") || page.holds("sorry, something went wrong")
    }
}

extension JSONValue {
    /// A truth value, also as a number or a text.
    var looseBool: Bool? {
        if let bool { return bool }
        switch codeText?.lowercased() {
        case "1", "true": return true
        case "0", "false": return false
        default: return nil
        }
    }
}
