import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// A first attempt to which nobody has anything to say goes out without a driver; nothing but the price may differ.
@Suite(.timeLimit(.minutes(30))) struct FirstAttemptTests {
    /// Has nothing to say to first attempts, and writes down what it is asked and told.
    private final class Listener: Admission {
        let notes = Locked<[String]>([])

        func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { cause != .call }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            note("asked \(attempt.cause)")
            return .go()
        }

        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            switch end {
            case .ended(let outcome, _): note("\(attempt.cause) \(outcome.kind.rawValue)")
            case .abandoned: note("\(attempt.cause) abandoned")
            case .notSent: note("\(attempt.cause) not sent")
            }
            return { [self] in
                await Task.yield()
                note("stored")
                return nil
            }
        }

        private func note(_ word: String) { notes.withLock { $0.append(word) } }
        var all: [String] { notes.withLock { $0 } }
    }

    /// Counts the calls that come to it, and can break off.
    private struct Layer: ClientLayer {
        let count = Locked(0)
        var error: (any Error)?
        var afterwards = false

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            count.withLock { $0 += 1 }
            if let error, !afterwards { throw error }
            let response = try await next(request, body: body, context: context)
            if let error { throw error }
            return response
        }
    }

    private struct Broken: Error {}

    private func bench(
        _ steps: [ScriptedTransport.Step],
        _ listener: Listener,
        _ layers: any ClientLayer...
    ) -> Bench {
        Bench(steps) {
            Recovery(admissions: [listener]) { TransientRetry(backoff: .constant(.seconds(1))) }
            layers
        }
    }

    @Test func whatIsLeftToDoIsDoneBeforeThePlainSuccessIsHandedOut() async throws {
        let listener = Listener()
        _ = try await bench([.status(200)], listener).client.send(Bench.get)
        #expect(listener.all == ["call ok", "stored"])
    }

    @Test func aDriverTakesOverWhatIsNoPlainSuccess() async throws {
        let listener = Listener()
        let bench = bench([.status(503), .fail(.connectionLost, .neverSent), .status(200)], listener)
        let response = try await bench.sendSkippingWaits()
        #expect(bench.transport.received.count == 3)
        #expect(response.history.attempts.map { $0.number } == [1, 2, 3])
        #expect(
            listener.all == [
                "call unavailable", "stored", "asked unavailable", "asked unavailable",
                "unavailable transport", "stored", "asked transport", "asked transport",
                "transport ok", "stored",
            ]
        )
    }

    @Test func aFailureThatNobodyRepeatsIsToldOnce() async throws {
        let listener = Listener()
        let bench = bench([.status(404)], listener)
        let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
        #expect(error?.outcome.status == 404 && error?.reason == .notRecoverable)
        #expect(listener.all == ["call not_found", "stored"])
        #expect(bench.transport.received.count == 1)
    }

    @Test func aLayerThatFailsBehindTheEngineAbandonsTheAttempt() async throws {
        for afterwards in [false, true] {
            let listener = Listener()
            let bench = bench([.status(200)], listener, Layer(error: Broken(), afterwards: afterwards))
            let error = await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get) }
            #expect(error?.cause is Broken)
            #expect(listener.all == ["call abandoned", "stored"])
            #expect(bench.transport.received.count == (afterwards ? 1 : 0))
        }
    }

    @Test func whatIsCancelledBeforeItIsSentIsNothingToAnybody() async throws {
        let layer = Layer()
        for layers: [any ClientLayer] in [[], [layer]] {
            let listener = Listener()
            let bench = Bench([.status(200)]) {
                Recovery(admissions: [listener])
                layers
            }
            let call = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await bench.client.send(Bench.get)
            }
            await #expect(throws: CancellationError.self) { try await call.value }
            #expect(listener.all == [] && bench.transport.received.isEmpty)
        }
        #expect(layer.count.withLock { $0 } == 0, "no layer begins anything for a call that is over")
    }

    @Test func whatIsCancelledWhileItIsUnderWayIsAbandoned() async throws {
        let listener = Listener()
        let bench = bench([.status(200)], listener, Layer(error: CancellationError(), afterwards: true))
        await #expect(throws: CancellationError.self) { try await bench.client.send(Bench.get) }
        #expect(listener.all == ["call abandoned", "stored"])
    }

    /// What makes a call special takes the way through the driver: it is asked there, recorded, and bounded.
    @Test func aCallOfItsOwnKindIsTheDriversFromTheBeginning() async throws {
        let recorded = Locked<[CallRecording]>([])
        let listener = Listener()
        let options: [RequestOptions] = [
            RequestOptions(policies: [TransientRetry()]),
            RequestOptions(admissions: [Listener()]),
            RequestOptions(recorder: { recording in recorded.withLock { $0.append(recording) } }),
        ]
        for options in options {
            _ = try await bench([.status(200)], listener).client.send(Bench.get, options: options)
        }
        #expect(listener.all == Array(repeating: ["call ok", "stored"], count: 3).flatMap(\.self))
        #expect(recorded.withLock { $0 }.map { $0.entries.count } == [3])
    }

    /// The layers of the call itself stand behind the engine, too.
    @Test func noLayerOfACancelledCallBeginsAnything() async throws {
        let (layer, listener) = (Layer(), Listener())
        let bench = bench([.status(200)], listener)
        let call = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await bench.client.send(Bench.get, options: RequestOptions(attemptLayers: [layer]))
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(layer.count.withLock { $0 } == 0 && listener.all == [])
    }

    /// Sends twice, and is cancelled in between.
    private struct Twice: ClientLayer {
        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            _ = try await next(request, body: body, context: context)
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await next(request, body: body, context: context)
        }
    }

    @Test func whatOneCallHasSentBeforeIsNotCountedTwice() async throws {
        let listener = Listener()
        let bench = Bench([.status(200)]) {
            Twice()
            Recovery(admissions: [listener])
        }
        let call = Task { try await bench.client.send(Bench.get) }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(bench.transport.received.count == 1)
        #expect(listener.all == ["call ok", "stored"])
    }

    @Test func observersAreToldTheSameByEitherWay() async throws {
        final class Bounds: Admission {
            let seen = Locked<[String]>([])
            func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { false }
            func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer { .go() }
            func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
                seen.withLock { $0.append("\(attempt.longestWait) \(context.longestWait ?? .zero) \(attempt.origin)") }
                return nil
            }
        }
        let bounds = Bounds()
        let bench = Bench([]) { Recovery(maxWait: .seconds(5), admissions: [bounds]) }
        _ = try await bench.client.send(Bench.get)
        _ = try await bench.client.send(Bench.get, options: RequestOptions(recorder: { _ in }))
        let expected = "5.0 seconds 5.0 seconds https://api.example.com"
        #expect(bounds.seen.withLock { $0 } == [expected, expected])
    }
}
