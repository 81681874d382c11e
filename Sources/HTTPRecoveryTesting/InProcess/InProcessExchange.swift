import HTTPRecovery
import HTTPTypes

/// One call of an ``InProcessTransport``: the function's task, its answer, and the pieces of the answer's body.
///
/// A piece is asked of the function's body only when the reader waits for it: nobody reads ahead.
final class InProcessExchange: Sendable {
    private typealias Piece = ArraySlice<UInt8>

    private struct State {
        var task: Task<Void, Never>?
        /// Lands when the reader wants a piece.
        var demand = Flight<Void>()
        /// Lands with the piece that is wanted.
        var piece = Flight<Piece?>()
        /// What the exchange has ended with; nil while it goes on.
        var end: Result<Void, any Error>?
    }

    /// Lands when there is an answer, or none will come.
    private let head = Flight<Void>()
    /// The answer until it is taken: whoever has its body holds the exchange, so this one must not keep it.
    private let response = Locked<TransportResponse?>(nil)
    private let state = Locked(State())

    /// Calls the function.
    ///
    /// - Parameters:
    ///   - isBodyless: Whether the answer has no body whatever its head says.
    ///   - call: The call.
    ///   - handler: The function.
    ///   - end: Called when the task has ended.
    func run(
        isBodyless: Bool,
        _ call: InProcessTransport.Call,
        _ handler: @escaping InProcessTransport.Handler,
        atEnd end: @escaping @Sendable () -> Void
    ) {
        let task = Task {
            defer { end() }
            do {
                let response = try await handler(call)
                if let body = self.pass(on: response, isBodyless: isBodyless) {
                    try await self.produce(body, expected: Self.length(of: response))
                }
            } catch {
                self.end(with: error is TransportError ? error : Self.failure(error))
            }
        }
        let isOver = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        if isOver { task.cancel() }
    }

    private static func failure(_ error: any Error) -> TransportError {
        TransportError(.other, .unknown, message: "the function that answers threw \(type(of: error))")
    }

    /// The answer, as soon as its head is there.
    func answer() async throws -> TransportResponse {
        do {
            try await head.value
            let response = response.withLock { response in
                defer { response = nil }
                return response
            }
            guard let response else { throw CancellationError() }
            return response
        } catch {
            end(with: error)
            throw error
        }
    }

    /// Ends the call because the transport does.
    func shutDown() {
        end(with: TransportError(.shutDown, .unknown, message: "the transport has been shut down"))
    }

    private func end(with error: any Error) {
        // Either this is what the head comes to, or the head has been handed over: then the server has answered.
        head.land(.failure(error))
        var error = error
        if case .success = head.result, var failure = error as? TransportError {
            failure.certainty = .answered
            error = failure
        }
        let (task, piece) = state.withLock { [error] state in
            if state.end == nil { state.end = .failure(error) }
            return (state.task, state.piece)
        }
        piece.land(.failure(error))
        task?.cancel()
    }

    // MARK: The answer's body

    /// Hands the answer over; returns its body if that is still to be read.
    ///
    /// A function of its own, because what it makes must not live on in the task: the reader alone holds the exchange.
    private func pass(on original: TransportResponse, isBodyless: Bool) -> MessageBody? {
        var answer = original
        let isEmpty = isBodyless || original.head.status.code == 204 || original.head.status.code == 304
        let isWhole = original.body.bytesInMemory.map { $0.count >= Self.length(of: original) ?? 0 } ?? false
        if isEmpty { answer.body = .empty }
        // What is beyond the length is the next answer's, on a connection.
        if isWhole, let length = Self.length(of: original), let bytes = original.body.bytesInMemory {
            if bytes.count > length { answer.body = MessageBody(Array(bytes.prefix(max(0, length)))) }
        }
        if !isEmpty, !isWhole {
            answer.body = MessageBody(once: Pieces(hold: Hold(self)), length: original.body.length)
        }
        response.withLock { [answer] in $0 = answer }
        head.land(.success(()))
        return isEmpty || isWhole ? nil : original.body
    }

    /// The length that the head states.
    private static func length(of response: TransportResponse) -> Int? {
        response.head.headerFields[.contentLength].flatMap { Int($0) }
    }

    private func produce(_ body: MessageBody, expected: Int?) async throws {
        var iterator = body.makeAsyncIterator()
        var count = 0
        while true {
            try await state.withLock { $0.demand }.value
            var next: Piece?
            do {
                next = try await iterator.next(isolation: #isolation)
            } catch {
                let lost = TransportError(.connectionLost, .answered, message: "the body of the answer broke off")
                throw error is TransportError ? error : lost
            }
            let room = max(0, (expected ?? Int.max) - count)
            count += next?.count ?? 0
            if let piece = next, piece.count > room { next = room > 0 ? piece.prefix(room) : nil }
            if next == nil, count < expected ?? 0 {
                throw TransportError(.truncated, .answered, message: "the body of the answer is too short")
            }
            let piece = state.withLock { [next] state in
                defer { (state.demand, state.piece) = (Flight(), Flight()) }
                if next == nil, state.end == nil { state.end = .success(()) }
                return state.piece
            }
            piece.land(.success(next))
            if next == nil { return }
        }
    }

    private func next() async throws -> Piece? {
        let (end, demand, piece) = state.withLock { ($0.end, $0.demand, $0.piece) }
        if let end {
            try end.get()
            return nil
        }
        demand.land(.success(()))
        do {
            return try await piece.value
        } catch {
            self.end(with: error)
            throw error
        }
    }

    /// Ends the exchange when nobody can read its body any more.
    private final class Hold: Sendable {
        let exchange: InProcessExchange

        init(_ exchange: InProcessExchange) {
            self.exchange = exchange
        }

        deinit {
            exchange.end(with: CancellationError())
        }
    }

    private struct Pieces: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            /// A hold of the reader's own: the sequence may be there longer, but is read once.
            let hold: Hold

            mutating func next() async throws -> ArraySlice<UInt8>? {
                try await hold.exchange.next()
            }
        }

        let hold: Hold

        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(hold: Hold(hold.exchange)) }
    }

    // MARK: The request's body

    /// The request's body as the function reads it: what is wrong with it ends the call, whatever the function does.
    func watched(
        _ body: MessageBody,
        record: @escaping @Sendable (ArraySlice<UInt8>) -> Void
    ) -> MessageBody {
        MessageBody(once: Upload(body: body, exchange: self, record: record), length: body.length)
    }

    private struct Upload: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            let upload: Upload
            var pieces: MessageBody.AsyncIterator
            var count = 0

            mutating func next() async throws -> ArraySlice<UInt8>? {
                let piece: ArraySlice<UInt8>?
                do {
                    piece = try await pieces.next(isolation: #isolation)
                } catch {
                    throw upload.fail("the body of the request broke off")
                }
                count += piece?.count ?? 0
                if let length = upload.body.length, count > length || piece == nil && count < length {
                    throw upload.fail("the body of the request has another length than it says")
                }
                if let piece { upload.record(piece) }
                return piece
            }
        }

        let body: MessageBody
        let exchange: InProcessExchange
        let record: @Sendable (ArraySlice<UInt8>) -> Void

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(upload: self, pieces: body.makeAsyncIterator())
        }

        func fail(_ message: String) -> TransportError {
            let error = TransportError(.requestBodyFailed, .unknown, message: message)
            exchange.end(with: error)
            return error
        }
    }
}
