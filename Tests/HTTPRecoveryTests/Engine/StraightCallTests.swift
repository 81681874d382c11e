import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// A call that goes straight to its attempt reads the clock once for both, and its history is whole with the answer;
/// what takes its time in between, or afterwards, is seen all the same.
@Suite(.timeLimit(.minutes(30))) struct StraightCallTests {
    /// Waits before the attempt, or after it.
    private struct Slow: ClientLayer {
        var isAfterwards = false

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            if !isAfterwards { try await context.wait(.seconds(3), reason: .rateLimited) }
            let response = try await next(request, body: body, context: context)
            if isAfterwards { try await context.wait(.seconds(3), reason: .rateLimited) }
            return response
        }
    }

    /// Has each attempt wait before it goes out.
    private struct Patience: Admission {
        func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { true }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            context.record.history.waits.isEmpty ? .wait(.seconds(3), because: Outcome(.rateLimited)) : .go()
        }
    }

    private func times(
        _ options: RequestOptions = RequestOptions(),
        @RecoveringClient.PipelineBuilder _ layers: () -> [any ClientLayer]
    ) async throws -> (elapsed: [Duration], waits: [Duration]) {
        let history = try await Bench([.status(200)], middlewares: layers).sendSkippingWaits(options: options).history
        return (history.attempts.map(\.elapsed), history.waits.map(\.duration))
    }

    @Test func noAttemptTakesTheTimeThatItsLayersHaveTaken() async throws {
        let slow = RequestOptions(attemptLayers: [Slow()])
        for found in [
            try await times { Slow() },
            try await times {
                Slow()
                Recovery()
            },
            try await times {
                Recovery()
                Slow()
            },
            try await times(slow) { Recovery() },
            try await times(slow) {},
            try await times { Recovery(admissions: [Patience()]) },
        ] {
            #expect(found.elapsed == [.zero])
            #expect(found.waits == [.seconds(3)])
        }
    }

    @Test func whatIsDoneAfterTheAnswerStandsInItsHistory() async throws {
        let slow = RequestOptions(attemptLayers: [Slow(isAfterwards: true)])
        for found in [
            try await times { Slow(isAfterwards: true) },
            try await times {
                Recovery()
                Slow(isAfterwards: true)
            },
            try await times(slow) { Recovery() },
        ] {
            #expect(found.waits == [.seconds(3)])
        }
    }

    /// Writes down the times that it is told.
    private final class Listener: Admission {
        let seen = Locked<[Duration]>([])
        let isAsked: Bool
        init(isAsked: Bool) { self.isAsked = isAsked }
        func mayHold(_ cause: History.Cause, context: CallContext) -> Bool { isAsked }
        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer { .go() }
        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            let times = attempt.times(in: context)
            seen.withLock { $0 += [times.elapsed, times.end] }
            return nil
        }
    }

    /// What judges servers is told the times of the attempt, by whichever way it went out.
    @Test func theTimesOfAnAttemptComeWithItsAnswer() async throws {
        for isAsked in [false, true] {
            let listener = Listener(isAsked: isAsked)
            let clock = ManualClock()
            let slow = ScriptedTransport.Step.run { _ in
                try await clock.sleep(for: .seconds(2))
                return .scripted(200)
            }
            let bench = Bench([slow], clock: clock) { Recovery(admissions: [listener]) }
            _ = try await bench.sendSkippingWaits()
            #expect(listener.seen.withLock { $0 } == [.seconds(2), .seconds(2)])
        }
    }

    /// Hands out its first answer each time.
    private struct Keeper: ClientLayer {
        let kept = Locked<RecoveredResponse?>(nil)

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            if let response = kept.withLock({ $0 }) { return response }
            let response = try await next(request, body: body, context: context)
            kept.withLock { $0 = response }
            return response
        }
    }

    @Test func anAnswerOfAnotherCallTellsNothingOfThisOnesTimes() async throws {
        let (clock, listener) = (ManualClock(), Listener(isAsked: false))
        let slow = ScriptedTransport.Step.run { _ in
            try await clock.sleep(for: .seconds(2))
            return .scripted(200)
        }
        let bench = Bench([slow], clock: clock) {
            Recovery(admissions: [listener])
            Keeper()
        }
        for _ in 0..<2 { _ = try await bench.sendSkippingWaits() }
        #expect(listener.seen.withLock { $0 } == [.seconds(2), .seconds(2), .zero, .zero])
    }
}
