/// Cuts one final answer out of the HTTP/1.1 bytes of an upstream.
///
/// A value: give it what arrives, or tell it of the end, and ask it what that amounts to. Each byte is looked at a
/// bounded number of times, however the bytes come, and the limits bound what is kept.
struct ResponseParser: Sendable {
    /// What the bytes so far amount to.
    enum Outcome: Sendable, Equatable {
        /// More bytes are needed.
        case incomplete
        case answer(SandboxResponse)
        case failure(UpstreamFailure)
    }

    /// How many bytes the head may have, interim answers and trailers included.
    static let maximumHeadLength = 64 * 1024
    /// How many bytes the body may have.
    static let maximumBodyLength = 16 * 1024 * 1024
    private static let maximumInterimAnswers = 16

    private enum State {
        case statusLine
        case fields
        case length(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        case untilClose
        case done(Outcome)
    }

    private let isForHead: Bool
    private var state = State.statusLine
    private var buffer: [UInt8] = []
    /// Where what is not yet understood begins.
    private var position = 0
    /// How far a line's end was looked for in vain.
    private var scanned = 0
    private var headLength = 0
    private var interimAnswers = 0
    private var answer = SandboxResponse(status: 0)

    /// - Parameter isForHead: Whether the request was a HEAD, whose answer has no body.
    init(isForHead: Bool) {
        self.isForHead = isForHead
    }

    /// Takes bytes that arrived.
    mutating func append(_ bytes: some Collection<UInt8>) -> Outcome {
        if case .done(let outcome) = state { return outcome }
        buffer.removeFirst(position)
        scanned = max(0, scanned - position)
        position = 0
        buffer.append(contentsOf: bytes)
        return advance()
    }

    /// Takes the end of the connection.
    mutating func end() -> Outcome {
        switch state {
        case .done(let outcome): return outcome
        case .untilClose: return finish()
        case .statusLine where buffer.isEmpty && interimAnswers == 0:
            return fail(.closed, "it closed the connection without an answer")
        default: return fail(.closed, "it closed the connection in the middle of its answer")
        }
    }

    private mutating func advance() -> Outcome {
        while true {
            switch state {
            case .done(let outcome): return outcome
            case .statusLine:
                guard let line = takeLine() else { return incompleteHead() }
                guard readStatus(line) else { return fail(.invalid, "its first line is not one of HTTP/1.1") }
                state = .fields
            case .fields:
                guard let line = takeLine() else { return incompleteHead() }
                if line.isEmpty {
                    endOfFields()
                } else if !readField(line) {
                    return fail(.invalid, "a header field of its answer is not one")
                }
            case .length(let left):
                take(left)
                guard case .length(0) = state else { return .incomplete }
                return finish()
            case .chunkSize:
                guard let line = takeLine() else { return incompleteHead() }
                guard let size = Self.chunkSize(line) else { return fail(.invalid, "a chunk has no length") }
                if size == 0 {
                    state = .trailers
                } else if answer.body.count + size > Self.maximumBodyLength {
                    return fail(.tooLong, "its body is longer than \(Self.maximumBodyLength) bytes")
                } else {
                    state = .chunk(size)
                }
            case .chunk(let left):
                take(left)
                guard case .chunk(0) = state else { return .incomplete }
                state = .chunkEnd
            case .chunkEnd:
                let end = buffer[position...].prefix(2)
                guard end.first == 0x0A || "\r\n".utf8.starts(with: end) else {
                    return fail(.invalid, "a chunk is longer than it says")
                }
                guard let lineFeed = end.firstIndex(of: 0x0A) else { return .incomplete }
                position = lineFeed + 1
                state = .chunkSize
            case .trailers:
                guard let line = takeLine() else { return incompleteHead() }
                if line.isEmpty { return finish() }
            case .untilClose:
                guard answer.body.count + buffer.count - position <= Self.maximumBodyLength else {
                    return fail(.tooLong, "its body is longer than \(Self.maximumBodyLength) bytes")
                }
                answer.body += buffer[position...]
                position = buffer.count
                return .incomplete
            }
        }
    }

    private mutating func finish() -> Outcome {
        end(with: .answer(answer))
    }

    private mutating func fail(_ code: UpstreamFailure.Code, _ message: String) -> Outcome {
        end(with: .failure(UpstreamFailure(code, message)))
    }

    private mutating func end(with outcome: Outcome) -> Outcome {
        state = .done(outcome)
        buffer = []
        position = 0
        answer = SandboxResponse(status: 0)
        return outcome
    }

