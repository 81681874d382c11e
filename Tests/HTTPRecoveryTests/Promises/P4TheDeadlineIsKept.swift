import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@Suite struct P4TheDeadlineIsKept {
    @Test func aWaitThatCouldNotEndInTimeIsNotBegun() async throws {
        let bench = Bench([.status(429, ["retry-after": "10"])])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: RequestOptions(deadline: .seconds(5)))
        }
        #expect(error?.kind == .rateLimited)
        #expect(error?.reason == .deadlineWouldPass)
        #expect(error?.retryAfter == .seconds(10))
        #expect(error?.retryAt == Timestamp(secondsSinceEpoch: 1_893_456_010))
        #expect(bench.events.words.contains { $0.hasPrefix("wait") } == false)
    }

    @Test(arguments: [10, 400, 7200])
    func itSpeaksBeforeTheLongestWait(seconds: Int) async throws {
        let bench = Bench([.status(429, ["retry-after": "\(seconds)"])])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: RequestOptions(deadline: .seconds(5)))
        }
        #expect(error?.reason == .deadlineWouldPass)
    }

    @Test func anAttemptEndsWithTheDeadline() async throws {
        let bench = Bench([.hang], enforcesTimeouts: false)
        let task = Task { try await bench.client.send(Bench.get, options: RequestOptions(deadline: .seconds(5))) }
        await bench.clock.advanceToNextDeadline()
        let error = await #expect(throws: RecoveryError.self) { try await task.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.reason == .deadlinePassed)
    }

    @Test func anAttemptTimeoutLeavesTimeForAnother() async throws {
        let bench = Bench([.hang], enforcesTimeouts: false) {
            Deadline(.seconds(10))
            Recovery { TransientRetry(backoff: .constant(.zero)) }
            AttemptTimeout(.seconds(3))
        }
        #expect(try await bench.sendSkippingWaits().status == .ok)
        #expect(bench.transport.received.map(\.timeout) == [.seconds(3), .seconds(3)])
    }

    @Test func theResponseBodyCountsToo() async throws {
        let bench = Bench(
            [
                .run { _ in
                    // The first bytes come at once, the rest never.
                    let (stream, continuation) = AsyncStream.makeStream(of: ArraySlice<UInt8>.self)
                    continuation.yield([1])
                    return TransportResponse(
                        head: HTTPResponse(status: .ok),
                        body: MessageBody(once: KeepAlive(stream: stream, continuation: continuation))
                    )
                }
            ],
            enforcesTimeouts: false
        )
        let options = RequestOptions(buffering: .streamed, deadline: .seconds(5))
        let response = try await bench.client.send(Bench.get, options: options)
        let task = Task { try await response.body.collect(upTo: 100) }
        await bench.clock.advanceToNextDeadline()
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test func theWaitForARetryIsCutToWhatIsLeftOnlyIfItFits() async throws {
        let bench = Bench([.status(503), .status(503)]) {
            Deadline(.seconds(3))
            Recovery { TransientRetry(backoff: .constant(.seconds(2))) }
        }
        let error = await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits() }
        #expect(error?.reason == .deadlineWouldPass)
        #expect(error?.history.attempts.count == 2)
    }
}

/// A stream whose continuation lives as long as it is read.
private struct KeepAlive: AsyncSequence, Sendable {
    let stream: AsyncStream<ArraySlice<UInt8>>
    let continuation: AsyncStream<ArraySlice<UInt8>>.Continuation

    func makeAsyncIterator() -> AsyncStream<ArraySlice<UInt8>>.Iterator {
        stream.makeAsyncIterator()
    }
}
