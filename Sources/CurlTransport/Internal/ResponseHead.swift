import HTTPRecovery
import HTTPTypes

/// Reads a header section as libcurl delivers it: status line, fields, empty line.
///
/// It runs on the caller's thread. Whatever the bytes are, it neither traps nor drops a well-formed field.
enum ResponseHead {
    /// The length of the body, if the head states it.
    static func contentLength(of head: HTTPResponse) -> Int? {
        guard let value = head.headerFields[.contentLength], value.utf8.count < 19, !value.isEmpty,
            value.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(value)
    }

    static func parse(_ bytes: [UInt8]) -> HTTPResponse? {
        var lines = Lines(bytes: bytes)
        guard let statusLine = lines.next(), let (code, reason) = status(bytes, statusLine) else { return nil }
        var head = HTTPResponse(status: .init(code: code, reasonPhrase: reason))
        head.headerFields.reserveCapacity(16)
        var last: FoldedField?
        while let line = lines.next(), !line.isEmpty {
            if bytes[line.lowerBound].isOWS {
                last?.continues(with: bytes[line].trimmingOWS)
                continue
            }
            if let last { head.headerFields.append(last.whole) }
            last = field(bytes, line).map { FoldedField(field: $0) }
        }
        if let last { head.headerFields.append(last.whole) }
        return head
    }

    /// A field that further lines may continue: obsolete line folding (RFC 9112, section 5.2).
    ///
    /// The lines are collected and made a field once, however many there are.
    private struct FoldedField {
        let field: HTTPField
        private var bytes: [UInt8]?

        init(field: HTTPField) {
            self.field = field
        }

        mutating func continues(with line: ArraySlice<UInt8>) {
            // The bytes are copied within the closure.
            if bytes == nil { bytes = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) } }
            bytes?.append(0x20)
            bytes?.append(contentsOf: line)
        }

        var whole: HTTPField {
            guard let bytes else { return field }
            return HTTPField(name: field.name, lenientValue: bytes[...])
        }
    }

    /// The code of a status line, or nil.
    static func statusCode(_ line: UnsafeBufferPointer<UInt8>) -> Int? {
        guard unsafe line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2f]),
            let space = unsafe line.firstIndex(of: 0x20), space + 3 < line.count
        else { return nil }
        var code = 0
        for offset in 1...3 {
            let digit = unsafe line[space + offset]
            guard digit.isDigit else { return nil }
            code = code * 10 + Int(digit - 0x30)
        }
        return code
    }

    private static func status(_ bytes: [UInt8], _ line: Range<Int>) -> (Int, String)? {
        // The pointer does not leave the closure.
        let code = unsafe bytes.withUnsafeBufferPointer { all in
            unsafe statusCode(UnsafeBufferPointer(rebasing: all[line]))
        }
        guard let code, code >= 100, let space = bytes[line].firstIndex(of: 0x20) else { return nil }
        let reason = bytes[min(space + 4, line.upperBound)..<line.upperBound].trimmingOWS
        // The type accepts only printable text here, and replaces the rest itself.
        return (code, text(reason))
    }

    private static func field(_ bytes: [UInt8], _ line: Range<Int>) -> HTTPField? {
        guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")), colon > line.lowerBound,
            let name = HTTPField.Name(text(bytes[line.lowerBound..<colon]))
        else { return nil }
        return HTTPField(name: name, lenientValue: bytes[(colon + 1)..<line.upperBound].trimmingOWS)
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}

/// Walks over lines that end in LF or CR LF.
private struct Lines {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func next() -> Range<Int>? {
        guard position < bytes.count else { return nil }
        let start = position
        let end = bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
        position = end + 1
        return start..<(end > start && bytes[end - 1] == 0x0d ? end - 1 : end)
    }
}
