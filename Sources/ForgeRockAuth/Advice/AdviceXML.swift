import HTTPRecovery

/// The little XML in which advices travel:
/// `<Advices><AttributeValuePair><Attribute name="…"/><Value>…</Value></AttributeValuePair></Advices>`.
///
/// It is read byte by byte: a character of a `String` may join a mark to the quote or the semicolon before it.
enum AdviceXML {
    /// The longest text that is read, in bytes.
    private static let maximumLength = 65_536

    /// Reads the attributes; nil if the text is no such XML.
    static func parse(_ text: String) -> [PolicyAdvice.Attribute]? {
        var rest = Array(text.utf8.prefix(maximumLength))[...]
        var attributes: [PolicyAdvice.Attribute] = []
        var name: String?
        var values: [String] = []
        func close() {
            if let name, !values.isEmpty, attributes.count < 32 {
                attributes.append(PolicyAdvice.Attribute(name: name, values: values))
            }
            values = []
        }
        var isAdvice = false
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let tag = rest[..<end]
            rest = rest[(end + 1)...]
            let word = tag.split(whereSeparator: { " /\t\r\n".utf8.contains($0) }).first ?? []
            switch String(decoding: word, as: UTF8.self) {
            case "Advices": isAdvice = true
            case "AttributeValuePair":
                close()
                name = nil
            case "Attribute":
                close()
                name = attribute("name", of: tag)
            case "Value" where tag.first != UInt8(ascii: "/") && tag.last != UInt8(ascii: "/"):
                let value = unescape(rest.prefix { $0 != UInt8(ascii: "<") })
                if !value.isEmpty, values.count < 64 { values.append(value.bounded(to: 4096)) }
            default: break
            }
        }
        close()
        return isAdvice ? attributes : nil
    }

    private static func attribute(_ name: String, of tag: ArraySlice<UInt8>) -> String? {
        let parts = tag.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard parts.count == 2, parts[0].suffix(name.utf8.count).elementsEqual(name.utf8), let quote = parts[1].first,
            "\"'".utf8.contains(quote)
        else { return nil }
        let value = parts[1].dropFirst().prefix { $0 != quote }
        return value.isEmpty ? nil : unescape(value).bounded(to: 256)
    }

    private static let entities: [(name: String, text: String)] = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#34;", "\""),
        ("&amp;", "&"),
    ]

    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func unescape(_ text: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var rest = text
        while let byte = rest.first {
            if byte == UInt8(ascii: "&"), let entity = entities.first(where: { rest.starts(with: $0.name.utf8) }) {
                result += entity.text.utf8
                rest = rest.dropFirst(entity.name.utf8.count)
            } else {
                result.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
