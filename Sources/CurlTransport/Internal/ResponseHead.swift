import Glibc
import HTTPRecovery
import HTTPTypes

/// Reads single lines of a header section, as libcurl delivers them.
enum ResponseHead {
    /// The length of the body, if the head states it.
    static func contentLength(of head: HTTPResponse) -> Int? {
        guard let value = head.headerFields[.contentLength], value.utf8.count < 19, !value.isEmpty,
            value.utf8.allSatisfy(\.isDigit)
        else { return nil }
        return Int(value)
    }

    /// The head, without fields, that a status line begins; nil if it is none.
    static func head(_ line: UnsafeBufferPointer<UInt8>) -> HTTPResponse? {
        let line = unsafe line.trimmingLine
        guard unsafe line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2f]),
            let space = unsafe line.firstIndex(of: 0x20), unsafe space + 3 < line.endIndex
        else { return nil }
        var code = 0
        for offset in 1...3 {
            let digit = unsafe line[space + offset]
            guard digit.isDigit else { return nil }
            code = code * 10 + Int(digit - 0x30)
        }
        if code < 100 { return nil }
        let reason = unsafe line[min(space + 4, line.endIndex)...].trimmingOWS
        // The type accepts only printable text here, and replaces the rest itself.
        return HTTPResponse(status: .init(code: code, reasonPhrase: unsafe String(decoding: reason, as: UTF8.self)))
    }

    /// The field that a line stands for, and whether other responses may have the same; nil if it is none.
    static func field(_ line: UnsafeBufferPointer<UInt8>) -> (field: HTTPField, isRepeated: Bool)? {
        let line = unsafe line.trimmingLine
        guard let colon = unsafe line.firstIndex(of: UInt8(ascii: ":")), unsafe colon > line.startIndex,
            let (name, isRepeated) = unsafe CommonFieldNames.name(UnsafeBufferPointer(rebasing: line[..<colon]))
        else { return nil }
        let value = unsafe line[(colon + 1)...].trimmingOWS
        // Text needs no closer look, and is read faster as such.
        guard unsafe value.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
            return (unsafe HTTPField(name: name, lenientValue: value), isRepeated)
        }
        return (HTTPField(name: name, value: unsafe String(decoding: value, as: UTF8.self)), isRepeated)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are the others; `elementsEqual` looks at one after another.
    func isEqual(to others: [UInt8]) -> Bool {
        guard others.count == count, let own = baseAddress else { return false }
        return unsafe others.withUnsafeBytes { others in
            unsafe memcmp(own, others.baseAddress ?? UnsafeRawPointer(own), count) == 0
        }
    }

    /// The line without its end.
    var trimmingLine: Slice<UnsafeBufferPointer<UInt8>> {
        var end = count
        if end > 0, unsafe self[end - 1] == 0x0a { end -= 1 }
        if end > 0, unsafe self[end - 1] == 0x0d { end -= 1 }
        return unsafe self[..<end]
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The same without spaces and tabs at both ends.
    var trimmingOWS: Self {
        var (start, end) = unsafe (startIndex, endIndex)
        while start < end, unsafe self[start].isOWS { start += 1 }
        while end > start, unsafe self[end - 1].isOWS { end -= 1 }
        return unsafe self[start..<end]
    }
}
