import HTTPTypes

/// Reads a body piece by piece on behalf of several readers in turn.
///
/// An iterator cannot leave the task that made it; this actor keeps it, so that the engine can read the beginning of a
/// response and hand the rest on.
actor BodyReader {
    private let body: MessageBody
    private var iterator: MessageBody.AsyncIterator?
    private var hasStarted = false
    /// What the body broke off with: it has no end, however often one asks.
    private var failure: (any Error)?

    init(_ body: MessageBody) {
        self.body = body
    }

    /// The next chunk, or nil at the end.
    ///
    /// - Parameter count: How many bytes are waited for if the body can wait, and does not end before.
    func next(atLeast count: Int = 1) async throws -> ArraySlice<UInt8>? {
        if !hasStarted {
            hasStarted = true
            iterator = body.makeAsyncIterator()
        }
        if let failure { throw failure }
        guard var current = iterator else { return nil }
        iterator = nil
        do {
            let chunk = try await current.next(atLeast: count)
            if chunk != nil { iterator = current }
            return chunk
        } catch {
            failure = error
            throw error
        }
    }

    /// Reads until the end or until more than `limit` bytes have come.
    ///
    /// - Returns: What was read, whether it is the whole body, and the error at which the body broke off.
    func read(upTo limit: Int) async -> (bytes: [UInt8], isWhole: Bool, error: (any Error)?) {
        var collected = ByteCollector()
        do {
            while collected.count <= limit {
                let wanted = MessageBody.wanted(upTo: limit - collected.count)
                guard let chunk = try await next(atLeast: wanted) else { return (collected.joined(), true, nil) }
                collected.append(chunk)
            }
            return (collected.joined(), false, nil)
        } catch {
            return (collected.joined(), false, error)
        }
    }
}

extension BodyReader {
    /// What was read of a body, and all of it.
    struct Beginning {
        let bytes: [UInt8]
        let body: MessageBody
        /// How much was asked for; the last piece may have brought more.
        let limit: Int
    }

    /// Reads the beginning of a response's body, and puts it back in front of the rest.
    ///
    /// What a refusal states in its head holds, even if its body breaks off: then that is all of its body.
    ///
    /// - Throws: `TransportError` if the body of any other response breaks off; `CancellationError` as soon as the
    ///   task is cancelled.
    static func beginning(of response: TransportResponse, upTo limit: Int) async throws -> Beginning {
        let reader = BodyReader(response.body)
        let (bytes, isWhole, error) = await reader.read(upTo: limit)
        if error is CancellationError { throw CancellationError() }
        if let error, response.head.status.code < 400 { throw TransportError(ofBody: error) }
        try Task.checkCancellation()
        let body = isWhole ? MessageBody(bytes) : MessageBody(prefix: bytes, rest: reader, length: response.body.length)
        return Beginning(bytes: bytes, body: body, limit: limit)
    }
}

extension MessageBody {
    /// A body of the bytes that were read already and the rest that a reader still has.
    init(prefix: [UInt8], rest: BodyReader, length: Int?) {
        self.init(once: ReaderChunks(prefix: prefix, reader: rest), length: length)
    }

    /// The same body, but reading it past the instant ends with a timeout.
    ///
    /// - Parameters:
    ///   - deadline: Until when it may be read; nil for any time.
    ///   - time: The clock.
    ///   - threads: Where it is read; nil for where tasks run.
    ///   - leave: Given a read that nobody waits for any more.
    func limited(
        until deadline: TimeSource.Instant?,
        time: TimeSource,
        on threads: WorkerThreads?,
        leaving leave: @escaping @Sendable (AbandonedWork) -> Void
    ) -> MessageBody {
        if bytesInMemory != nil { return self }
        let reader = ForeignReader(BodyReader(self), threads)
        let chunks = TimedChunks(reader: reader, deadline: deadline, time: time, leave: leave)
        return MessageBody(once: chunks, length: length)
    }
}

private struct ReaderChunks: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var prefix: ArraySlice<UInt8>?
        let reader: BodyReader

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if let first = prefix {
                prefix = nil
                return first
            }
            return try await reader.next()
        }
    }

    let prefix: [UInt8]
    let reader: BodyReader

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(prefix: prefix.isEmpty ? nil : prefix[...], reader: reader)
    }
}

/// The reader of a body of a foreign transport, which ends a transfer when the body is let go of: that may block.
private final class ForeignReader: Sendable {
    let threads: WorkerThreads?
    private let reader: Locked<BodyReader?>

    init(_ reader: BodyReader, _ threads: WorkerThreads?) {
        self.reader = Locked(reader)
        self.threads = threads
    }

    func next() async throws -> ArraySlice<UInt8>? {
        try await reader.withLock { $0 }?.next()
    }

    deinit {
        // Nobody else holds it, so that it goes where it is taken.
        threads?.enqueue { [reader] in _ = reader.withLock { $0.take() } }
    }
}

private struct TimedChunks: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: TimedChunks
        /// What reading has ended with: what was left to itself is not read on.
        var failure: (any Error)?

        mutating func next() async throws -> ArraySlice<UInt8>? {
            if let failure { throw failure }
            do {
                let (time, reader) = (chunks.time, chunks.reader)
                return try await time.withCutoff(at: chunks.deadline, on: reader.threads, leaving: chunks.leave) {
                    try await reader.next()
                }
            } catch {
                let isLate = error is TimeoutExceeded
                let late = TransportError(.timedOut, .answered, message: "the response body took too long")
                failure = isLate ? late : error
                throw isLate ? late : error
            }
        }
    }

    let reader: ForeignReader
    let deadline: TimeSource.Instant?
    let time: TimeSource
    let leave: @Sendable (AbandonedWork) -> Void

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(chunks: self)
    }
}
