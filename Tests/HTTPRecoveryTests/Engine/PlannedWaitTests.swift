import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import HTTPRecovery

/// What was decided before the admissions were asked, and what they answer to it.
@Suite(.timeLimit(.minutes(30))) struct PlannedWaitTests {
    /// Answers by a script, whether the attempt is due or not; at its end it lets everything go.
    private final class Script: Admission {
        private let answers: Locked<[PlannedAttempt.Answer]>

        init(_ answers: PlannedAttempt.Answer...) {
            self.answers = Locked(answers)
        }

        func admit(_ attempt: PlannedAttempt, context: CallContext) async -> PlannedAttempt.Answer {
            answers.withLock { $0.isEmpty ? .go() : $0.removeFirst() }
        }
    }

    /// Takes its time over each answer.
    private struct Slow: Admission {
        let clock: ManualClock

        func admit(_ attempt: PlannedAttempt, context: CallContext) async throws -> PlannedAttempt.Answer {
            if attempt.cause != .call { clock.advance(by: .seconds(2)) }
            return .go()
        }
    }

    private static let limited = Outcome(.rateLimited, processed: .no, retryAfter: .seconds(1), remedies: [.wait])
    private static let place = PlannedAttempt.Answer.wait(
        .seconds(1),
        because: limited,
        permit: PlannedAttempt.Permit("place", kept: .throughItsWait)
    )

    @Test func aPlaceThatComesSoonerDoesNotShortenTheBackoff() async throws {
        let bench = Bench([.status(503), .status(200)]) {
            Recovery { TransientRetry(backoff: .constant(.seconds(20))) }
        }
        let options = RequestOptions(admissions: [Script(.go(), Self.place)])
        let response = try await bench.sendSkippingWaits(options: options)
        #expect(response.history.waited >= .seconds(20))
    }

    @Test func norWhatARedirectHasStated() async throws {
        let bench = Bench([.status(302, ["location": "/b", "retry-after": "30"]), .status(200)]) {
            Redirects()
            Recovery()
        }
        let options = RequestOptions(admissions: [Script(.go(), Self.place)])
        let response = try await bench.sendSkippingWaits(options: options)
        #expect(response.history.waited >= .seconds(30))
    }

    @Test func norDoesAHoldThatEndsSooner() async throws {
        let bench = Bench([.status(503), .status(200)]) {
            Recovery {
                RateLimitBackoff()
                TransientRetry(backoff: .constant(.seconds(20)))
            }
        }
        let options = RequestOptions(admissions: [Script(.go(), .hold(because: Self.limited))])
        let response = try await bench.sendSkippingWaits(options: options)
        #expect(response.history.waited >= .seconds(20))
    }

    @Test func aPlaceThatComesLaterLengthensIt() async throws {
        let bench = Bench([.status(503), .status(200)]) {
            Recovery { TransientRetry(backoff: .constant(.seconds(20))) }
        }
        let late = PlannedAttempt.Answer.wait(.seconds(25), because: Self.limited)
        let response = try await bench.sendSkippingWaits(options: RequestOptions(admissions: [Script(.go(), late)]))
        #expect(response.history.waited == .seconds(25))
    }

    @Test func noWaitIsBegunForWhichTheAdmissionsHaveLeftNoTime() async throws {
        let bench = Bench([.status(503), .status(200)]) {
            Deadline(.seconds(10))
            Recovery { TransientRetry(backoff: .constant(.seconds(9))) }
        }
        let options = RequestOptions(admissions: [Slow(clock: bench.clock)])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.sendSkippingWaits(options: options)
        }
        #expect(error?.reason == .deadlineWouldPass && error?.retryAfter == .seconds(9))
        #expect(bench.clock.now.offset <= .seconds(3))
    }

    private struct Mends: RecoveryPolicy, FailureContext.Remediation {
        var name: String { "mend" }
        func decide(_ situation: FailureContext) -> FailureContext.Decision {
            situation.wasSent ? .pass : .repair(self)
        }
        func perform(_ outcome: Outcome, context: CallContext) async throws -> FailureContext.RemediationResult {
            .repaired
        }
    }

    @Test func aRepairOfWhatWasNotSentGivesNoAttemptForNothing() async throws {
        let bench = Bench([], then: .status(503)) {
            Recovery(maxAttempts: 2) {
                Mends()
                TransientRetry(backoff: .constant(.seconds(1)))
            }
        }
        let options = RequestOptions(admissions: [Script(.go(), .go(), .hold(because: Self.limited))])
        await #expect(throws: RecoveryError.self) { try await bench.sendSkippingWaits(options: options) }
        #expect(bench.transport.received.count == 2)
    }

    // MARK: Cancellation

    /// Is busy, and notices no cancellation.
    private struct Busy: ClientLayer {
        let hasArrived: AsyncStream<Void>.Continuation
        let goesOn: AsyncStream<Void>

        func intercept(
            _ request: HTTPRequest,
            body: MessageBody?,
            context: CallContext,
            next: Next
        ) async throws -> RecoveredResponse {
            hasArrived.finish()
            await Task { for await _ in goesOn {} }.value
            return try await next(request, body: body, context: context)
        }
    }

    @Test(arguments: [true, false])
    func nothingIsSentForACallThatWasCancelledBehindALayer(enforcesTimeouts: Bool) async throws {
        let (arrived, go) = (AsyncStream.makeStream(of: Void.self), AsyncStream.makeStream(of: Void.self))
        let bench = Bench(enforcesTimeouts: enforcesTimeouts) {
            Recovery()
            Busy(hasArrived: arrived.continuation, goesOn: go.stream)
        }
        let call = Task { try await bench.client.send(Bench.post) }
        for await _ in arrived.stream {}
        call.cancel()
        go.continuation.finish()
        await #expect(throws: CancellationError.self) { try await call.value }
        // What would go out by itself has had its chance.
        for _ in 0..<100 { await Task.yield() }
        #expect(bench.transport.received.isEmpty)
        #expect(bench.events.words.filter { $0.hasPrefix("attempt") }.isEmpty)
    }

    // MARK: Replay

    @Test func aRecordingThatCannotBeReadIsNotVerified() throws {
        let entry = CallRecording.Entry(
            event: .object([.init("event", .string("of another version"))]),
            action: "finish",
            remaining: nil,
            random: []
        )
        let recording = CallRecording(call: 1, method: "GET", maxAttempts: 3, maxWait: .zero, entries: [entry])
        let replay = Recovery.replay(recording, policies: [])
        #expect(replay.steps.count == 1)
        #expect(throws: CallRecording.Difference.self) { try replay.verify() }
    }

    @Test func timesBeyondAllBoundsAreRecordedAsTheLongest() async throws {
        let kept = Locked<CallRecording?>(nil)
        let bench = Bench([.status(503)], classifier: Endless()) { Recovery(maxWait: .longest + .longest) }
        let options = RequestOptions(
            deadline: .seconds(60),
            recorder: { recording in kept.withLock { $0 = recording } }
        )
        await #expect(throws: RecoveryError.self) { try await bench.client.send(Bench.get, options: options) }
        let recording = try #require(kept.withLock { $0 })
        let read = try #require(CallRecording(recording.json))
        #expect(read.entries.count == recording.entries.count)
        try Recovery.replay(read, policies: Recovery.defaultPolicies).verify()
    }

    private struct Endless: OutcomeClassifier {
        func classify(_ exchange: Exchange) -> Outcome {
            Outcome(.notFound, processed: .no, retryAfter: .longest + .longest, remedies: [.wait])
        }
    }

    @Test func anAdviceIsRecordedWithoutItsWords() throws {
        var outcome = Outcome(.stepUpRequired)
        outcome.advice = try JSONValue(parsing: Array(#"{"TransactionConditionAdvice":["s3cret"],"n":7,"e":""}"#.utf8))
        let recorded = outcome.recorded
        #expect(!recorded.description.contains("s3cret") && !recorded.description.contains("7"))
        let read = try #require(Outcome(recorded: recorded))
        #expect(read.advice?["TransactionConditionAdvice"]?[0]?.string == "redacted")
        #expect(read.advice?["e"]?.string == "")
    }
}