    /// The next line without its end; nil when it is not there yet, or past the limit.
    private mutating func takeLine() -> ArraySlice<UInt8>? {
        guard headLength <= Self.maximumHeadLength else { return nil }
        guard let end = buffer[max(scanned, position)...].firstIndex(of: 0x0A) else {
            scanned = buffer.count
            return nil
        }
        // The framing of chunks counts with its own line alone, or a long body in small chunks would be refused.
        let length = end + 1 - position
        if case .chunkSize = state {
            if length > 1024 { headLength = .max }
        } else {
            headLength += length
        }
        guard headLength <= Self.maximumHeadLength else { return nil }
        var line = buffer[position..<end]
        if line.last == 0x0D { line.removeLast() }
        position = end + 1
        scanned = position
        return line
    }

    private mutating func incompleteHead() -> Outcome {
        let isTooLong =
            headLength > Self.maximumHeadLength || buffer.count - position > Self.maximumHeadLength - headLength
        return isTooLong
            ? fail(.tooLong, "the head of its answer is longer than \(Self.maximumHeadLength) bytes") : .incomplete
    }

    /// Moves what is there, at most so much, from the buffer to the body.
    private mutating func take(_ left: Int) {
        let count = min(left, buffer.count - position)
        answer.body += buffer[position..<position + count]
        position += count
        if case .chunk = state { state = .chunk(left - count) } else { state = .length(left - count) }
    }

    private mutating func readStatus(_ line: ArraySlice<UInt8>) -> Bool {
        guard line.starts(with: "HTTP/1.".utf8), line.count >= 12 else { return false }
        let digits = line.dropFirst(9).prefix(3)
        let version = line[line.startIndex + 7]
        guard version == UInt8(ascii: "1") || version == UInt8(ascii: "0"), line[line.startIndex + 8] == 0x20,
            digits.allSatisfy(Self.isDigit), let status = Int(String(decoding: digits, as: UTF8.self)), status >= 100,
            line.count == 12 || line[line.startIndex + 12] == 0x20
        else { return false }
        answer = SandboxResponse(status: status)
        let reason = Self.text(line.dropFirst(13))
        if !reason.isEmpty { answer.reason = reason }
        return true
    }

    private mutating func readField(_ line: ArraySlice<UInt8>) -> Bool {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(HeaderText.isTokenByte),
            !line.contains(where: { $0 == 0x0D || $0 == 0 })
        else { return false }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        answer.headers.append(.init(name: name, value: HeaderText.trimmed(Self.text(line[(colon + 1)...])[...])))
        return true
    }

    /// Decides how the body ends (RFC 9112 section 6.3).
    private mutating func endOfFields() {
        let status = answer.status
        if status == 101 {
            _ = fail(.invalid, "it switches to another protocol, which nobody asked for")
            return
        }
        if status < 200 {
            interimAnswers += 1
            state = .statusLine
            if interimAnswers > Self.maximumInterimAnswers {
                _ = fail(.invalid, "it sends interim answers without end")
            }
            return
        }
        let codings = values("transfer-encoding")
        let lengths = values("content-length")
        let hasNoBody = isForHead || status == 204 || status == 304
        removeConnectionFields(keepsLength: hasNoBody && status != 204)
        if hasNoBody {
            answer.statesLength = false
            _ = finish()
        } else if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked", lengths.isEmpty else {
                _ = fail(.invalid, "the end of its body cannot be told")
                return
            }
            state = .chunkSize
        } else if let first = lengths.first {
            guard !first.isEmpty, first.utf8.allSatisfy(Self.isDigit), lengths.allSatisfy({ $0 == first }) else {
                _ = fail(.invalid, "its Content-Length is not a number")
                return
            }
            guard let length = Int(first), length <= Self.maximumBodyLength else {
                _ = fail(.tooLong, "its body is longer than \(Self.maximumBodyLength) bytes")
                return
            }
            state = .length(length)
        } else {
            state = .untilClose
        }
    }

    private func values(_ name: String) -> [String] {
        answer.headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    private mutating func removeConnectionFields(keepsLength: Bool) {
        var left = HeaderText.hopByHop(answer.headers)
        if !keepsLength { left.insert("content-length") }
        answer.headers.removeAll { left.contains($0.name.lowercased()) }
    }

    private static func chunkSize(_ line: ArraySlice<UInt8>) -> Int? {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        guard !digits.isEmpty, digits.count <= 8, digits.allSatisfy({ isDigit($0) || isHexLetter($0) }) else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    /// A text of a header: UTF-8, or Latin-1 where it is none.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
