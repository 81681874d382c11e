import HTTPRecovery
import HTTPTypes

/// What has come of a response's header section, line by line; a value without libcurl.
///
/// Lines are read as they come, and none is kept. Whatever the bytes are, it neither traps nor drops a well-formed field.
struct HeadReception {
    /// What a line comes to.
    enum Step {
        case more
        /// The head of the response is whole.
        case complete
        /// The response is not accepted.
        case refused
    }

    /// What makes a response none that libcurl takes for one, or waits for.
    enum Defect: Sendable, Hashable {
        /// Nobody can tell how long the body is: lengths that differ, or one that is none (RFC 9110, section 8.6; RFC 9112,
        /// section 6.3).
        case length
        /// The connection speaks something else from here on, which nobody asked for (RFC 9110, section 15.2.2).
        case switchedProtocol
        /// The body comes in a transfer coding that nobody asked for (RFC 9112, section 7.4). libcurl undoes it by itself, whatever
        /// it expands to.
        case transferCoding
    }

    /// Whether the status line of a final (not 1xx) response has come, and the empty line after the header section.
    private(set) var (sawStatus, sawHead) = (false, false)
    /// Whether the header section has grown past the limit.
    private(set) var isTooLarge = false
    /// Whether the fields frame the body, as far as libcurl does not say it: by chunks, or by HTTP/2.
    private(set) var isFramed = false
    /// What libcurl passes over, and makes the response none.
    private(set) var defect: Defect?
    /// Whether nothing has come of a header section, or of the next one.
    var isBetweenHeads: Bool { response == nil && !sawHead }
    /// What the status line says.
    private var response: HTTPResponse?
    /// The fields of the head, and after it those that follow the body.
    private var fields = FieldSection()
    /// What Content-Length has said so far; and whether it has said anything else, or no length.
    private var (length, isLengthInvalid): (Int?, Bool) = (nil, false)
    /// Whether Transfer-Encoding has said anything but `chunked`, and `identity`, which is none.
    private var isCoded = false
    /// Whether it answers HEAD, and so tells of a body that does not come.
    var answersHEAD = false
    /// Bytes of all header sections so far, interim responses included.
    private var byteCount = 0

    /// Takes a line as libcurl delivers it, its end included.
    mutating func take(_ line: UnsafeBufferPointer<UInt8>, upTo limit: Int, _ known: inout KnownLines) -> Step {
        byteCount += line.count
        if byteCount > limit { return refuseSize() }
        if sawHead {
            // Behind a pause libcurl 7.88 hands over in one piece what it has kept of them.
            var rest = unsafe line[...]
            while unsafe !rest.isEmpty {
                let end = unsafe rest.firstIndex(of: 0x0a).map { $0 + 1 } ?? rest.endIndex
                guard unsafe fields.take(UnsafeBufferPointer(rebasing: rest[..<end]), &known) else {
                    return refuseSize()
                }
                unsafe rest = rest[end...]
            }
            return .more
        }
        if response == nil {
            guard let status = unsafe known.head(line) else { return .refused }
            let code = status.status.code
            // No response follows one that switches protocols.
            sawStatus = code >= 200 || code == 101
            if code == 101 { return refuse(.switchedProtocol) }
            isFramed = unsafe !line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2f, 0x31])
            response = status
            return .more
        }
        // The line ends in a line feed, and there is one.
        let isEmptyLine = unsafe line[0] == 0x0a || (line.count >= 2 && line[0] == 0x0d && line[1] == 0x0a)
        guard isEmptyLine else {
            switch unsafe line[0] | 0x20 {
            case 0x63: if let value = unsafe Self.value(of: "content-length", in: line) { unsafe noteLength(value) }
            case 0x74:
                if let value = unsafe Self.value(of: "transfer-encoding", in: line) { unsafe noteCodings(value) }
            default: break
            }
            return unsafe fields.take(line, &known) ? .more : refuseSize()
        }
        let section = fields.finish()
        if sawStatus {
            if isCoded, !answersHEAD, ![204, 304].contains(response?.status.code) { return refuse(.transferCoding) }
            if isLengthInvalid, !isFramed { return refuse(.length) }
            response?.headerFields = section
            sawHead = true
            return .complete
        }
        // An interim response; the real one follows.
        response = nil
        (length, isLengthInvalid, isCoded) = (nil, false, false)
        return .more
    }

    /// Takes note of the transfer codings that a field names.
    private mutating func noteCodings(_ value: Slice<UnsafeBufferPointer<UInt8>>) {
        let codings = unsafe value.split(separator: UInt8(ascii: ","))
            .map { element in unsafe element.trimmingOWS.map { $0.isUppercase ? $0 | 0x20 : $0 } }
        for coding in codings {
            if coding.elementsEqual("chunked".utf8) {
                isFramed = true
            } else if !coding.isEmpty, !coding.elementsEqual("identity".utf8) {
                isCoded = true
            }
        }
    }

    /// Takes note of what a field says of the body's length; one that says the same twice is forgiven.
    private mutating func noteLength(_ value: Slice<UnsafeBufferPointer<UInt8>>) {
        var rest = unsafe value
        while true {
            let end = unsafe rest.firstIndex(of: UInt8(ascii: ",")) ?? rest.endIndex
            let said = unsafe Self.number(rest[..<end].trimmingOWS)
            if said == nil || length ?? said != said { isLengthInvalid = true }
            length = said
            if unsafe end == rest.endIndex { return }
            unsafe rest = rest[(end + 1)...]
        }
    }

    private static func number(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard unsafe !digits.isEmpty else { return nil }
        return unsafe digits.reduce(0 as Int?) { number, byte in
            guard byte.isDigit, let number else { return nil }
            let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isLarger) = tens.addingReportingOverflow(Int(byte - 0x30))
            return isTooLarge || isLarger ? nil : sum
        }
    }

    private mutating func refuse(_ defect: Defect) -> Step {
        self.defect = defect
        return .refused
    }

    private mutating func refuseSize() -> Step {
        isTooLarge = true
        return .refused
    }

    /// Hands the head over, once it is whole.
    mutating func takeResponse() -> HTTPResponse? {
        guard sawHead else { return nil }
        return response.take()
    }

    /// Hands over the fields after the body; nil if there are none.
    mutating func takeTrailers() -> HTTPFields? {
        guard sawHead, !fields.isEmpty else { return nil }
        let section = fields.finish()
        return section.isEmpty ? nil : section
    }

    /// What stands behind a field's name and its colon, if the line has that name, given in lower case.
    private static func value(
        of name: StaticString,
        in line: UnsafeBufferPointer<UInt8>
    ) -> Slice<UnsafeBufferPointer<UInt8>>? {
        let count = name.utf8CodeUnitCount
        guard line.count > count, unsafe line[count] == UInt8(ascii: ":"),
            unsafe zip(UnsafeBufferPointer(start: name.utf8Start, count: count), line).allSatisfy({ $0 == $1 | 0x20 })
        else { return nil }
        return unsafe line.trimmingLine.dropFirst(count + 1)
    }
}
