/// A JSON value (RFC 8259) as a tree, made for reading what unknown servers send.
///
/// Unlike Foundation's decoder it keeps the order of members, survives numbers that no machine type holds and repeated
/// keys, and is bounded in depth, so one odd member never makes a whole answer unreadable.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A number in its own spelling.
    case number(JSONValue.Number)
    /// A text.
    case string(String)
    /// An array.
    case array([JSONValue])
    /// An object; if a key repeats, the last member counts.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// The key.
        public var key: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// The member with the key, if the value is an object that has one.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.key == key }?.value
    }

    /// The element at the index, if the value is an array that has one.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The text, if the value is one.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, if the value is one.
    public var bool: Bool? {
        if case .bool(let truth) = self { truth } else { nil }
    }

    /// The number, if the value is one.
    public var number: JSONValue.Number? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The elements, if the value is an array.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members, if the value is an object.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether the value is `null`.
    public var isNull: Bool {
        self == .null
    }

    /// The text of a string or a number, which many servers use interchangeably for codes; nil for anything else and
    /// for the empty string.
    public var codeText: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let number): number.text
        default: nil
        }
    }
}

extension JSONValue {
    /// The number, also if a text holds it.
    package var lenientNumber: JSONValue.Number? {
        number
            ?? string.flatMap { text in
                text.utf8.count <= 64 ? try? JSONValue(parsing: text).number : nil
            }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates a truth value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a number.
    public init(integerLiteral value: Int) { self = .number(JSONValue.Number(value)) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an object with its members in the written order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }
}
