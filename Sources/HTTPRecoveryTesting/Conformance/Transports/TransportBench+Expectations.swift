import HTTPRecovery
import HTTPTypes

/// What an attempt may honestly end with.
struct FaultVerdict: Sendable {
    /// The codes that name the fault.
    var codes: Set<TransportError.Code>
    /// What may be claimed when no head has been handed over.
    var certainties: Set<TransportError.Certainty>

    init(_ codes: Set<TransportError.Code>, _ certainties: Set<TransportError.Certainty>) {
        (self.codes, self.certainties) = (codes, certainties)
    }
}

extension TransportBench {
    /// Fails unless the condition holds.
    func expect(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
        if !condition { throw ConformanceFailure(expectation()) }
    }

    /// Fails unless the two are equal.
    func expect<Value: Equatable>(_ value: Value, is expected: Value, _ expectation: String) throws {
        try expect(value == expected, "\(expectation): expected \(expected), found \(value)")
    }

    /// Fails unless the attempt ended as the verdict says.
    ///
    /// Whatever the verdict: a claim that the server has not seen the request is wrong if it has, and after the head
    /// was handed over an answer has begun.
    ///
    /// - Parameter seen: How many times the server has seen the request.
    @discardableResult
    func expect(_ attempt: Attempt, endsWith verdict: FaultVerdict, seen: Int) throws -> TransportError {
        guard let error = attempt.error else {
            throw ConformanceFailure("expected an error, found the answer \(attempt.head?.status.code ?? 0)")
        }
        guard let error = error as? TransportError else {
            throw ConformanceFailure("expected a TransportError, found \(type(of: error)): \(error)")
        }
        try expect(
            seen == 0 || error.certainty != .neverSent,
            "the server has seen the request, and the error claims that it was never sent: \(error)"
        )
        try expect(
            attempt.head == nil || error.certainty == .answered,
            "the head of the answer was handed over, and the error claims something else: \(error)"
        )
        if attempt.head == nil {
            let allowed = verdict.certainties.map(\.rawValue).sorted()
            try expect(
                verdict.certainties.contains(error.certainty),
                "the certainty should be \(allowed.joined(separator: " or ")): \(error)"
            )
        }
        let codes = verdict.codes.map(\.rawValue).sorted()
        try expect(
            verdict.codes.contains(error.code),
            "the code should be \(codes.joined(separator: " or ")): \(error)"
        )
        return error
    }

    /// Fails unless the operation ends with a `CancellationError`.
    func expectCancellation<Value: Sendable>(of task: Task<Value, any Error>, _ expectation: String) async throws {
        switch await task.result {
        case .success: throw ConformanceFailure("\(expectation): expected a CancellationError, found a result")
        case .failure(let error):
            try expect(
                error is CancellationError,
                "\(expectation): expected a CancellationError, found \(type(of: error)): \(error)"
            )
        }
    }

    /// A field's name; a failure if it is none.
    func name(_ name: String) throws -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { throw ConformanceFailure("no name of a field: \(name)") }
        return name
    }
}

/// The kinds of requests that faults are tried with: their bodies differ in what a resend would need.
enum RequestShape: String, Sendable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case stream = "POST-stream"
    case once = "POST-once"

    static let content = "some content, which is spent once"

    var method: HTTPRequest.Method { self == .get ? .get : .post }

    var body: MessageBody? {
        let stream = PieceStream(pieces: [Array(Self.content.utf8)])
        switch self {
        case .get: return nil
        case .post: return MessageBody(Self.content)
        case .stream: return MessageBody { stream }
        case .once: return MessageBody(once: stream)
        }
    }
}

/// A body of pieces that are there, and perhaps an error after them.
struct PieceStream: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let stream: PieceStream
        var index = 0

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if index == stream.pieces.count {
                if let error = stream.error { throw error }
                return nil
            }
            index += 1
            stream.count.withLock { $0 += 1 }
            return stream.pieces[index - 1][...]
        }
    }

    var pieces: [[UInt8]]
    var error: (any Error)?
    /// How many pieces were taken.
    let count = Locked(0)

    init(pieces: [[UInt8]], error: (any Error)? = nil) {
        self.pieces = pieces
        self.error = error
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}

/// A body of pieces each of which waits for its turn.
struct TurnStream: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let stream: TurnStream
        var index = 0

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if index == stream.pieces.count { return nil }
            try await stream.turns[index].wait()
            defer { index += 1 }
            return stream.pieces[index][...]
        }
    }

    let pieces: [[UInt8]]
    let turns: [Signal]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: self) }
}

/// A body whose end nobody knows: its pieces, and then nothing until it is cancelled.
struct EndlessStream: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var pieces: [[UInt8]]

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if !pieces.isEmpty { return pieces.removeFirst()[...] }
            try await Signal().wait()
            return nil
        }
    }

    var pieces: [[UInt8]]

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: pieces) }
}
