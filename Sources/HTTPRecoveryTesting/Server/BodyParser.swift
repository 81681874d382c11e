/// Cuts the body out of a message, as its framing says (RFC 9112 section 6).
package struct BodyParser: Sendable {
    /// Why there is no body.
    package enum Failure: Error, Sendable, Equatable {
        case noChunkLength
        case wrongChunkLength
        case tooLong
        case trailersTooLong
    }

    private enum State {
        case length(Int)
        case chunkSize
        case chunk(Int)
        case chunkEnd
        case trailers
        case untilClose
        case done
    }

    private var state: State
    private let limit: Int
    /// How long the trailers may be.
    private var trailers = 64 * 1024
    /// What there is so far.
    package private(set) var body: [UInt8] = []

    /// A body of so many bytes.
    package init(length: Int, limit: Int) throws(Failure) {
        guard length <= limit else { throw .tooLong }
        state = .length(length)
        self.limit = limit
    }

    /// A body in chunks, or one that ends with the connection.
    package init(isChunked: Bool, limit: Int) {
        state = isChunked ? .chunkSize : .untilClose
        self.limit = limit
    }

    /// Whether only the end of the connection ends it.
    package var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

    /// Takes what belongs to the body; true when it is whole.
    package mutating func take(from queue: inout ByteQueue) throws(Failure) -> Bool {
        while true {
            switch state {
            case .done: return true
            case .length(let left):
                move(left, from: &queue)
                guard case .length(0) = state else { return false }
                state = .done
            case .untilClose:
                guard body.count + queue.count <= limit else { throw .tooLong }
                body += queue.take(.max)
                return false
            case .chunkSize:
                guard let line = queue.line() else {
                    guard queue.count <= 1024 else { throw .noChunkLength }
                    return false
                }
                guard let size = Self.size(line) else { throw .noChunkLength }
                guard body.count + size <= limit else { throw .tooLong }
                state = size == 0 ? .trailers : .chunk(size)
            case .chunk(let left):
                move(left, from: &queue)
                guard case .chunk(0) = state else { return false }
                state = .chunkEnd
            case .chunkEnd:
                let end = queue.first(2)
                guard end.first == 0x0A || "\r\n".utf8.starts(with: end) else { throw .wrongChunkLength }
                guard queue.line() != nil else { return false }
                state = .chunkSize
            case .trailers:
                let before = queue.count
                let line = queue.line()
                trailers -= before - queue.count
                guard trailers - (line == nil ? queue.count : 0) >= 0 else { throw .trailersTooLong }
                guard let line else { return false }
                if line.isEmpty { state = .done }
            }
        }
    }

    /// Moves what is there, at most so much, to the body.
    private mutating func move(_ left: Int, from queue: inout ByteQueue) {
        let part = queue.take(left)
        body += part
        if case .chunk = state { state = .chunk(left - part.count) } else { state = .length(left - part.count) }
    }

    private static func size(_ line: ArraySlice<UInt8>) -> Int? {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        guard (1...8).contains(digits.count), line.count <= 1024, digits.allSatisfy(Self.isHexadecimal) else {
            return nil
        }
        return Int(String(decoding: digits, as: UTF8.self), radix: 16)
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }
}
