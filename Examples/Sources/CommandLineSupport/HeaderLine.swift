public import HTTPTypes

/// What a person writes about a header field, in curl's forms.
public enum HeaderLine: Sendable, Hashable {
    /// `Name: value`, or `Name;` for an empty value.
    case send(HTTPField)
    /// `Name:`, which leaves out what would be sent.
    case leaveOut(HTTPField.Name)

    /// The lines of several options `-H`, of which `@FILE` takes those of a file.
    ///
    /// - Throws: ``InvalidOption`` for what is no field; ``FileError`` for a file that cannot be read.
    public static func all(_ texts: [String]) throws -> [HeaderLine] {
        try texts.flatMap { text in try lines(text).map { line throws(InvalidOption) in try HeaderLine(line) } }
    }

    private static func lines(_ text: String) throws -> [String] {
        guard text.hasPrefix("@") else { return [text] }
        let bytes = try RequestInput.bytes(ofFile: String(text.dropFirst()), limit: 1 << 20)
        return bytes.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }).map { String(decoding: $0, as: UTF8.self) }
    }

    private init(_ text: String) throws(InvalidOption) {
        do {
            if text.hasSuffix(";"), !text.utf8.contains(UInt8(ascii: ":")) {
                self = .send(try HeaderOption.parse(text.dropLast() + ":"))
                return
            }
            let field = try HeaderOption.parse(text)
            self = field.value.isEmpty ? .leaveOut(field.name) : .send(field)
        } catch {
            throw InvalidOption("-H: \(error.description)")
        }
    }
}
