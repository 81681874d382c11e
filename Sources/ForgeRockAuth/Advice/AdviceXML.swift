import HTTPRecovery

/// The little XML in which advices travel:
/// `<Advices><AttributeValuePair><Attribute name="…"/><Value>…</Value></AttributeValuePair></Advices>`.
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
            let tag = String(decoding: rest[..<end], as: UTF8.self)
            rest = rest[(end + 1)...]
            switch tag.split(whereSeparator: { $0 == " " || $0 == "/" || $0.isNewline }).first {
            case "Advices": isAdvice = true
            case "AttributeValuePair":
                close()
                name = nil
            case "Attribute":
                close()
                name = attribute("name", of: tag)
            case "Value" where !tag.hasPrefix("/") && !tag.hasSuffix("/"):
                let text = rest.prefix { $0 != UInt8(ascii: "<") }
                let value = unescape(String(decoding: text, as: UTF8.self))
                if !value.isEmpty, values.count < 64 { values.append(value.bounded(to: 4096)) }
            default: break
            }
        }
        close()
        return isAdvice ? attributes : nil
    }

    private static func attribute(_ name: String, of tag: String) -> String? {
        let parts = tag.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[0].hasSuffix(name), let quote = parts[1].first, quote == "\"" || quote == "'"
        else { return nil }
        let value = parts[1].dropFirst().prefix { $0 != quote }
        return value.isEmpty ? nil : unescape(String(value)).bounded(to: 256)
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

    static func unescape(_ text: String) -> String {
        guard text.contains("&") else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            rest = rest[start...]
            if let entity = entities.first(where: { rest.hasPrefix($0.name) }) {
                result += entity.text
                rest = rest.dropFirst(entity.name.count)
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }
}
