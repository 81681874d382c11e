/// What has come of a response's header section, line by line; a value without libcurl.
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
    /// Bytes of the header section.
    private var bytes: [UInt8] = []
    /// Whether nothing has come of a header section, or of the next one.
    var isBetweenHeads: Bool { bytes.isEmpty && !sawHead }
    /// Bytes of all header sections so far, interim responses included.
    private var byteCount = 0
    /// Bytes of the fields after the body.
    private(set) var trailers: [UInt8] = []

    /// Takes a line as libcurl delivers it, its end included.
    mutating func take(_ line: UnsafeBufferPointer<UInt8>, upTo limit: Int) -> Step {
        byteCount += line.count
        if byteCount > limit {
            isTooLarge = true
            return .refused
        }
        // Trailers; they are bounded above.
        if sawHead {
            unsafe trailers.append(contentsOf: line)
            return .more
        }
        if bytes.isEmpty {
            guard let status = unsafe ResponseHead.statusCode(line) else { return .refused }
            sawStatus = status >= 200
            isFramed = unsafe !line.starts(with: [0x48, 0x54, 0x54, 0x50, 0x2f, 0x31])
        }
        unsafe bytes.append(contentsOf: line)
        if unsafe line[0] | 0x20 == 0x74, unsafe Self.isTransferEncoding(line) { isFramed = true }
        // The line ends in a line feed, and there is one.
        let isEmptyLine = unsafe line[0] == 0x0a || (line.count >= 2 && line[0] == 0x0d && line[1] == 0x0a)
        guard isEmptyLine else { return .more }
        if sawStatus {
            sawHead = true
            return .complete
        }
        // An interim response; the real one follows.
        bytes.removeAll(keepingCapacity: true)
        return .more
    }

    /// Takes memory for the bytes that will come; what is in it is forgotten.
    mutating func take(memory: inout [UInt8]) {
        if memory.capacity <= bytes.capacity { return }
        swap(&bytes, &memory)
        bytes.removeAll(keepingCapacity: true)
        memory = []
    }

    private static func isTransferEncoding(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        let name: StaticString = "transfer-encoding"
        guard line.count > name.utf8CodeUnitCount else { return false }
        return unsafe zip(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), line)
            .allSatisfy { $0 == $1 | 0x20 }
    }

    /// Hands the header section over.
    mutating func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        return taken
    }
}
