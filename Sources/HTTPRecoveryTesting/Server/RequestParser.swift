/// Cuts requests out of a stream of HTTP/1.1 bytes.
///
/// A value: give it what arrives, ask it for the next request.
package struct RequestParser: Sendable {
    /// What the bytes so far amount to.
    package enum Outcome: Sendable {
        /// More bytes are needed.
        case incomplete
        /// The head is there and the client waits for leave to send the body.
        case expectsContinue
        case request(Head, body: [UInt8])
        /// Not HTTP, or past a limit: answer with this status and close.
        case invalid(status: Int, reason: String)
    }

    /// A request's first line and headers.
    package struct Head: Sendable, Equatable {
        package var method: String
        package var target: String
        package var keepAlive: Bool
        /// With names in lower case.
        package var headers: [HeaderLine]
        /// The head as it came, the empty line included.
        package var raw: [UInt8]

        /// The first value of a header; give the name in lower case.
        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// Why there is no request.
    private struct Refusal: Error {
        let status: Int
        let reason: String
    }

    private static let maximumHeadLength = 64 * 1024
    private let maximumBodyLength: Int
    private var queue = ByteQueue()
    /// The lines of the head so far, and their bytes.
    private var lines: [ArraySlice<UInt8>] = []
    private var raw: [UInt8] = []
    /// The head of the request whose body is not there yet.
    package private(set) var head: Head?
    private var body: BodyParser?
    private var continueWasAsked = false

    /// What there is of the body that is not there yet.
    var bodySoFar: [UInt8] { body?.body ?? [] }

    /// - Parameter maximumBodyLength: How long a body may be.
    package init(maximumBodyLength: Int = 16 * 1024 * 1024) {
        self.maximumBodyLength = maximumBodyLength
    }

    /// Takes bytes that arrived.
    package mutating func append(_ bytes: some Sequence<UInt8>) { queue.append(bytes) }

    /// The next request, once it is whole.
    package mutating func next() -> Outcome {
        if let outcome = nextHead() { return outcome }
        guard let head else { return .incomplete }
        do throws(Refusal) {
            guard let body = try takeBody(of: head) else {
                guard !continueWasAsked, head.header("expect")?.lowercased() == "100-continue" else {
                    return .incomplete
                }
                continueWasAsked = true
                return .expectsContinue
            }
            dropHead()
            return .request(head, body: body)
        } catch {
            return .invalid(status: error.status, reason: error.reason)
        }
    }

    /// Looks for the next head, which is in ``head`` then; anything else is why it is not.
    package mutating func nextHead() -> Outcome? {
        if head != nil { return nil }
        do throws(Refusal) {
            head = try takeHead()
            return head == nil ? .incomplete : nil
        } catch {
            return .invalid(status: error.status, reason: error.reason)
        }
    }

    /// Lets go of the head, and of the body as far as it is not there.
    package mutating func dropHead() {
        (head, body, continueWasAsked) = (nil, nil, false)
    }

    private mutating func takeHead() throws(Refusal) -> Head? {
        let tooLong = Refusal(status: 431, reason: "the head of the request is too long")
        while let line = queue.line() {
            // Empty lines before a request are to be ignored.
            if lines.isEmpty, line.isEmpty { continue }
            raw += line + [0x0D, 0x0A]
            guard raw.count <= Self.maximumHeadLength else { throw tooLong }
            if !line.isEmpty {
                lines.append(line)
                continue
            }
            defer { (lines, raw) = ([], []) }
            guard let head = Self.head(lines, raw) else {
                throw Refusal(status: 400, reason: "this is not an HTTP/1.1 request")
            }
            return head
        }
        guard raw.count + queue.count <= Self.maximumHeadLength else { throw tooLong }
        return nil
    }

    private static func head(_ lines: [ArraySlice<UInt8>], _ raw: [UInt8]) -> Head? {
        let words = lines[0].split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(HeaderLine.isTokenByte), !words[1].isEmpty,
            words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8)
        else { return nil }
        var headers: [HeaderLine] = []
        for line in lines.dropFirst() {
            guard var header = HeaderLine(line) else { return nil }
            header.name = header.name.lowercased()
            headers.append(header)
        }
        let connection = headers.filter { $0.name == "connection" }.map { $0.value.lowercased() }
            .joined(separator: ",")
        let isNew = words[2].last == UInt8(ascii: "1")
        return Head(
            method: String(decoding: words[0], as: UTF8.self),
            target: String(decoding: words[1], as: UTF8.self),
            keepAlive: isNew ? !connection.contains("close") : connection.contains("keep-alive"),
            headers: headers,
            raw: raw
        )
    }

    private mutating func takeBody(of head: Head) throws(Refusal) -> [UInt8]? {
        var parser: BodyParser
        if let body { parser = body } else { parser = try framing(of: head) }
        defer { body = parser }
        do throws(BodyParser.Failure) {
            return try parser.take(from: &queue) ? parser.body : nil
        } catch {
            throw Self.refusal(error)
        }
    }

    private func framing(of head: Head) throws(Refusal) -> BodyParser {
        if let encoding = head.header("transfer-encoding") {
            guard encoding.lowercased() == "chunked", head.header("content-length") == nil else {
                throw Refusal(status: 400, reason: "this transfer encoding is not understood")
            }
            return BodyParser(isChunked: true, limit: maximumBodyLength)
        }
        let lengths = head.headers.filter { $0.name == "content-length" }.map(\.value)
        let text = lengths.first ?? "0"
        guard lengths.allSatisfy({ $0 == text }), !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { throw Refusal(status: 400, reason: "the Content-Length is not a number") }
        do throws(BodyParser.Failure) {
            return try BodyParser(length: Int(text) ?? .max, limit: maximumBodyLength)
        } catch {
            throw Self.refusal(error)
        }
    }

    private static func refusal(_ failure: BodyParser.Failure) -> Refusal {
        switch failure {
        case .noChunkLength: Refusal(status: 400, reason: "a chunk has no length")
        case .wrongChunkLength: Refusal(status: 400, reason: "a chunk is longer than it says")
        case .tooLong: Refusal(status: 413, reason: "the body is too long")
        case .trailersTooLong: Refusal(status: 431, reason: "the trailers are too long")
        }
    }
}
