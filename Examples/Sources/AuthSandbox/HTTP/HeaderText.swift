/// What header fields are made of.
enum HeaderText {
    /// A text without the line breaks that would end its field.
    static func clean(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else { return text }
        return String(text.unicodeScalars.map { $0 == "\r" || $0 == "\n" || $0 == "\0" ? " " : Character($0) })
    }

    /// Whether a byte may stand in a method or in the name of a field (RFC 9110 section 5.6.2).
    static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
    }

    /// A value without the blanks around it.
    static func trimmed(_ text: Substring) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    /// The fields that are about one connection only (RFC 9110 section 7.6.1): those that `Connection` names, and those
    /// that are known to be.
    ///
    /// - Parameter headers: All fields of the message.
    /// - Returns: Names in lower case.
    static func hopByHop(_ headers: [SandboxRequest.Header]) -> Set<String> {
        var names: Set<String> = [
            "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te",
            "trailer", "transfer-encoding", "upgrade",
        ]
        for header in headers where header.name.lowercased() == "connection" {
            for name in header.value.split(separator: ",") { names.insert(trimmed(name[...]).lowercased()) }
        }
        return names
    }
}
