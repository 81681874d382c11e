import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What holds attempts back: asked in order, told of each end, given back what was not used.
@Suite(.timeLimit(.minutes(30))) struct AdmissionTests {
    /// Writes down what it is asked and told, and answers by a script; at its end it lets everything go.
    private final class Recorder: Admission {
        private let answers: Locked<[PlannedAttempt.Answer]>
        let notes = Locked<[String]>([])

        init(_ answers: PlannedAttempt.Answer...) {
            self.answers = Locked(answers)
        }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            notes.withLock { $0.append("\(attempt.cause)\(attempt.isDue ? "" : " later")") }
            return answers.withLock { $0.isEmpty ? .go() : $0.removeFirst() }
        }

        func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            note(end, " \(permit.value)")
            return nil
        }

        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            note(end)
            return nil
        }

        private func note(_ end: PlannedAttempt.End, _ permit: String = "") {
            let word =
                switch end {
                case .ended(let outcome, _): outcome.kind.rawValue
                case .abandoned: "abandoned"
                case .notSent: "not sent"
                }
            notes.withLock { $0.append(word + permit) }
        }

        var all: [String] { notes.withLock { $0 } }
    }

    private func options(_ admissions: any Admission...) -> RequestOptions {
        RequestOptions(admissions: admissions)
    }

    @Test func itIsAskedBeforeEachAttemptAndToldHowItEnded() async throws {
        let recorder = Recorder()
        let bench = Bench([.status(503), .status(200)]) {
            Recovery { TransientRetry(backoff: .constant(.seconds(1))) }
        }
        _ = try await bench.sendSkippingWaits(options: options(recorder))
        #expect(recorder.all == ["call", "unavailable", "unavailable later", "unavailable", "ok"])
    }

    /// Has something left to do about failures.
    private struct Storing: Admission {
        let recorder: Recorder

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            await recorder.admit(attempt, context: context)
        }

        func conclude(
            _ attempt: PlannedAttempt,
            _ end: PlannedAttempt.End,
            permit: PlannedAttempt.Permit,
            context: CallContext
        ) -> Remainder? {
            recorder.conclude(attempt, end, permit: permit, context: context)
        }

        func observe(_ attempt: PlannedAttempt, _ end: PlannedAttempt.End, context: CallContext) -> Remainder? {
            _ = recorder.observe(attempt, end, context: context)
            guard case .ended(let outcome, _) = end, outcome.isFailure else { return nil }
            return {
                await Task.yield()
                recorder.notes.withLock { $0.append("stored") }
                return nil
            }
        }
    }

    @Test func whatIsLeftToDoIsDoneBeforeTheCallGoesOn() async throws {
        let recorder = Recorder(.go(), .go(), .go(), .go(PlannedAttempt.Permit("slot")))
        let bench = Bench([.status(503), .status(200), .status(200)]) {
            Recovery { TransientRetry(backoff: .constant(.seconds(1))) }
        }
        _ = try await bench.sendSkippingWaits(options: options(Storing(recorder: recorder)))
        #expect(
            recorder.all == ["call", "unavailable", "stored", "unavailable later", "unavailable", "ok"],
            "a success leaves nothing to do"
        )
        _ = try await bench.sendSkippingWaits(options: options(Storing(recorder: recorder)))
        #expect(recorder.all.suffix(2) == ["call", "ok slot"])
    }

    @Test func whoHasGivenAPermitIsAskedOnce() async throws {
        let recorder = Recorder(.go(), .go(PlannedAttempt.Permit("paid")))
        let bench = Bench([.status(503), .status(200)]) {
            Recovery { TransientRetry(backoff: .constant(.seconds(1))) }
        }
        _ = try await bench.sendSkippingWaits(options: options(recorder))
        #expect(recorder.all == ["call", "unavailable", "unavailable later", "ok paid"])
    }

    @Test func whatALaterOneRefusesIsGivenBack() async throws {
        let first = Recorder(.go(PlannedAttempt.Permit("slot")))
        let second = Recorder(.refuse(.breakerOpen, because: Outcome(.unavailable, processed: .no)))
        let bench = Bench()
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.client.send(Bench.get, options: options(first, second))
        }
        #expect(error?.kind == .unavailable && error?.reason == .breakerOpen)
        #expect(first.all == ["call", "not sent slot"])
        #expect(second.all == ["call"])
        #expect(bench.transport.received.isEmpty)
    }

    @Test func whatOthersCouldUseIsGivenBackForAWait() async throws {
        let slot = Recorder(
            .go(PlannedAttempt.Permit("slot", kept: .whileDue)),
            .go(PlannedAttempt.Permit("slot", kept: .whileDue))
        )
        let place = Recorder(.go(PlannedAttempt.Permit("place")))
        let rate = Recorder(.wait(.seconds(3), because: Outcome(.rateLimited)))
        let bench = Bench()
        _ = try await bench.sendSkippingWaits(options: options(slot, place, rate))
        #expect(slot.all == ["call", "not sent slot", "call", "ok slot"])
        #expect(place.all == ["call", "ok place"])
        // Without a permit it is asked again behind the wait.
        #expect(rate.all == ["call", "call", "ok"])
        #expect(bench.clock.now.offset == .seconds(3))
    }

    @Test func whatIsCancelledOnItsWayIsAbandoned() async throws {
        let recorder = Recorder(.go(PlannedAttempt.Permit("slot")))
        let bench = Bench([.hang])
        let call = Task { try await bench.client.send(Bench.get, options: options(recorder)) }
        while bench.transport.received.isEmpty { await Task.yield() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(recorder.all == ["call", "abandoned slot"])
    }

    @Test func aHeldAttemptIsDecidedAboutByThePolicies() async throws {
        let held = Outcome(.rateLimited, processed: .no, retryAfter: .seconds(4), remedies: [.wait])
        let bench = Bench()
        let error = await #expect(throws: RecoveryError.self) {
            let impatient = RequestOptions(deadline: .seconds(1), admissions: [Recorder(.hold(because: held))])
            return try await bench.client.send(Bench.get, options: impatient)
        }
        #expect(error?.kind == .rateLimited && error?.reason == .deadlineWouldPass)
        let response = try await bench.sendSkippingWaits(options: options(Recorder(.hold(because: held))))
        #expect(response.history.waits.map(\.duration) == [.seconds(4)])
    }

    @Test func thoseOfTheEngineAreAskedBehindTheCalls() async throws {
        let (own, shared) = (Recorder(.refuse(.breakerOpen)), Recorder())
        let bench = Bench { Recovery(admissions: [shared]) }
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get, options: options(own)) }
        #expect(shared.all == [])
        _ = try await bench.client.send(Bench.get, options: options(own))
        #expect(shared.all == ["call", "ok"])
    }

    @Test func eachAttemptHasItsCauseInTheHistory() async throws {
        let bench = Bench([.status(503), .status(200)])
        let response = try await bench.sendSkippingWaits()
        #expect(response.history.attempts.map(\.cause) == [.call, .retry(after: .unavailable)])
    }
}
