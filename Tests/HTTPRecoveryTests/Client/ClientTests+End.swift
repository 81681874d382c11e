import Dispatch
import Glibc
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// How clients end, and what is under way then.
extension ClientTests {
    @Test func drainingLetsEndWhatIsUnderWay() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let bench = Bench([
            .run { _ in
                for await _ in gate.stream {}
                return .scripted(200)
            }
        ])
        let call = Task { try await bench.client.send(Bench.get) }
        while bench.transport.received.isEmpty { await Task.yield() }
        let drained = Task { await bench.client.drain(within: .seconds(10)) }
        await bench.clock.waitForSleepers(1)
        let refused = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(refused?.outcome.transportError?.code == .shutDown && refused?.outcome.processed == .no)
        gate.continuation.finish()
        #expect(try await call.value.status == .ok)
        #expect(await drained.value)
        #expect(await bench.client.drain(within: .zero), "nothing is under way any more")
    }

    @Test(arguments: [true, false])
    func drainingLetsABodyBeReadToItsEnd(isWhole: Bool) async throws {
        let (pieces, source) = AsyncThrowingStream<ArraySlice<UInt8>, any Error>.makeStream()
        let bench = Bench([.run { _ in .streaming(pieces) }])
        let response = try await bench.client.send(Bench.get, options: RequestOptions(buffering: .streamed))
        let drained = Task { await bench.client.drain(within: .seconds(10)) }
        await bench.clock.waitForSleepers(1)
        source.yield([1, 2])
        source.finish(throwing: isWhole ? nil : MessageBody.ReadError.alreadyConsumed)
        let read = try? await response.body.collect(upTo: 9)
        #expect(read == (isWhole ? [1, 2] : nil))
        #expect(await drained.value, "a body that is kept has been read")
        #expect(response.status == .ok)
    }

    @Test func aBodyThatNobodyReadsAnyMoreIsNotWaitedFor() async throws {
        for reads in [0, 1] {
            let (pieces, source) = AsyncStream<ArraySlice<UInt8>>.makeStream()
            source.yield([1])
            let bench = Bench([.run { _ in .streaming(pieces) }])
            do {
                let response = try await bench.client.send(Bench.get, options: RequestOptions(buffering: .streamed))
                var reading = response.body.makeAsyncIterator()
                for _ in 0..<reads { #expect(try await reading.next() == [1]) }
                #expect(await !bench.client.drain(within: .zero))
                withExtendedLifetime((response, reading)) {}
            }
            #expect(await bench.client.drain(within: .zero))
        }
    }

    @Test func aBodyThatIsLeftToAnotherIsReadOnce() async throws {
        let (pieces, source) = AsyncStream<ArraySlice<UInt8>>.makeStream()
        source.yield([1])
        source.yield([2])
        let bench = Bench([.run { _ in .streaming(pieces) }])
        let response = try await bench.client.send(Bench.get, options: RequestOptions(buffering: .streamed))
        do {
            var reading = response.body.makeAsyncIterator()
            #expect(try await reading.next() == [1])
        }
        await #expect(throws: MessageBody.ReadError.alreadyConsumed) { try await response.body.collect(upTo: 9) }
        #expect(await bench.client.drain(within: .zero), "a reading that was given up is none, though the body is kept")
        #expect(response.status == .ok)
    }

    @Test func anOperationUnderWayMakesItsCalls() async throws {
        let bench = Bench()
        try await bench.client.operation { operation in
            let drained = Task { await bench.client.drain(within: .seconds(10)) }
            await bench.clock.waitForSleepers(1)
            await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            await #expect(throws: RecoveryError.self) { try await bench.client.operation { _ in } }
            let response = try await bench.client.within(operation).send(Bench.get)
            #expect(response.status == .ok && !drained.isCancelled)
        }
        #expect(bench.transport.received.count == 1)
        #expect(bench.events.words.filter { $0.hasPrefix("done") } == ["done failed 0", "done failed 0", "done ok 1"])
    }

    @Test func anOperationElsewhereIsNoReasonToTakeACall() async throws {
        let (bench, other) = (Bench(), Bench())
        try await other.client.operation { operation in
            #expect(await bench.client.drain(within: .zero))
            await #expect(throws: RecoveryError.self) { try await bench.client.within(operation).send(Bench.get) }
        }
        #expect(bench.transport.received.isEmpty)
    }

    /// What is done for a call, such as a renewal, goes on for as long as calls are under way here, and no longer.
    @Test func whatIsDoneForACallEndsWithTheCalls() async throws {
        let bench = Bench()
        let renewal = RecoveryOperation(for: CallContext(runtime: bench.client.runtime), until: nil)
        try await bench.client.operation { _ in
            let drained = Task { await bench.client.drain(within: .seconds(10)) }
            await bench.clock.waitForSleepers(1)
            let response = try await bench.client.within(renewal).send(Bench.get)
            #expect(response.status == .ok && !drained.isCancelled)
        }
        await #expect(throws: RecoveryError.self) { try await bench.client.within(renewal).send(Bench.get) }
    }

    @Test func drainingAgainWaitsAgain() async throws {
        let bench = Bench([.status(200), .hang])
        try await bench.client.operation { operation in
            let first = Task { await bench.client.drain(within: .seconds(1)) }
            await bench.clock.waitForSleepers(1)
            bench.clock.advance(by: .seconds(1))
            #expect(await !first.value)
            #expect(await !bench.client.drain(within: .zero), "the operation is still under way")
            _ = try await bench.client.within(operation).send(Bench.get)
        }
        #expect(await bench.client.drain(within: .zero))
    }

    @Test func anOperationWithinAnotherTellsBothWhoWatchThem() async throws {
        let bench = Bench()
        let told = Locked<[String]>([])
        func note(_ name: String) -> @Sendable (RecoveryEvent) -> Void {
            { event in
                if case .attempt = event.kind { told.withLock { $0.append(name) } }
            }
        }
        try await bench.client.operation(observer: note("outer")) { outer in
            let client = bench.client.within(outer)
            try await client.operation(observer: note("inner")) { inner in
                _ = try await client.within(inner).send(Bench.get)
            }
            _ = try await client.send(Bench.get)
        }
        #expect(told.withLock { $0 } == ["inner", "outer", "outer"])
    }

    @Test func attemptsOfCallsAtTheSameTimeHaveNumbersOfTheirOwn() async throws {
        let bench = Bench([], then: .status(200))
        try await bench.client.operation { operation in
            let client = bench.client.within(operation)
            try await withThrowingTaskGroup { group in
                for _ in 0..<20 { group.addTask { _ = try await client.send(Bench.get) } }
                try await group.waitForAll()
            }
        }
        let numbers = bench.events.events.compactMap { event in
            if case .attempt(let number, _, _, _) = event.kind { number } else { nil }
        }
        #expect(numbers.sorted() == Array(1...20))
        #expect(bench.events.words.last == "done ok 20")
    }

    @Test func whatDoesNotEndInTimeIsCutOff() async throws {
        let bench = Bench([.hang])
        let call = Task { try await bench.client.send(Bench.get) }
        while bench.transport.received.isEmpty { await Task.yield() }
        let drained = Task { await bench.client.drain(within: .seconds(10)) }
        await bench.clock.waitForSleepers(1)
        bench.clock.advance(by: .seconds(10))
        #expect(await !drained.value)
        call.cancel()
        _ = try? await call.value
    }

    @Test func aWaitEndsWithTheClient() async throws {
        let bench = Bench([.status(429, ["retry-after": "40"])])
        let call = Task { try await bench.client.send(Bench.get) }
        await bench.clock.waitForSleepers(1)
        let drained = Task { await bench.client.drain(within: .seconds(10)) }
        await bench.clock.waitForSleeper(of: .seconds(10), purpose: .guard)
        bench.clock.advance(by: .seconds(10))
        #expect(await !drained.value)
        let error = await #expect(throws: RecoveryError.self) { try await call.value }
        #expect(error?.reason == .clientShutDown && error?.outcome.kind == .rateLimited)
        let left = try #require(error?.retryAfter)
        #expect(left >= .seconds(30) && error?.history.waited == .seconds(10))
        #expect(bench.transport.received.count == 1)
    }

    @Test func aPauseMayBeAsLongAsTheLongestWait() async throws {
        let bench = Bench()
        let error = try await bench.clock.skippingWaits {
            try await bench.client.operation(longestWait: .seconds(30)) { operation in
                try await operation.pause(.seconds(30), reason: .challengePending)
                return await #expect(throws: RecoveryError.self) {
                    try await operation.pause(.seconds(31), reason: .challengePending)
                }
            }
        }
        #expect(error?.reason == .waitExceedsLimit && bench.clock.now.offset == .seconds(30))
    }

    @Test func aPauseEndsWithTheClient() async throws {
        let bench = Bench()
        let watch = Task {
            try await bench.client.looseOperation { try await $0.pause(.seconds(3600), reason: .ok) }
        }
        await bench.clock.waitForSleeper(of: .seconds(3600), purpose: .wait)
        await bench.client.shutdown()
        let error = await #expect(throws: RecoveryError.self) { try await watch.value }
        #expect(error?.reason == .clientShutDown && error?.outcome.processed == .no)
    }
}

extension TransportResponse {
    fileprivate static func streaming<Pieces: AsyncSequence & Sendable>(_ pieces: Pieces) -> TransportResponse
    where Pieces.Element == ArraySlice<UInt8> {
        TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: pieces))
    }
}
