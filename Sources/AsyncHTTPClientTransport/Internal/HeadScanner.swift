import HTTPRecovery

/// Looks at the bytes of a response until its header section has passed: whether a status line has come, and how long
/// the header sections are.
///
/// The client's parser tells of a head only when all of it has come, and bounds interim responses one by one. It needs nothing
/// of the client's, and is there without the trait: so it can be fuzzed by itself.
struct HeadScanner {
    /// Whether the header section of the final response is still to come, or under way.
    private(set) var isActive: Bool
    /// The bytes of all header sections so far, interim responses included.
    private(set) var count = 0
    /// Whether the status line of a final response has come.
    private(set) var sawStatus = false

    private var isFirstLine = true
    /// The beginning of a section's first line.
    private var beginning: [UInt8] = []
    /// The bytes of the present line without its end.
    private var lineLength = 0

    init(isActive: Bool) {
        self.isActive = isActive
    }

    /// Looks at the next bytes.
    mutating func read(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            guard isActive else { return }
            read(byte)
        }
    }

    private mutating func read(_ byte: UInt8) {
        count += 1
        switch byte {
        case 0x0a: endLine()
        case 0x0d:
            // An empty line has it too, and in the middle of a line it is no end.
            keep(byte)
        default:
            keep(byte)
            lineLength += 1
        }
    }

    private mutating func keep(_ byte: UInt8) {
        if isFirstLine, beginning.count < 16 { beginning.append(byte) }
    }

    private mutating func endLine() {
        if lineLength > 0 {
            if isFirstLine, let status = Self.status(beginning), status >= 200 || status == 101 { sawStatus = true }
            isFirstLine = false
        } else if sawStatus {
            isActive = false
        } else {
            // The end of an interim response, or an empty line before one.
            isFirstLine = true
            beginning.removeAll(keepingCapacity: true)
        }
        lineLength = 0
    }

    private static func status(_ line: [UInt8]) -> Int? {
        guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20), space + 3 < line.count else {
            return nil
        }
        let digits = line[(space + 1)...(space + 3)]
        guard digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
