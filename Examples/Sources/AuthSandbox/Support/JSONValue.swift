/// A JSON value whose objects keep the order of their keys, so that what the sandbox writes is stable and readable.
enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// One key of an object with its value.
    struct Member: Sendable, Equatable {
        var key: String
        var value: JSONValue
    }

    /// The value of an object's key; the last one wins where a key stands twice.
    subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    /// The element of an array, where there is one.
    subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var int: Int64? {
        guard case .int(let number) = self else { return nil }
        return number
    }

    /// A number of either kind.
    var number: Double? {
        switch self {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    var bool: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    var array: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// A string, or `null` for an absent one.
    static func optional(_ text: String?) -> JSONValue {
        text.map(JSONValue.string) ?? .null
    }

    /// An integer, or `null` for an absent one.
    static func optional(_ number: Int64?) -> JSONValue {
        number.map(JSONValue.int) ?? .null
    }

    /// The same object with one more key at its end; anything else is returned as it is.
    func adding(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member(key: key, value: value)])
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral,
    ExpressibleByStringInterpolation
{
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }

    init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    init(stringLiteral value: String) {
        self = .string(value)
    }

    init(integerLiteral value: Int64) {
        self = .int(value)
    }

    init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    init(nilLiteral: ()) {
        self = .null
    }
}

extension JSONValue {
    /// The value as one line of JSON.
    var text: String {
        var out = ""
        write(to: &out, indentation: nil)
        return out
    }

    /// The value as indented JSON, for people.
    var prettyText: String {
        var out = ""
        write(to: &out, indentation: 0)
        return out
    }

    private func write(to out: inout String, indentation: Int?) {
        switch self {
        case .null: out += "null"
        case .bool(let flag): out += flag ? "true" : "false"
        case .int(let number): out += String(number)
        case .double(let number): out += number.isFinite ? String(number) : "null"
        case .string(let text): Self.write(text, to: &out)
        case .array(let elements):
            Self.writeList(elements, open: "[", close: "]", to: &out, indentation: indentation) {
                $0.write(to: &$1, indentation: $2)
            }
        case .object(let members):
            Self.writeList(members, open: "{", close: "}", to: &out, indentation: indentation) {
                Self.write($0.key, to: &$1)
                $1 += $2 == nil ? ":" : ": "
                $0.value.write(to: &$1, indentation: $2)
            }
        }
    }

    private static func writeList<Element>(
        _ elements: [Element],
        open: String,
        close: String,
        to out: inout String,
        indentation: Int?,
        writeElement: (Element, inout String, Int?) -> Void
    ) {
        out += open
        let inner = indentation.map { $0 + 2 }
        for (index, element) in elements.enumerated() {
            if index > 0 { out += "," }
            if let inner { out += "\n" + String(repeating: " ", count: inner) }
            writeElement(element, &out, inner)
        }
        if let indentation, !elements.isEmpty { out += "\n" + String(repeating: " ", count: indentation) }
        out += close
    }

    private static func write(_ text: String, to out: inout String) {
        out += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20:
                let hex = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
