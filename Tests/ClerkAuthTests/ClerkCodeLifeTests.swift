import AuthRecovery
import ClerkAuth
import HTTPRecovery
import HTTPRecoveryTesting
import Testing

/// A code that has expired by the server's own word is not presented.
@Suite struct ClerkCodeLifeTests {
    /// An answer to a preparation, whose code ends at a second after the manual clock's beginning.
    private static func prepared(endingAt second: Int) -> ScriptedTransport.Step {
        let verification = """
            "first_factor_verification":{"status":"unverified","strategy":"email_code","attempts":0,\
            "expire_at":\((1_893_456_000 + second) * 1000)},"created_session_id"
            """
        let signIn = ClerkJSON.signIn("needs_first_factor", first: ClerkJSON.email)
            .replacing(#""created_session_id""#, with: verification)
        return .status(200, [:], body: #"{"response":\#(signIn),"client":null}"#)
    }

    /// How many codes are presented by a person who takes eleven minutes for the first, and is quick afterwards.
    private static func presented(_ first: ScriptedTransport.Step) async throws -> [String] {
        let bench = try ClerkBench([
            .signIn("needs_first_factor", first: ClerkJSON.email), first,
        ])
        let person = SlowPerson(["111111", "222222"], clock: bench.clock)
        bench.transport.append([prepared(endingAt: 1500), .complete()])
        _ = try? await bench.clerk.signIn(identifier: ClerkBench.identifier, answering: person)
        return bench.sent.compactMap { $0.split(separator: "&code=").dropFirst().first.map(String.init) }
    }

    @Test func aCodeThatHasExpiredIsNotPresentedAndANewOneIsSent() async throws {
        #expect(try await Self.presented(Self.prepared(endingAt: 600)) == ["222222"])
    }

    @Test func oneThatLivesIsPresented() async throws {
        #expect(try await Self.presented(Self.prepared(endingAt: 700)).first == "111111")
    }

    /// A server whose clock is wrong, or that states nonsense, keeps nobody from signing in.
    @Test func anEndThatWasOverWhenItWasStatedCountsForNothing() async throws {
        #expect(try await Self.presented(Self.prepared(endingAt: -600)).first == "111111")
    }

    // MARK: A message that is not sent yet

    private static let early = ScriptedTransport.Step.error("sms_verification_not_yet_sent", status: 400)

    @Test func aMessageThatIsNotSentYetIsWaitedForAndItsCodeAskedForAgain() async throws {
        let first = ScriptedTransport.Step.signIn("needs_first_factor", first: ClerkJSON.phone)
        let bench = try ClerkBench([first, first, Self.early, .complete()])
        _ = try await bench.signIn(nil, Person([.phoneCode: [.text("1"), .text("2")]]))
        #expect(bench.sent.compactMap { $0.split(separator: "&code=").dropFirst().first } == ["1", "2"])
        #expect(bench.sent.count == 4 && bench.clock.requestedDelays.contains(.seconds(3)))
    }

    @Test func oneThatIsNeverSentEndsTheSignIn() async throws {
        let second = ScriptedTransport.Step.signIn("needs_second_factor", second: ClerkJSON.phone)
        let bench = try ClerkBench([second, second] + Array(repeating: Self.early, count: 20))
        let person = Person([.phoneCode: Array(repeating: .text("1"), count: 20)])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("hunter2", person) }
        #expect(error?.kind == .challengePending && bench.sent.count == 2 + 3)
    }
}

/// A person who looks for the first code for eleven minutes.
private final class SlowPerson: ChallengeResponder {
    private let answers: Locked<[String]>
    private let clock: ManualClock
    private let isFirst = Locked(true)

    init(_ answers: [String], clock: ManualClock) {
        self.answers = Locked(answers)
        self.clock = clock
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let answer else { throw Challenge.NoAnswer(challenge.key) }
        let isFirst = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
        }
        if isFirst { clock.advance(by: .seconds(660)) }
        return .text(Secret(answer))
    }
}
