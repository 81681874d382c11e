public import HTTPRecovery

/// The fields of a form, in order, encoded as `application/x-www-form-urlencoded` (WHATWG URL standard).
///
/// A name may occur several times. Values cannot be printed, since most forms of a sign-in hold a secret.
public struct FormFields: Sendable, ExpressibleByDictionaryLiteral {
    /// What is read of a text at most: its bytes, and its fields.
    private static let readingLimits = (bytes: 65_536, fields: 256)

    /// The fields in order.
    private(set) var pairs: [(name: String, value: Secret)] = []

    /// Creates a form without fields.
    public init() {}

    /// Creates a form from names and values, in the written order.
    public init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { add(name, value) }
    }

    /// Adds a field; one without a value is left out.
    public mutating func add(_ name: String, _ value: String?) {
        if let value { pairs.append((name, Secret(value))) }
    }

    /// Adds a field that must not be seen; one without a value is left out.
    public mutating func add(_ name: String, secret: Secret?) {
        if let secret { pairs.append((name, secret)) }
    }

    /// Adds the fields of another form.
    public mutating func add(_ fields: FormFields) {
        pairs += fields.pairs
    }

    /// The names in order.
    public var names: [String] { pairs.map(\.name) }

    /// The values of the fields with the name, in order.
    public subscript(name: String) -> [Secret] {
        pairs.compactMap { $0.name == name ? $0.value : nil }
    }

    /// The form's body.
    public var body: MessageBody { MessageBody(encoded) }

    /// The form as text, secrets included.
    package var encoded: String {
        pairs.map { "\(Self.encode($0.name))=\(Self.encode($0.value.reveal()))" }.joined(separator: "&")
    }
}

extension FormFields: Hashable {
    /// Whether two forms have the same fields in the same order.
    public static func == (first: FormFields, second: FormFields) -> Bool {
        first.names == second.names && first.pairs.map(\.value) == second.pairs.map(\.value)
    }

    /// Hashes the fields in their order.
    public func hash(into hasher: inout Hasher) {
        for pair in pairs {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }
}

extension FormFields {
    /// A text in form encoding; what is not in the unreserved set is percent-encoded.
    package static func encode(_ text: String) -> String {
        let encoded = PercentEncoding.encode(text.utf8) { isKept($0) || $0 == 0x20 }
        return String(decoding: encoded.utf8.map { $0 == 0x20 ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }

    /// A text as one segment of a path, which it cannot leave: for ids that a server has given.
    public static func encode(segment text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0 == "." }) { return text.map { _ in "%2E" }.joined() }
        return PercentEncoding.encode(text.utf8, keeping: isKept)
    }

    private static func isKept(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-_.*".utf8.contains(byte)
    }

    /// Reads a form or the query of a URL, forgiving as the WHATWG's parser is: an escape that is none stays as it is.
    ///
    /// At most 64 KiB and 256 fields are read.
    package init(parsing text: some Sequence<UInt8>) {
        let bytes = Array(text.prefix(Self.readingLimits.bytes))
        for part in bytes.split(separator: UInt8(ascii: "&")).prefix(Self.readingLimits.fields) {
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            add(Self.decode(part[..<end]), Self.decode(part[end...].dropFirst()))
        }
    }

    private static func decode(_ text: ArraySlice<UInt8>) -> String {
        let bytes = text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return String(decoding: PercentEncoding.decode(bytes).bytes, as: UTF8.self)
    }
}
