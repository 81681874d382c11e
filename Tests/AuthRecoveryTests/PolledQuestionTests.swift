import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import SignInSupport
import Testing

@Suite("Questions that may be answered elsewhere")
struct PolledQuestionTests {
    private static let pause = SignInContext.Pause(.seconds(4))
    private static let question = Challenge(factor: .email, poll: pause)

    private let bench = Bench([])

    private func flow(_ answers: ScriptedMachine.Answer..., maxWait: Duration? = nil) -> SignInFlow<String> {
        var options = SignInOptions()
        options.maxWait = maxWait
        return SignInFlow(
            ScriptedMachine([.success(.ask(Self.question))] + answers),
            client: bench.client,
            options: options
        )
    }

    private func calls(_ flow: SignInFlow<String>) -> [String] { (flow.machine as? ScriptedMachine)?.calls ?? [] }

    @Test func whoeverStepsLooksInBetween() async throws {
        var flow = flow(.success(.ask(Challenge(factor: .email, poll: .init(.seconds(9))))), .success(.finished("s")))
        let first = try await flow.step(.begin)
        guard case .ask(let question) = first.step else { return #expect(Bool(false)) }
        #expect(question.poll == Self.pause)
        // Too early: nothing is sent.
        bench.clock.advance(by: .seconds(1))
        guard case .ask(let early) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
        #expect(early.poll?.duration == .seconds(3) && calls(flow) == ["begin"])
        bench.clock.advance(by: .seconds(3))
        let events = bench.events.events.count
        guard case .ask(let same) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
        #expect(same.poll?.duration == .seconds(9) && calls(flow) == ["begin", "poll"])
        #expect(!bench.events.events[events...].contains { if case .challenge = $0.kind { true } else { false } })
        bench.clock.advance(by: .seconds(9))
        guard case .finished("s") = try await flow.step(.poll).step else { return #expect(Bool(false)) }
    }

    @Test func aQuestionWithoutItIsNotLookedAfter() async throws {
        var flow = SignInFlow<String>(
            ScriptedMachine(.success(.ask(Challenge(factor: .email)))),
            client: bench.client
        )
        _ = try await flow.step(.begin)
        let error = await #expect(throws: RecoveryError.self) { try await flow.step(.poll) }
        #expect(error?.kind == .invalidRequest && calls(flow) == ["begin"])
    }

    /// What was told of a refused answer stays told.
    @Test func aLookForgetsNoRefusal() async throws {
        var flow = flow(.failure(.refused(.challengeIncorrect)), .success(.ask(Self.question)))
        _ = try await flow.step(.begin)
        _ = try await flow.step(.answer(.text("1")))
        bench.clock.advance(by: .seconds(4))
        guard case .ask(let question) = try await flow.step(.poll).step else { return #expect(Bool(false)) }
        #expect(question.round == 2 && question.previousFailure?.kind == .challengeIncorrect)
        #expect(calls(flow) == ["begin", "submit email_code 1", "poll"])
    }

    @Test func whatIsAnsweredElsewhereGoesOnWithoutThePerson() async throws {
        var flow = flow(.success(.ask(Self.question)), .success(.finished("s")))
        let person = Thinking()
        let session = try await bench.clock.skippingWaits { try await flow.run(answering: person) }
        #expect(session == "s" && calls(flow) == ["begin", "poll", "poll"])
        // They were asked once, told to stop, and shown no countdown.
        #expect(person.seen.withLock { $0 } == ["ask 1", "stopped"])
    }

    @Test func theNextQuestionIsAskedInItsPlace() async throws {
        var flow = flow(.success(.ask(Challenge(factor: .totp))), .success(.finished("s")))
        let person = Thinking(answering: [.totp: "2"])
        let session = try await bench.clock.skippingWaits { try await flow.run(answering: person) }
        #expect(session == "s" && calls(flow) == ["begin", "poll", "submit totp 2"])
        #expect(person.seen.withLock { $0 } == ["ask 1", "stopped", "ask 1"])
    }

    @Test func anAnswerThatComesFirstIsSentOnce() async throws {
        var flow = flow(.success(.finished("s")))
        let person = Thinking(answering: [.emailCode: "7"])
        // The clock stands: no look is due.
        #expect(try await flow.run(answering: person) == "s")
        #expect(calls(flow) == ["begin", "submit email_code 7"])
    }

    /// A bound of the caller's ends the looking, and not the asking.
    @Test func aBoundEndsTheLookingAlone() async throws {
        var flow = flow(.success(.finished("s")), maxWait: .seconds(1))
        let gate = Thinking(answering: [.emailCode: "7"])
        let session = try await bench.clock.skippingWaits { try await flow.run(answering: gate) }
        #expect(session == "s" && calls(flow) == ["begin", "submit email_code 7"])
    }

    @Test func nobodyThereEndsIt() async throws {
        var flow = flow()
        let error = await #expect(throws: Challenge.NoAnswer.self) { try await flow.run(answering: ScriptedPerson()) }
        #expect(error?.key == .emailCode && calls(flow) == ["begin"])
    }

    @Test func aCancellationEndsBoth() async throws {
        let (person, bench) = (Thinking(), bench)
        let flow = flow()
        let task = Task {
            var flow = flow
            return try await flow.run(answering: person)
        }
        await bench.clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(person.seen.withLock { $0 } == ["ask 1", "stopped"])
    }

    /// It is kept with the sign-in, and a look takes nobody's ticket away.
    @Test func itIsLookedAfterBetweenRequests() async throws {
        let door = PolledDoor(client: bench.client)
        let signIns = SuspendedSignIns(bench.client, sealing: MarkingSealing())
        let first = try await signIns.begin(SignInFlow(door.machine, client: bench.client))
        let ticket = try #require(first.ticket)
        guard case .ask(let early) = try await signIns.step(ticket, .poll, at: door).step else {
            return #expect(Bool(false))
        }
        #expect(early.poll == Self.pause)
        bench.clock.advance(by: .seconds(4))
        let looked = try await signIns.step(ticket, .poll, at: door)
        guard case .ask(let same) = looked.step else { return #expect(Bool(false)) }
        #expect(looked.ticket == ticket && same.poll == Self.pause)
        guard case .finished("7") = try await signIns.step(ticket, .answer(.text("7")), at: door).step else {
            return #expect(Bool(false))
        }
    }
}

/// Somebody who never comes to an answer unless there is one, and remembers that they were stopped.
private final class Thinking: ChallengeResponder {
    let seen = Locked<[String]>([])
    private let answers: [Factor.Key: Secret]

    init(answering answers: [Factor.Key: Secret] = [:]) {
        self.answers = answers
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        seen.withLock { $0.append("ask \(challenge.round)") }
        if let answer = answers[challenge.key] { return .text(answer) }
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        seen.withLock { $0.append("stopped") }
        throw CancellationError()
    }

    func waiting(for reason: Outcome.Kind, duration: Duration, until: Timestamp) async {
        seen.withLock { $0.append("waiting") }
    }
}

/// A sign-in whose question is always polled, and whose answer is the session.
private struct PolledDoor: SignInProvider {
    let client: RecoveringClient
    var machine: PolledMachine { PolledMachine() }

    func signInMachine(from memory: JSONValue) -> (any SignInMachine<String>)? { machine }
}

private struct PolledMachine: SignInMachine {
    private static let question = Challenge(factor: .email, poll: SignInContext.Pause(.seconds(4)))

    var openingFactor: Factor? { nil }
    var memory: JSONValue { [:] }

    mutating func enter(_ context: SignInContext) {}
    mutating func begin() async throws -> SignInStep<String> { .ask(Self.question) }
    mutating func choose(_ factor: Factor) async throws -> SignInStep<String> { .ask(Self.question) }
    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<String> { .ask(Self.question) }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<String> {
        .finished(answer.reveal())
    }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<String> {
        .ask(Self.question)
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<String> {
        .ask(Self.question)
    }
}
