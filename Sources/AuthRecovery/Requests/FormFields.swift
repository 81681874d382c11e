public import HTTPRecovery

/// The fields of a form, in order, encoded as `application/x-www-form-urlencoded` (WHATWG URL standard).
///
/// A name may occur several times. Values cannot be printed, since most forms of a sign-in hold a secret.
public struct FormFields: Sendable, ExpressibleByDictionaryLiteral {
    /// What is read of a text at most: its bytes, and its fields.
    private static let readingLimits = (bytes: 65_536, fields: 256)

    private var pairs: [(name: String, value: Secret)] = []

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

extension FormFields {
    /// A text in form encoding; what is not in the unreserved set is percent-encoded.
    package static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "*"):
                encoded.append(byte)
            case 0x20:
                encoded.append(UInt8(ascii: "+"))
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                encoded.append(UInt8(ascii: "%"))
                encoded.append(digits[Int(byte >> 4)])
                encoded.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// A text as one segment of a path, which it cannot leave.
    package static func encode(segment text: String) -> String {
        if !text.isEmpty, text.allSatisfy({ $0 == "." }) { return text.map { _ in "%2E" }.joined() }
        return encode(text).split(separator: "+", omittingEmptySubsequences: false).joined(separator: "%20")
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
        var decoded: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                decoded.append(0x20)
            } else if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                rest.first != UInt8(ascii: "+")
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}
