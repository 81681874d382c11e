#if OpenAPI
import HTTPRecovery
import OpenAPIRuntime

extension MessageBody {
    /// The same body: it streams, can be read as often, and has the same length.
    init(_ body: HTTPBody) {
        var length: Int?
        if case .known(let count) = body.length, count >= 0 { length = Int(exactly: count) }
        switch body.iterationBehavior {
        case .multiple: self.init(length: length) { body }
        case .single: self.init(once: body, length: length)
        }
    }
}

extension HTTPBody {
    /// The same body: it streams, can be read as often, and has the same length.
    convenience init(_ body: MessageBody) {
        self.init(body, as: body)
    }

    /// The same body, whose failure is noted.
    convenience init(_ body: MessageBody, notingFailureIn hasFailed: Locked<Bool>) {
        // What is in memory does not fail.
        if body.bytesInMemory == nil {
            self.init(NotedBody(body: body, hasFailed: hasFailed), as: body)
        } else {
            self.init(body, as: body)
        }
    }

    private convenience init<Bytes: AsyncSequence & Sendable>(
        _ bytes: Bytes,
        as body: MessageBody
    ) where Bytes.Element == ByteChunk {
        self.init(
            bytes,
            length: body.length.map { .known(Int64($0)) } ?? .unknown,
            iterationBehavior: body.replayability == .replayable ? .multiple : .single
        )
    }
}

/// A body that remembers whether reading it has failed.
private struct NotedBody: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        var base: MessageBody.AsyncIterator
        let hasFailed: Locked<Bool>

        mutating func next() async throws -> ArraySlice<UInt8>? {
            do {
                return try await base.next()
            } catch {
                if !(error is CancellationError) { hasFailed.withLock { $0 = true } }
                throw error
            }
        }
    }

    let body: MessageBody
    let hasFailed: Locked<Bool>

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), hasFailed: hasFailed)
    }
}
#endif
