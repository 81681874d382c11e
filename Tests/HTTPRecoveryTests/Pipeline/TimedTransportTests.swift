import Glibc
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What becomes of an attempt whose transport keeps no time, after it was cut off.
@Suite(.timeLimit(.minutes(30))) struct TimedTransportTests {
    /// A transport whose attempt hangs until it is let go or cancelled, and says which.
    private final class Hanging: HTTPTransport {
        let name = "hanging"
        let answer = Flight<TransportResponse>()
        let ends = Locked<[String]>([])
        let begun = Flight<Void>()

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            begun.land(.success(()))
            do {
                let response = try await answer.value
                ends.withLock { $0.append("answered") }
                return response
            } catch {
                ends.withLock { $0.append(error is CancellationError ? "cancelled" : "failed") }
                throw error
            }
        }

        func shutdown() async {
            ends.withLock { $0.append("shut down") }
            answer.land(.failure(TransportError(.shutDown, .unknown)))
        }

        func waitForEnds(_ count: Int) async {
            while ends.withLock({ $0.count }) < count { await Task.yield() }
        }

        var all: [String] { ends.withLock { $0 } }
    }

    private let clock = ManualClock()
    private let hanging = Hanging()

    private func timed() -> TimedTransport {
        TimedTransport(hanging, time: clock.timeSource())
    }

    private func cutOff(_ transport: TimedTransport) async throws {
        let attempt = Task {
            try await transport.send(Bench.get, body: nil, options: AttemptOptions(timeout: .seconds(2)))
        }
        _ = try await hanging.begun.value
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TransportError.self) { try await attempt.value }
        #expect(error?.code == .timedOut)
    }

    @Test func itIsCancelledWhenNoAnswerComesForAWhile() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        #expect(hanging.all == [])
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(1)
        #expect(hanging.all == ["cancelled"])
        await transport.shutdown()
        #expect(hanging.all == ["cancelled", "shut down"])
    }

    @Test func anAnswerThatIsALittleLateEndsItByItself() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        hanging.answer.land(.success(TransportResponse(head: HTTPResponse(status: .ok))))
        await hanging.waitForEnds(1)
        clock.advance(by: TimedTransport.grace)
        #expect(hanging.all == ["answered"])
    }

    @Test func aShutdownEndsItAlone() async throws {
        let transport = timed()
        try await cutOff(transport)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        await transport.shutdown()
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(2)
        #expect(hanging.all == ["shut down", "failed"])
    }

    @Test func whoIsCancelledDoesNotWaitForTheTransport() async throws {
        let transport = timed()
        let attempt = Task { try await transport.send(Bench.get, body: nil, options: AttemptOptions()) }
        _ = try await hanging.begun.value
        attempt.cancel()
        await #expect(throws: CancellationError.self) { try await attempt.value }
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        clock.advance(by: TimedTransport.grace)
        await hanging.waitForEnds(1)
        #expect(hanging.all == ["cancelled"])
    }

    // MARK: What does not end by itself

    /// A transport with a body that never comes, or with an attempt whose cancellation blocks; its shutdown frees nothing.
    private final class Deaf: HTTPTransport {
        struct Chunks: AsyncSequence, Sendable {
            let flight: Flight<Void>

            struct AsyncIterator: AsyncIteratorProtocol {
                let flight: Flight<Void>

                func next() async throws -> ArraySlice<UInt8>? {
                    // Its own task is not cancelled with the reader's.
                    _ = try await Task { [flight] in try await flight.value }.value
                    return nil
                }
            }

            func makeAsyncIterator() -> AsyncIterator { AsyncIterator(flight: flight) }
        }

        let name = "deaf"
        let end = Flight<Void>()
        let cancelled = Flight<Void>()
        let begun = Flight<Void>()
        let hasHead: Bool
        let isBlocking: Bool

        init(hasHead: Bool = false, isBlocking: Bool = false) {
            self.hasHead = hasHead
            self.isBlocking = isBlocking
        }

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            if hasHead {
                let chunks = Chunks(flight: end)
                return TransportResponse(head: HTTPResponse(status: .ok), body: MessageBody(once: chunks, length: nil))
            }
            try await withTaskCancellationHandler {
                begun.land(.success(()))
                try await Task { [end] in try await end.value }.value
            } onCancel: {
                cancelled.land(.success(()))
                while isBlocking, end.result == nil { sched_yield() }
            }
            throw CancellationError()
        }
    }

    private func cutOff(_ deaf: Deaf) async throws -> TimedTransport {
        let transport = TimedTransport(deaf, time: clock.timeSource())
        let attempt = Task {
            try await transport.send(Bench.get, body: nil, options: AttemptOptions(timeout: .seconds(2)))
        }
        _ = try await deaf.begun.value
        await clock.waitForSleeper(of: .seconds(2), purpose: .guard)
        clock.advance(by: .seconds(2))
        await #expect(throws: TransportError.self) { try await attempt.value }
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        return transport
    }

    @Test func aBodyThatHeedsNothingIsCutOff() async throws {
        let deaf = Deaf(hasHead: true)
        let transport = TimedTransport(deaf, time: clock.timeSource())
        for isCancelled in [false, true] {
            let options = AttemptOptions(timeout: .seconds(2))
            let response = try await transport.send(Bench.get, body: nil, options: options)
            let reader = Task { () async throws -> Bool in
                var iterator = response.body.makeAsyncIterator()
                do {
                    return try await iterator.next() == nil
                } catch {
                    // It is not read on, and has not ended either.
                    await #expect(throws: (any Error).self) { try await iterator.next() }
                    throw error
                }
            }
            await clock.waitForSleeper(of: .seconds(2), purpose: .guard)
            if isCancelled {
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
            } else {
                clock.advance(by: .seconds(2))
                let error = await #expect(throws: TransportError.self) { try await reader.value }
                #expect(error?.code == .timedOut && error?.certainty == .answered)
            }
        }
        deaf.end.land(.success(()))
    }

    @Test func whatAShutdownDoesNotEndIsCancelledAfterIt() async throws {
        let deaf = Deaf()
        let transport = try await cutOff(deaf)
        await transport.shutdown()
        clock.advance(by: TimedTransport.grace)
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        #expect(deaf.cancelled.result == nil)
        clock.advance(by: TimedTransport.grace)
        _ = try await deaf.cancelled.value
        deaf.end.land(.success(()))
    }

    /// What is under way while the transport is shut down is cut off later.
    @Test func norIsWhatIsCutOffBehindAShutdownForgotten() async throws {
        let deaf = Deaf()
        let transport = TimedTransport(deaf, time: clock.timeSource())
        let options = AttemptOptions(timeout: .seconds(2))
        let attempt = Task { try await transport.send(Bench.get, body: nil, options: options) }
        _ = try await deaf.begun.value
        await clock.waitForSleeper(of: .seconds(2), purpose: .guard)
        await transport.shutdown()
        clock.advance(by: .seconds(2))
        await #expect(throws: TransportError.self) { try await attempt.value }
        for _ in 0..<2 {
            await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
            #expect(deaf.cancelled.result == nil)
            clock.advance(by: TimedTransport.grace)
        }
        _ = try await deaf.cancelled.value
        deaf.end.land(.success(()))
    }

    @Test func aCancellationThatBlocksHoldsUpNoOtherTransport() async throws {
        let (bad, good) = (Deaf(isBlocking: true), Deaf())
        let first = try await cutOff(bad)
        clock.advance(by: TimedTransport.grace)
        _ = try await bad.cancelled.value
        let second = try await cutOff(good)
        clock.advance(by: TimedTransport.grace)
        _ = try await good.cancelled.value
        bad.end.land(.success(()))
        good.end.land(.success(()))
        await first.shutdown()
        await second.shutdown()
    }

    // MARK: What blocks its threads

    /// What blocks the thread that comes to it.
    private final class Lock: Sendable {
        let release = FaultServer.Gate()
        let blocked = Locked(0)
        /// Whether somebody was held up for so long that the test would not have gone on by itself.
        let isOverdue = Locked(false)

        func block() {
            blocked.withLock { $0 += 1 }
            let begun = ContinuousClock.now
            release.wait(milliseconds: 120_000)
            guard begun.duration(to: .now) > .seconds(110) else { return }
            isOverdue.withLock { $0 = true }
            release.open()
        }
    }

    /// A transport that has locked itself up, whatever it is asked for.
    private struct LockedUp: HTTPTransport {
        let name = "locked up"
        let lock = Lock()

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            lock.block()
            throw TransportError(.shutDown, .unknown)
        }

        func shutdown() async { lock.block() }
    }

    /// Time that the test moves, and which is the machine's to a transport: where it is not, it has no threads of its own.
    private var machineTime: TimeSource { TimeSource(clock.timeSource(), bootClock: .system) }

    @Test func whatBlocksHoldsUpNobodyElse() async throws {
        let lockedUp = LockedUp()
        let transport = TimedTransport(lockedUp, time: machineTime)
        let options = AttemptOptions(timeout: .seconds(2))
        let attempts = (0..<64).map { _ in
            Task { try await transport.send(Bench.get, body: nil, options: options) }
        }
        while lockedUp.lock.blocked.withLock({ $0 }) < 8 { await Task.yield() }
        await clock.waitForSleepers(attempts.count)
        let time = Task { [clock] in
            while !Task.isCancelled {
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(1))
            }
        }
        for attempt in attempts {
            let error = await #expect(throws: TransportError.self) { try await attempt.value }
            #expect(error?.code == .timedOut)
        }
        await transport.shutdown()
        time.cancel()
        #expect(!lockedUp.lock.isOverdue.withLock { $0 })
        lockedUp.lock.release.open()
    }

    /// A transport whose transfers end when their bodies are let go of.
    private struct Held: HTTPTransport {
        final class Transfer: Sendable {
            let lock: Lock

            init(_ lock: Lock) { self.lock = lock }

            deinit { lock.block() }
        }

        struct Chunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
            let transfer: Transfer

            func next() async throws -> ArraySlice<UInt8>? { nil }
            func makeAsyncIterator() -> Chunks { self }
        }

        let name = "held"
        let lock = Lock()

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            let body = MessageBody(once: Chunks(transfer: Transfer(lock)), length: nil)
            return TransportResponse(head: HTTPResponse(status: .ok), body: body)
        }

        func shutdown() async {}
    }

    @Test func whoLetsGoOfABodyIsNotHeldUp() async throws {
        let held = Held()
        let transport = TimedTransport(held, time: machineTime)
        let status = try await transport.send(Bench.get, body: nil, options: AttemptOptions()).head.status
        #expect(status == .ok)
        #expect(!held.lock.isOverdue.withLock { $0 })
        held.lock.release.open()
    }

    /// A shutdown that waits for what it ends, and is not hurried.
    private final class Slow: HTTPTransport {
        let name = "slow"
        let begun = Flight<Void>()
        let ending = Flight<Void>()
        let end = Flight<Void>()
        let isCancelled = Locked(false)

        func send(_ request: HTTPRequest, body: MessageBody?, options: AttemptOptions) async throws -> TransportResponse
        {
            begun.land(.success(()))
            await withTaskCancellationHandler {
                _ = try? await Task { [end] in try await end.value }.value
            } onCancel: {
                isCancelled.withLock { $0 = true }
            }
            throw TransportError(.shutDown, .unknown)
        }

        func shutdown() async {
            ending.land(.success(()))
            _ = try? await end.value
        }
    }

    @Test func aSlowShutdownIsWaitedForAndNothingCancelledMeanwhile() async throws {
        let slow = Slow()
        let transport = TimedTransport(slow, time: machineTime)
        let attempt = Task {
            try await transport.send(Bench.get, body: nil, options: AttemptOptions(timeout: .seconds(2)))
        }
        _ = try await slow.begun.value
        await clock.waitForSleeper(of: .seconds(2), purpose: .guard)
        clock.advance(by: .seconds(2))
        await #expect(throws: TransportError.self) { try await attempt.value }
        let isShutDown = Locked(false)
        let shutdown = Task {
            await transport.shutdown()
            isShutDown.withLock { $0 = true }
        }
        _ = try await slow.ending.value
        for _ in 0..<8 {
            await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
            clock.advance(by: TimedTransport.grace)
        }
        // Whoever waits on has set the next time.
        await clock.waitForSleeper(of: TimedTransport.grace, purpose: .guard)
        #expect(!isShutDown.withLock { $0 })
        #expect(!slow.isCancelled.withLock { $0 })
        slow.end.land(.success(()))
        await shutdown.value
    }
}
