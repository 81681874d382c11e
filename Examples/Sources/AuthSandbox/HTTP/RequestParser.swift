/// Cuts requests out of a stream of HTTP/1.1 bytes.
///
/// A value: give it what arrives, ask it for the next request.
struct RequestParser: Sendable {
    /// What the bytes so far amount to.
    enum Outcome: Sendable {
        /// More bytes are needed.
        case incomplete
        /// The head is there and the client waits for leave to send the body.
        case expectsContinue
        case request(Head, body: [UInt8])
        /// Not HTTP, or past a limit: answer with this status and close.
        case invalid(status: Int, reason: String)
    }

    /// A request's first line and headers.
    struct Head: Sendable, Equatable {
        var method: String
        var target: String
        var keepAlive: Bool
        var headers: [SandboxRequest.Header]

        func header(_ name: String) -> String? {
            headers.first { $0.name == name }?.value
        }
    }

    private static let maximumHeadLength = 64 * 1024
    private static let maximumBodyLength = 16 * 1024 * 1024

    private var buffer: [UInt8] = []
    private var head: Head?
    private var continueWasAsked = false

    /// How many bytes wait to be understood.
    var pendingCount: Int { buffer.count }

    /// Takes bytes that arrived.
    mutating func append(_ bytes: some Sequence<UInt8>) {
        buffer.append(contentsOf: bytes)
    }

    /// The next request, once it is whole.
    mutating func next() -> Outcome {
        if head == nil {
            // Empty lines before a request are to be ignored.
            buffer.removeFirst(buffer.firstIndex { $0 != 0x0D && $0 != 0x0A } ?? buffer.count)
            guard let (length, bodyStart) = Self.endOfHead(buffer) else {
                return buffer.count > Self.maximumHeadLength
                    ? .invalid(status: 431, reason: "the head of the request is too long") : .incomplete
            }
            if length > Self.maximumHeadLength {
                return .invalid(status: 431, reason: "the head of the request is too long")
            }
            guard let parsed = Self.head(buffer[..<length]) else {
                return .invalid(status: 400, reason: "this is not an HTTP/1.1 request")
            }
            buffer.removeFirst(bodyStart)
            head = parsed
            continueWasAsked = false
        }
        guard let head else { return .incomplete }
        switch Self.body(of: head, in: buffer) {
        case .incomplete:
            if !continueWasAsked, head.header("expect")?.lowercased() == "100-continue" {
                continueWasAsked = true
                return .expectsContinue
            }
            return .incomplete
        case .invalid(let status, let reason): return .invalid(status: status, reason: reason)
        case .whole(let body, let consumed):
            buffer.removeFirst(consumed)
            self.head = nil
            return .request(head, body: body)
        }
    }

    /// Where the head ends and where the body begins; a bare line feed ends a line too.
    private static func endOfHead(_ bytes: [UInt8]) -> (length: Int, bodyStart: Int)? {
        var lineStart = 0
        for (index, byte) in bytes.prefix(maximumHeadLength + 4).enumerated() where byte == 0x0A {
            let lineEnd = index > lineStart && bytes[index - 1] == 0x0D ? index - 1 : index
            if lineEnd == lineStart { return (lineStart, index + 1) }
            lineStart = index + 1
        }
        return nil
    }

    private static func head(_ bytes: ArraySlice<UInt8>) -> Head? {
        var lines = bytes.split(separator: 0x0A).map { line in
            String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        }
        guard !lines.isEmpty else { return nil }
        let words = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].utf8.allSatisfy(HeaderText.isTokenByte), !words[1].isEmpty,
            words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0"
        else { return nil }
        var headers: [SandboxRequest.Header] = []
        for line in lines {
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, !halves[0].isEmpty, halves[0].utf8.allSatisfy(HeaderText.isTokenByte) else {
                return nil
            }
            headers.append(.init(name: halves[0].lowercased(), value: HeaderText.trimmed(halves[1])))
        }
        let connection = headers.filter { $0.name == "connection" }.map { $0.value.lowercased() }
            .joined(separator: ",")
        let keepAlive =
            words[2] == "HTTP/1.1" ? !connection.contains("close") : connection.contains("keep-alive")
        return Head(method: String(words[0]), target: String(words[1]), keepAlive: keepAlive, headers: headers)
    }

    private enum Body {
        case incomplete
        case whole([UInt8], consumed: Int)
        case invalid(status: Int, reason: String)
    }

    private static func body(of head: Head, in bytes: [UInt8]) -> Body {
        if let encoding = head.header("transfer-encoding") {
            guard encoding.lowercased() == "chunked", head.header("content-length") == nil else {
                return .invalid(status: 400, reason: "this transfer encoding is not understood")
            }
            return chunkedBody(bytes)
        }
        let lengths = head.headers.filter { $0.name == "content-length" }
        guard let text = lengths.first?.value else { return .whole([], consumed: 0) }
        guard lengths.allSatisfy({ $0.value == text }), !text.isEmpty, text.utf8.allSatisfy(isDigit) else {
            return .invalid(status: 400, reason: "the Content-Length is not a number")
        }
        guard let length = Int(text), length <= maximumBodyLength else {
            return .invalid(status: 413, reason: "the body is too long")
        }
        return bytes.count < length ? .incomplete : .whole(Array(bytes[..<length]), consumed: length)
    }

    private static func chunkedBody(_ bytes: [UInt8]) -> Body {
        var body: [UInt8] = []
        var position = 0
        while true {
            guard let lineEnd = bytes[position...].firstIndex(of: 0x0A) else {
                return bytes.count - position > 1024
                    ? .invalid(status: 400, reason: "a chunk has no length") : .incomplete
            }
            let size = bytes[position..<lineEnd].prefix { $0 != UInt8(ascii: ";") && $0 != 0x0D && $0 != 0x20 }
            guard !size.isEmpty, size.count <= 8, let length = Int(String(decoding: size, as: UTF8.self), radix: 16),
                length >= 0
            else { return .invalid(status: 400, reason: "a chunk has no length") }
            position = lineEnd + 1
            if length == 0 { return trailers(bytes, from: position, body: body) }
            guard body.count + length <= maximumBodyLength else {
                return .invalid(status: 413, reason: "the body is too long")
            }
            guard bytes.count >= position + length + 2 else { return .incomplete }
            body += bytes[position..<position + length]
            position += length
            guard bytes[position] == 0x0D, bytes[position + 1] == 0x0A else {
                return .invalid(status: 400, reason: "a chunk is longer than it says")
            }
            position += 2
        }
    }

    private static func trailers(_ bytes: [UInt8], from start: Int, body: [UInt8]) -> Body {
        var lineStart = start
        while let lineEnd = bytes[lineStart...].firstIndex(of: 0x0A) {
            let line = bytes[lineStart..<lineEnd]
            if line.isEmpty || line.elementsEqual([0x0D]) { return .whole(body, consumed: lineEnd + 1) }
            lineStart = lineEnd + 1
            if lineStart - start > maximumHeadLength { break }
        }
        return bytes.count - start > maximumHeadLength
            ? .invalid(status: 431, reason: "the trailers are too long") : .incomplete
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
