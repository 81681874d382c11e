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

    /// Whether the status line of a final (not 1xx) response has come, and the empty line after the header section.
    private(set) var (sawStatus, sawHead) = (false, false)
    /// Whether the header section has grown past the limit.
    private(set) var isTooLarge = false
    /// Whether the fields frame the body, as far as libcurl does not say it: by chunks, or by HTTP/2.
    private(set) var isFramed = false
    /// Whether nothing has come of a header section, or of the next one.
    var isBetweenHeads: Bool { response == nil && !sawHead }
    /// What the status line says.
    private var response: HTTPResponse?
    /// The fields of the head, and after it those that follow the body.
    private var fields = FieldSection()
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
            sawStatus = code >= 200
            isFramed = unsafe !line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2f, 0x31])
            response = status
            return .more
        }
        // The line ends in a line feed, and there is one.
        let isEmptyLine = unsafe line[0] == 0x0a || (line.count >= 2 && line[0] == 0x0d && line[1] == 0x0a)
        guard isEmptyLine else {
            if unsafe line[0] | 0x20 == 0x74, unsafe Self.isTransferEncoding(line) { isFramed = true }
            return unsafe fields.take(line, &known) ? .more : refuseSize()
        }
        let section = fields.finish()
        if sawStatus {
            response?.headerFields = section
            sawHead = true
            return .complete
        }
        // An interim response; the real one follows.
        response = nil
        return .more
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

    private static func isTransferEncoding(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        let name: StaticString = "transfer-encoding"
        guard line.count > name.utf8CodeUnitCount else { return false }
        return unsafe zip(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), line)
            .allSatisfy { $0 == $1 | 0x20 }
    }
}
