extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON text on one line.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let truth): text += truth ? "true" : "false"
        case .number(let number): text += number.text
        case .string(let string): Self.writeQuoted(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { text += "," }
                Self.writeQuoted(member.key, to: &text)
                text += ":"
                member.value.write(to: &text)
            }
            text += "}"
        }
    }

    private static func writeQuoted(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                text += "\\u00" + Hexadecimal.encode([UInt8(truncatingIfNeeded: scalar.value)])
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension JSONValue {
    /// The value as indented JSON, for people.
    package var prettyText: String { Self.pretty(self, indentation: "") }

    private static func pretty(_ value: JSONValue, indentation: String) -> String {
        let inner = indentation + "  "
        func list(_ open: String, _ items: [String], _ close: String) -> String {
            items.isEmpty
                ? open + close
                : "\(open)\n" + items.map { inner + $0 }.joined(separator: ",\n") + "\n\(indentation)\(close)"
        }
        switch value {
        case .array(let elements): return list("[", elements.map { pretty($0, indentation: inner) }, "]")
        case .object(let members):
            return list(
                "{",
                members.map { "\(JSONValue.string($0.key)): \(pretty($0.value, indentation: inner))" },
                "}"
            )
        default: return value.description
        }
    }
}
