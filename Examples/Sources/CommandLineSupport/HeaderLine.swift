public import HTTPTypes

/// What a person writes about a header field, in curl's forms.
public enum HeaderLine: Sendable, Hashable {
    /// `Name: value`, or `Name;` for an empty value.
    case send(HTTPField)
    /// `Name:`, which leaves out what would be sent.
    case leaveOut(HTTPField.Name)

    /// The most header fields that are accepted.
    private static let most = 1000

    /// What the lines of several options `-H` send, and what they leave out.
    ///
    /// - Parameters:
    ///   - texts: The options' values; `@FILE` takes the lines of a file.
    ///   - length: The length of the request's body; nil for one that is still to be read.
    /// - Throws: ``InvalidOption`` for what is no field, or says what follows from the URL and the body; ``FileError`` for
    ///   a file that cannot be read.
    public static func fields(
        _ texts: [String],
        bodyLength length: Int?
    ) throws -> (sent: HTTPFields, leftOut: Set<HTTPField.Name>) {
        var fields = HTTPFields()
        var leftOut: Set<HTTPField.Name> = []
        for line in try all(texts) {
            switch line {
            case .send(let field): if try !isSaidAnyway(field, length) { fields.append(field) }
            case .leaveOut(let name):
                // It would be sent all the same.
                if let refusal = refusal(of: name), ["host", "content-length"].contains(name.canonicalName) {
                    throw refusal
                }
                leftOut.insert(name)
            }
            guard fields.count <= most else { throw InvalidOption("-H: more than \(most) header fields") }
        }
        return (fields, leftOut)
    }

    /// Whether a field says what is said anyway; what says otherwise is refused.
    private static func isSaidAnyway(_ field: HTTPField, _ length: Int?) throws(InvalidOption) -> Bool {
        guard let refusal = refusal(of: field.name) else { return false }
        if field.name == .contentLength, let said = Int(field.value), said == length ?? said { return true }
        throw refusal
    }

    /// Why nothing can be said by a field; nil for one that a person has a say in.
    private static func refusal(of name: HTTPField.Name) -> InvalidOption? {
        switch name.canonicalName {
        case "host":
            InvalidOption(
                "-H Host: the host is the URL's; write it there, and where it is with --connect-to or --resolve"
            )
        case "content-length", "transfer-encoding", "expect":
            InvalidOption("-H \(name): how the body is framed follows from the body, and cannot be said")
        default: nil
        }
    }

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
