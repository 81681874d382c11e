import Locking

/// The body of a response as it comes in; whoever drops it, unread or half read, ends the transfer.
struct ReceivedBody: AsyncSequence, Sendable {
    typealias Element = ArraySlice<UInt8>
    typealias Chunks = AsyncThrowingStream<Element, any Error>

    /// Whoever is the last to let go of it does not want the rest.
    fileprivate final class Interest: Sendable {
        private let attempt: Attempt

        init(in attempt: Attempt) {
            self.attempt = attempt
        }

        deinit {
            attempt.cancel()
        }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var chunks: Chunks.Iterator
        private let interest: Interest?

        fileprivate init(_ chunks: Chunks, _ interest: Interest?) {
            self.chunks = chunks.makeAsyncIterator()
            self.interest = interest
        }

        mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if let chunk = try await chunks.next(isolation: actor) { return chunk }
            // The stream of a task that was cancelled just ends.
            try Task.checkCancellation()
            return nil
        }
    }

    private let chunks: Chunks
    /// The body's own interest, which goes over to whoever reads it.
    private let interest: Locked<Interest?>

    init(_ chunks: Chunks, of attempt: Attempt) {
        self.chunks = chunks
        interest = Locked(Interest(in: attempt))
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            chunks,
            interest.withLock { interest in
                defer { interest = nil }
                return interest
            }
        )
    }
}
