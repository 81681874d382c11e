/// One header field as it stands on the wire.
package struct HeaderLine: Sendable, Equatable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Reads a line; nil for what is none.
    package init?(_ line: some Collection<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(Self.isTokenByte), !line.contains(where: { $0 == 0x0D || $0 == 0 })
        else { return nil }
        name = String(decoding: line[..<colon], as: UTF8.self)
        value = Self.trimmed(Self.text(line[line.index(after: colon)...]))
    }

    /// Whether a byte may stand in a method or in the name of a field (RFC 9110 section 5.6.2).
    package static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
    }

    /// A value without the blanks around it.
    package static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    /// A text of a header: UTF-8, or Latin-1 if it is none.
    package static func text(_ bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
