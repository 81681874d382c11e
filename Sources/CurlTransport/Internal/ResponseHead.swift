import Glibc
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

    /// The most fields of a head that is read; any other is not HTTP.
    private static let mostFields = 60_000

    static func parse(_ bytes: [UInt8]) -> HTTPResponse? {
        // The pointer does not leave the closure, and nothing is looked at past its end.
        unsafe bytes.withUnsafeBufferPointer { all in
            var lines = unsafe Lines(all)
            guard let first = unsafe lines.next(), let (code, reason) = unsafe status(first) else { return nil }
            var head = HTTPResponse(status: .init(code: code, reasonPhrase: reason))
            head.headerFields.reserveCapacity(16)
            var folded: FoldedField?
            while let line = unsafe lines.next(), let byte = unsafe line.first {
                if byte.isOWS {
                    if folded == nil { folded = head.headerFields.popLast().map { FoldedField($0) } }
                    unsafe folded?.continues(with: line.trimmingOWS)
                    continue
                }
                if let whole = folded?.whole { head.headerFields.append(whole) }
                folded = nil
                // The type traps where it is full.
                if head.headerFields.count >= mostFields { return nil }
                if let field = unsafe field(line) { head.headerFields.append(field) } else { folded = .ignored }
            }
            if let whole = folded?.whole { head.headerFields.append(whole) }
            return head
        }
    }

    /// A field that further lines continue: obsolete line folding (RFC 9112, section 5.2).
    ///
    /// The lines are collected and made a field once, however many there are.
    private struct FoldedField {
        private let name: HTTPField.Name?
        private var bytes: [UInt8] = []

        init(_ field: HTTPField) {
            name = field.name
            // The bytes are copied within the closure.
            bytes = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
        }

        private init() {
            name = nil
        }

        /// What continues a line that is no field.
        static let ignored = FoldedField()

        mutating func continues(with line: Slice<UnsafeBufferPointer<UInt8>>) {
            guard name != nil else { return }
            bytes.append(0x20)
            unsafe bytes.append(contentsOf: line)
        }

        var whole: HTTPField? {
            name.map { HTTPField(name: $0, lenientValue: bytes) }
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

    private static func status(_ line: Line) -> (Int, String)? {
        guard let code = unsafe statusCode(UnsafeBufferPointer(rebasing: line)), code >= 100,
            let space = unsafe line.firstIndex(of: 0x20)
        else { return nil }
        let reason = unsafe line[min(space + 4, line.endIndex)...].trimmingOWS
        // The type accepts only printable text here, and replaces the rest itself.
        return (code, unsafe String(decoding: reason, as: UTF8.self))
    }

    private static func field(_ line: Line) -> HTTPField? {
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")), unsafe colon > line.startIndex,
            let name = unsafe CommonFieldNames.name(UnsafeBufferPointer(rebasing: line[..<colon]))
        else { return nil }
        let value = unsafe line[(colon + 1)...].trimmingOWS
        // Text needs no closer look, and is read faster as such.
        guard unsafe value.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
            return unsafe HTTPField(name: name, lenientValue: value)
        }
        let bytes = unsafe UnsafeBufferPointer(rebasing: value)
        return HTTPField(name: name, value: unsafe commonValue(bytes) ?? String(decoding: bytes, as: UTF8.self))
    }

    /// A value that many responses have, and that is longer than what a String holds without memory of its own.
    private static func commonValue(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        let text =
            switch bytes.count {
            case 16: "application/json"
            case 24: "text/html; charset=utf-8"
            case 30: "application/json;charset=UTF-8"
            case 31: unsafe bytes[26] == 0x75 ? "application/json; charset=utf-8" : "application/json; charset=UTF-8"
            default: ""
            }
        return unsafe !text.isEmpty && bytes.isEqual(to: text.utf8) ? text : nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are the others; `elementsEqual` looks at one after another.
    func isEqual(to others: some Collection<UInt8>) -> Bool {
        let isEqual = others.withContiguousStorageIfAvailable { others in
            guard others.count == count, let start = others.baseAddress, let own = baseAddress else { return false }
            return unsafe memcmp(own, start, count) == 0
        }
        return unsafe isEqual ?? others.elementsEqual(self)
    }
}

/// A line of a header section, without its end; it lives within the call that has the bytes.
private typealias Line = Slice<UnsafeBufferPointer<UInt8>>

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The same without spaces and tabs at both ends.
    fileprivate var trimmingOWS: Self {
        var (start, end) = unsafe (startIndex, endIndex)
        while start < end, unsafe self[start].isOWS { start += 1 }
        while end > start, unsafe self[end - 1].isOWS { end -= 1 }
        return unsafe self[start..<end]
    }
}

/// Walks over lines that end in LF or CR LF.
@safe
private struct Lines {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe self.bytes = bytes
    }

    mutating func next() -> Line? {
        guard unsafe position < bytes.count else { return nil }
        let start = position
        let end = unsafe bytes[start...].firstIndex(of: 0x0a) ?? bytes.count
        position = end + 1
        return unsafe bytes[start..<(end > start && bytes[end - 1] == 0x0d ? end - 1 : end)]
    }
}
