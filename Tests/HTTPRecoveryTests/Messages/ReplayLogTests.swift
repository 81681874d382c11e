import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// One-shot streams of which enough is kept to send them again.
@Suite struct ReplayLogTests {
    /// A body of numbered chunks of 10 bytes, and how many of them were taken from its stream.
    private static func body(chunks: Int, keeping limit: Int) -> (body: MessageBody, taken: Locked<Int>) {
        let taken = Locked(0)
        let stream = AsyncStream<ArraySlice<UInt8>> {
            let number = taken.withLock { taken in
                taken += 1
                return taken
            }
            return number <= chunks ? [UInt8](repeating: UInt8(number), count: 10)[...] : nil
        }
        return (MessageBody(once: stream, keepingUpTo: limit), taken)
    }

    private static func bytes(_ chunks: Int) -> [UInt8] {
        (1...chunks).flatMap { [UInt8](repeating: UInt8($0), count: 10) }
    }

    @Test func whatWasSentWholeIsSentAgain() async throws {
        let bench = Bench([.status(503), .status(200)]) { Recovery() }
        let (body, taken) = Self.body(chunks: 3, keeping: 30)
        var options = RequestOptions()
        options.resend = .replayable
        _ = try await bench.sendSkippingWaits(Bench.post, body: body, options: options)
        #expect(bench.transport.received.map(\.body) == [Self.bytes(3), Self.bytes(3)])
        #expect(taken.withLock { $0 } == 4)
    }

    @Test func whatIsLargerThanTheLimitIsNot() async throws {
        let bench = Bench([.status(503), .status(200)]) { Recovery() }
        let (body, _) = Self.body(chunks: 3, keeping: 29)
        var options = RequestOptions()
        options.resend = .replayable
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(Bench.post, body: body, options: options)
        }
        #expect(error?.reason == .bodyNotReplayable && bench.transport.received.map(\.body) == [Self.bytes(3)])
    }

    @Test(arguments: 0...4, [0, 10, 25, 40, 1000])
    func aReadingGoesOnWhereTheStreamIs(read: Int, limit: Int) async throws {
        let (body, taken) = Self.body(chunks: 4, keeping: limit)
        let first = body.makeAsyncIterator()
        for index in 0..<read {
            var iterator = first
            #expect(try await iterator.next(isolation: nil) == Self.bytes(4)[(index * 10)..<(index * 10 + 10)])
        }
        let isKept = read * 10 <= limit
        #expect(body.canBeRead == isKept)
        guard isKept else {
            await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await body.collect(upTo: 1000) }
            return
        }
        #expect(try await body.collect(upTo: 1000) == Self.bytes(4))
        #expect(taken.withLock { $0 } == 5)
        // The reading that was under way is over: its request counts no more.
        var stale = first
        await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await stale.next(isolation: nil) }
    }

    @Test func aReaderThatIsCancelledTakesNothingAway() async throws {
        let source = AsyncStream<ArraySlice<UInt8>>.makeStream()
        let body = MessageBody(once: source.stream, keepingUpTo: 100)
        source.continuation.yield([1])
        var first = body.makeAsyncIterator()
        #expect(try await first.next() == [1])
        let reader = Task {
            var iterator = body.makeAsyncIterator()
            while try await iterator.next(isolation: nil) != nil {}
        }
        await Task.yield()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        source.continuation.yield([2])
        source.continuation.finish()
        #expect(try await body.collect(upTo: 10) == [1, 2])
    }

    @Test(.timeLimit(.minutes(30))) func aStreamThatNobodyWantsAnyMoreIsLeft() async throws {
        let source = AsyncStream<ArraySlice<UInt8>>.makeStream()
        let isLeft = Flight<Void>()
        source.continuation.onTermination = { _ in isLeft.land(.success(())) }
        let isRead = Flight<Void>()
        let call = Task {
            let body = MessageBody(once: source.stream, keepingUpTo: 100)
            var iterator = body.makeAsyncIterator()
            _ = try await iterator.next(isolation: nil)
            isRead.land(.success(()))
            _ = try await iterator.next(isolation: nil)
        }
        source.continuation.yield([1])
        try await isRead.value
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await isLeft.value
    }

    @Test func anErrorOfTheStreamIsTheBodys() async throws {
        struct Broken: Error {}
        let stream = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
            continuation.yield([1])
            continuation.finish(throwing: Broken())
        }
        let body = MessageBody(once: stream, keepingUpTo: 100)
        for _ in 0..<2 { await #expect(throws: Broken.self) { try await body.collect(upTo: 10) } }
    }
}
