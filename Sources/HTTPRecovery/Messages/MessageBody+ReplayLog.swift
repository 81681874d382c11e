extension MessageBody {
    /// Creates a body from a stream that passes by once, and keeps what was read of it so that it can be sent again.
    ///
    /// What is kept is given up as soon as it is more than the limit: then the body is committed to the reading that is
    /// under way, and the request is not sent again (gRPC proposal A6). A resend begins with what was kept, and goes on
    /// with the stream.
    ///
    /// - Parameters:
    ///   - stream: The stream, which is read once, in a task of its own, and no further than somebody wants.
    ///   - limit: The most bytes to keep. Default: 1 MiB.
    ///   - length: The number of bytes, if it is known.
    public init<Stream: AsyncSequence & Sendable>(
        once stream: Stream,
        keepingUpTo limit: Int,
        length: Int? = nil
    ) where Stream.Element == ArraySlice<UInt8> {
        self.init(ReplayLog(MessageBody(once: stream, length: length), limit: limit), length: length)
    }

    /// What was read of a stream, for readings that come one after the other.
    final class ReplayLog: Sendable {
        private struct State: Sendable {
            var chunks: [ArraySlice<UInt8>] = []
            /// How many chunks were let go of in front of those.
            var dropped = 0
            var count = 0
            var end: Result<Void, any Error>?
            /// The reading that is under way: only the newest goes on.
            var reading = 0
            var isCommitted = false
            /// Lands when more has come.
            var pull: Flight<Void>?
            /// What fetches that.
            var task: Task<Void, Never>?
        }

        private enum Step {
            case chunk(ArraySlice<UInt8>)
            case end(Result<Void, any Error>)
            case pull(Flight<Void>, isNew: Bool)
        }

        private let source: BodyReader
        private let limit: Int
        private let state = Locked(State())

        init(_ body: MessageBody, limit: Int) {
            source = BodyReader(body)
            self.limit = Swift.max(0, limit)
        }

        /// A stream that nobody can read any more is left.
        deinit {
            state.withLock { $0.task }?.cancel()
        }

        /// Whether a reading can begin with the first byte.
        var canBeRead: Bool { state.withLock { !$0.isCommitted } }

        /// Begins a reading, which ends those before it.
        func read() -> MessageBody.AsyncIterator {
            let reading = state.withLock { state in
                state.reading += 1
                return state.isCommitted ? nil : state.reading
            }
            guard let reading else { return MessageBody.AsyncIterator { throw MessageBody.ReadError.alreadyConsumed } }
            var next = 0
            return MessageBody.AsyncIterator {
                while true {
                    switch self.step(next, of: reading) {
                    case .chunk(let chunk):
                        next += 1
                        return chunk
                    case .end(let end):
                        try end.get()
                        return nil
                    case .pull(let flight, let isNew):
                        if isNew { self.pull(flight) }
                        try await flight.value
                    }
                }
            }
        }

        private func step(_ index: Int, of reading: Int) -> Step {
            state.withLock { state in
                if state.reading != reading || index < state.dropped {
                    return .end(.failure(MessageBody.ReadError.alreadyConsumed))
                }
                if index < state.dropped + state.chunks.count {
                    let chunk = state.chunks[index - state.dropped]
                    guard state.isCommitted else { return .chunk(chunk) }
                    state.chunks.removeFirst(index - state.dropped + 1)
                    state.dropped = index + 1
                    return .chunk(chunk)
                }
                if let end = state.end { return .end(end) }
                if let pull = state.pull { return .pull(pull, isNew: false) }
                let pull = Flight<Void>()
                state.pull = pull
                return .pull(pull, isNew: true)
            }
        }

        /// Fetches the next chunk in a task of its own: whoever waits may be cancelled, and the stream must go on all the same.
        private func pull(_ flight: Flight<Void>) {
            let task = Task { [weak self, source] in
                let result: Result<MessageBody.Element?, any Error>
                do {
                    result = .success(try await source.next())
                } catch {
                    result = .failure(error)
                }
                self?.note(result)
                flight.land(.success(()))
            }
            state.withLock { $0.task = task }
        }

        private func note(_ result: Result<MessageBody.Element?, any Error>) {
            state.withLock { state in
                state.pull = nil
                switch result {
                case .success(let chunk?):
                    state.chunks.append(chunk)
                    state.count += chunk.count
                    if state.count > limit { state.isCommitted = true }
                case .success(nil): state.end = .success(())
                case .failure(let error): state.end = .failure(error)
                }
            }
        }
    }
}
