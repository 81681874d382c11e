import HTTPRecoveryTesting

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
        case body(BodyParser)
        case done(Outcome)
    }

    private let isForHead: Bool
    private var state = State.statusLine
    private var queue = ByteQueue()
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
        queue.append(bytes)
        return advance()
    }

    /// Takes the end of the connection.
    mutating func end() -> Outcome {
        switch state {
        case .done(let outcome): return outcome
        case .body(let parser) where parser.endsWithConnection: return finish(parser.body)
        case .statusLine where queue.count == 0 && interimAnswers == 0:
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
                } else if let field = HeaderLine(line) {
                    answer.headers.append(field)
                } else {
                    return fail(.invalid, "a header field of its answer is not one")
                }
            case .body(var parser):
                do throws(BodyParser.Failure) {
                    let isWhole = try parser.take(from: &queue)
                    guard !isWhole else { return finish(parser.body) }
                    state = .body(parser)
                    return .incomplete
                } catch {
                    return fail(error)
                }
            }
        }
    }

    private mutating func finish(_ body: [UInt8]) -> Outcome {
        answer.body = body
        return end(with: .answer(answer))
    }

    private mutating func fail(_ failure: BodyParser.Failure) -> Outcome {
        switch failure {
        case .noChunkLength: fail(.invalid, "a chunk has no length")
        case .wrongChunkLength: fail(.invalid, "a chunk is longer than it says")
        case .tooLong: fail(.tooLong, "its body is longer than \(Self.maximumBodyLength) bytes")
        case .trailersTooLong: fail(.tooLong, "the head of its answer is longer than \(Self.maximumHeadLength) bytes")
        }
    }

    private mutating func fail(_ code: UpstreamFailure.Code, _ message: String) -> Outcome {
        end(with: .failure(UpstreamFailure(code, message)))
    }

    private mutating func end(with outcome: Outcome) -> Outcome {
        state = .done(outcome)
        queue = ByteQueue()
        answer = SandboxResponse(status: 0)
        return outcome
    }

    /// The next line without its end; nil when it is not there yet, or past the limit.
    private mutating func takeLine() -> ArraySlice<UInt8>? {
        let before = queue.count
        guard let line = queue.line() else { return nil }
        headLength += before - queue.count
        return headLength <= Self.maximumHeadLength ? line : nil
    }

    private mutating func incompleteHead() -> Outcome {
        headLength + queue.count > Self.maximumHeadLength ? fail(BodyParser.Failure.trailersTooLong) : .incomplete
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
        let reason = HeaderLine.text(line.dropFirst(13))
        if !reason.isEmpty { answer.reason = reason }
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
            _ = finish([])
        } else if !codings.isEmpty {
            guard codings.count == 1, codings[0].lowercased() == "chunked", lengths.isEmpty else {
                _ = fail(.invalid, "the end of its body cannot be told")
                return
            }
            state = .body(BodyParser(isChunked: true, limit: Self.maximumBodyLength))
        } else if let first = lengths.first {
            guard !first.isEmpty, first.utf8.allSatisfy(Self.isDigit), lengths.allSatisfy({ $0 == first }) else {
                _ = fail(.invalid, "its Content-Length is not a number")
                return
            }
            do {
                state = .body(try BodyParser(length: Int(first) ?? .max, limit: Self.maximumBodyLength))
            } catch {
                _ = fail(error)
            }
        } else {
            state = .body(BodyParser(isChunked: false, limit: Self.maximumBodyLength))
        }
    }

    private func values(_ name: String) -> [String] {
        answer.headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    private mutating func removeConnectionFields(keepsLength: Bool) {
        var left = UpstreamRequest.hopByHop(answer.headers)
        if !keepsLength { left.insert("content-length") }
        answer.headers.removeAll { left.contains($0.name.lowercased()) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
