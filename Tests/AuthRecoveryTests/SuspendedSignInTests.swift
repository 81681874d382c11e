import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import SignInSupport
import Testing

/// A sign-in between the requests of a web backend, on instances that share a store.
@Suite("Suspended sign-ins")
struct SuspendedSignInTests {
    private let clock = ManualClock()
    private let store = InMemoryRecoveryStore()

    /// An instance of the backend: a process of its own, as far as it knows.
    private func instance(
        _ steps: [ScriptedTransport.Step] = [],
        store other: (any RecoveryStore)? = nil,
        key: String = "k1",
        lifetime: Duration = .seconds(600)
    ) -> Instance {
        let transport = ScriptedTransport(steps, then: .status(200))
        let runtime = Runtime(
            time: clock.timeSource(),
            random: Runtime.RandomSource(seed: .random(in: 0...(.max))),
            store: other ?? store
        )
        let client = RecoveringClient(transport: transport, runtime: runtime) { Recovery() }
        let signIns = SuspendedSignIns(client, sealing: MarkingSealing(key: key), lifetime: lifetime)
        return Instance(transport: transport, provider: Door(client: client), signIns: signIns)
    }

    private struct Instance {
        let transport: ScriptedTransport
        let provider: Door
        let signIns: SuspendedSignIns

        func begin() async throws -> SignInTurn<String> { try await signIns.begin(provider.flow()) }

        func answer(_ ticket: Secret?, _ text: String) async throws -> SignInTurn<String> {
            try await signIns.step(try #require(ticket), .answer(.text(Secret(text))), at: provider)
        }

        var sent: [String] { transport.received.map { $0.request.path ?? "" } }
    }

    private func refusal(_ body: () async throws -> SignInTurn<String>) async -> RecoveryError? {
        await #expect(throws: RecoveryError.self) { try await body() }
    }

    @Test func aSignInBegunAtOneInstanceIsFinishedAtAnother() async throws {
        let (one, other) = (instance(), instance())
        let first = try await one.begin()
        #expect(first.question?.key == .password)
        let second = try await other.answer(first.ticket, "1")
        #expect(second.question?.key == .totp)
        let last = try await one.answer(second.ticket, "2")
        guard case .finished("session 2") = last.step else { throw Unexpected() }
        #expect(last.ticket == nil)
        #expect(one.sent == ["/begin", "/submit/2"] && other.sent == ["/submit/1"])
    }

    @Test func theSameStepTwiceLeadsToTheSameAndSendsNothing() async throws {
        let (one, other) = (instance(), instance())
        let first = try await one.begin()
        let second = try await one.answer(first.ticket, "1")
        for text in ["1", "another"] {
            let again = try await other.answer(first.ticket, text)
            #expect(again.question == second.question && again.ticket == second.ticket)
        }
        #expect(other.sent == [])
        _ = try await other.answer(second.ticket, "2")
        let error = await refusal { try await one.answer(second.ticket, "2") }
        #expect(error?.kind == .alreadySignedIn && error?.remedies == [.useExistingSession])
        #expect(await refusal { try await one.answer(first.ticket, "1") }?.kind == .alreadySignedIn)
    }

    @Test func ofTwoRequestsAtOnceOneTakesTheStep() async throws {
        for _ in 0..<20 {
            let (one, other) = (instance(), instance())
            let first = try await one.begin()
            async let left = end { try await one.answer(first.ticket, "1") }
            async let right = end { try await other.answer(first.ticket, "1") }
            let ends = await [left, right]
            #expect((one.sent + other.sent).filter { $0 == "/submit/1" }.count == 1)
            // The slower one is told to wait, or what the faster one has led to.
            #expect(ends.allSatisfy { ["totp", "state_conflict 1.0"].contains($0) } && ends.contains("totp"))
        }
    }

    private func end(_ body: () async throws -> SignInTurn<String>) async -> String {
        do {
            return try await body().question?.key.rawValue ?? "-"
        } catch let error as RecoveryError {
            return "\(error.kind.rawValue) \(error.retryAfter?.inSeconds ?? 0)"
        } catch {
            return "\(error)"
        }
    }

    @Test func whileAStepIsTakenNobodyElseTakesIt() async throws {
        let (one, other) = (instance([.status(200), .hang]), instance())
        let first = try await one.begin()
        let task = Task { try await one.answer(first.ticket, "1") }
        await one.transport.waitForRequests(2)
        for _ in 0..<3 {
            let error = await refusal { try await other.answer(first.ticket, "1") }
            #expect(error?.kind == .stateConflict && error?.remedies == [.wait] && error?.retryAfter == .seconds(1))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(other.sent == [])
    }

    /// Nobody knows what became of the answer: it is not sent again, but where the sign-in stands is read.
    @Test func aStepThatWasBrokenOffIsReadAtTheServer() async throws {
        let (one, other) = (instance([.status(200), .hang]), instance())
        let first = try await one.begin()
        let task = Task { try await one.answer(first.ticket, "1") }
        await one.transport.waitForRequests(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let next = try await other.answer(first.ticket, "1")
        #expect(other.sent == ["/resync"])
        #expect(next.question?.key == .totp)
    }

    @Test func anInstanceThatDiesWithinAStepHoldsItNoLongerThanItsLease() async throws {
        let (one, other) = (instance([.status(200), .hang]), instance())
        let first = try await one.begin()
        // The process is gone: nothing of it goes on, and nothing is given back.
        let frozen = FrozenStore(store)
        let dying = instance([.hang], store: frozen)
        let task = Task { try await dying.answer(first.ticket, "1") }
        await dying.transport.waitForRequests(1)
        frozen.freeze()
        task.cancel()
        #expect(await refusal { try await other.answer(first.ticket, "1") }?.kind == .stateConflict)
        clock.advance(by: .seconds(31))
        let next = try await other.answer(first.ticket, "1")
        #expect(other.sent == ["/resync"] && next.question?.key == .totp)
        frozen.thaw()
        _ = try? await task.value
    }

    @Test func aSignInHasAnEnd() async throws {
        let one = instance(lifetime: .seconds(60))
        let first = try await one.begin()
        clock.advance(by: .seconds(59))
        let second = try await one.answer(first.ticket, "1")
        clock.advance(by: .seconds(61))
        let error = await refusal { try await one.answer(second.ticket, "2") }
        #expect(error?.kind == .flowExpired && error?.remedies == [.restartFlow])
        #expect(one.sent == ["/begin", "/submit/1"])
        // Nothing of it stays.
        _ = try await one.begin()
        clock.advance(by: .seconds(3600))
        _ = try await one.begin()
        #expect(await store.recordCount == 1)
    }

    @Test func aSignInCanBeAbandoned() async throws {
        let (one, other) = (instance(), instance())
        let first = try await one.begin()
        try await other.signIns.abandon(try #require(first.ticket), at: other.provider)
        #expect(other.sent == ["/abandon"])
        #expect(await refusal { try await one.answer(first.ticket, "1") }?.kind == .flowExpired)
        try await one.signIns.abandon(try #require(first.ticket), at: one.provider)
        #expect(one.sent == ["/begin"], "once")
    }

    @Test func aRefusalThatEndsItEndsItForAllTickets() async throws {
        let one = instance([.status(200), .status(403)])
        let first = try await one.begin()
        #expect(await refusal { try await one.answer(first.ticket, "1") }?.kind == .permissionDenied)
        #expect(await refusal { try await one.answer(first.ticket, "1") }?.kind == .flowExpired)
        #expect(one.sent.count == 2)
    }

    @Test func anInputThatIsNotWantedChangesNothing() async throws {
        let one = instance()
        let first = try await one.begin()
        let ticket = try #require(first.ticket)
        for input in [SignInInput.begin, .choose(nil), .poll] {
            let error = await refusal { try await one.signIns.step(ticket, input, at: one.provider) }
            #expect(error?.kind == .invalidRequest && error?.remedies == [.fixRequest])
            #expect(
                error?.outcome.code == "input_not_wanted"
                    && error?.outcome.message?.hasPrefix("The sign-in wants ") == true
            )
        }
        #expect(try await one.answer(ticket, "1").question?.key == .totp)
    }

    @Test(arguments: ["", ".", "a.1", "x", "-1", "é", String(repeating: "A", count: 43) + ".1"])
    func whatIsNoTicketIsRefused(_ text: String) async throws {
        let one = instance()
        let valid = try #require(try await one.begin().ticket).reveal()
        let forged = [text, valid + text, valid.dropLast(1) + "2", valid.dropLast(1) + "0", "B" + valid.dropFirst()]
        for ticket in forged where ticket != valid {
            let error = await refusal { try await one.answer(Secret(String(ticket)), "1") }
            #expect(error?.kind == .flowExpired)
        }
        #expect(one.sent == ["/begin"])
    }

    @Test func aTicketOfOneBrowserIsNoneInAnother() async throws {
        let one = instance()
        let turn = try await one.signIns.held(by: "ada").begin(one.provider.flow())
        let ticket = try #require(turn.ticket)
        for other in [one.signIns, one.signIns.held(by: "eve"), one.signIns.held(by: "")] {
            let error = await refusal { try await other.step(ticket, .answer(.text("1")), at: one.provider) }
            #expect(error?.kind == .flowExpired)
        }
        _ = try await one.signIns.held(by: "ada").step(ticket, .answer(.text("1")), at: one.provider)
        #expect(one.sent == ["/begin", "/submit/1"])
    }

    @Test func withoutItsStoreNoStepIsTaken() async throws {
        let frozen = FrozenStore(store)
        let one = instance(store: frozen)
        let first = try await one.begin()
        frozen.fail()
        let error = await refusal { try await one.answer(first.ticket, "1") }
        #expect(error?.kind == .unavailable || error?.kind == .stateConflict)
        #expect(one.sent == ["/begin"])
        let begun = await refusal { try await one.begin() }
        #expect(begun?.kind == .unavailable, "nobody could go on with it")
    }

    @Test func whoHasNoKeyReadsAndContinuesNothing() async throws {
        let (one, stranger) = (instance(), instance(key: "k2"))
        let first = try await one.begin()
        await #expect(throws: Credentials.SealingError.self) { try await stranger.answer(first.ticket, "1") }
        #expect(stranger.sent == [])
        let ticket = try #require(first.ticket).reveal()
        for record in await store.contents {
            #expect(!record.key.contains(ticket.prefix(43)) && !record.text.contains(ticket.prefix(43)))
            #expect(!record.text.contains("s3cret"), "what the machine remembers is sealed")
        }
        #expect(ticket.utf8.count < 60, "short enough for a cookie")
    }

    @Test func whatIsAnsweredElsewhereIsAskedForInItsTime() async throws {
        let one = instance()
        let first = try await one.begin()
        let waiting = try await one.answer(first.ticket, "push")
        guard case .pending(let challenge, let pause) = waiting.step else { throw Unexpected() }
        #expect(challenge.key == .push && pause.duration == .seconds(5))
        let ticket = try #require(waiting.ticket)
        clock.advance(by: .seconds(2))
        let early = try await one.signIns.step(ticket, .poll, at: one.provider)
        guard case .pending(_, let left) = early.step else { throw Unexpected() }
        #expect(left.duration == .seconds(3) && early.ticket == ticket)
        clock.advance(by: .seconds(3))
        let done = try await one.signIns.step(ticket, .poll, at: one.provider)
        guard case .finished = done.step else { throw Unexpected() }
        #expect(one.sent == ["/begin", "/submit/push", "/poll"])
    }
}

private struct Unexpected: Error {}

extension SignInTurn {
    fileprivate var question: Challenge? {
        if case .ask(let question) = step { question } else { nil }
    }
}

extension InMemoryRecoveryStore {
    fileprivate var contents: [(key: String, text: String)] {
        get async { records.map { ($0.key, String(decoding: $0.value.bytes, as: UTF8.self)) } }
    }

    fileprivate var recordCount: Int {
        get async { records.count }
    }
}

/// A provider whose sign-in wants a password and a code.
private struct Door: SignInProvider {
    let client: RecoveringClient

    func flow() -> SignInFlow<String> { SignInFlow(DoorMachine(client: client), client: client) }

    func signInMachine(from memory: JSONValue) -> (any SignInMachine<String>)? {
        guard memory["secret"]?.string == "s3cret", let count = memory["count"]?.number?.saturatedInt else {
            return nil
        }
        return DoorMachine(client: client, count: Int(count))
    }
}

private struct DoorMachine: SignInMachine {
    var client: RecoveringClient
    var count = 0

    var openingFactor: Factor? { nil }
    var memory: JSONValue { ["secret": "s3cret", "count": .number(JSONValue.Number(count))] }

    mutating func enter(_ context: SignInContext) { client = client.within(context.operation) }

    private func send(_ path: String) async throws {
        _ = try await client.send(
            HTTPRequest(method: .post, scheme: "https", authority: "id.example.com", path: "/\(path)"),
            options: RequestOptions(resend: .spending)
        )
    }

    mutating func begin() async throws -> SignInStep<String> {
        try await send("begin")
        return .ask(Challenge(factor: .password))
    }

    mutating func resync() async throws -> SignInStep<String> {
        try await send("resync")
        return .ask(Challenge(factor: .totp))
    }

    mutating func submit(_ answer: Secret, to challenge: Challenge) async throws -> SignInStep<String> {
        try await send("submit/\(answer.reveal())")
        count += 1
        if answer == "push" {
            return .pending(
                Challenge(factor: Factor(key: .push, providerName: "push")),
                SignInContext.Pause(.seconds(5))
            )
        }
        return count == 1 ? .ask(Challenge(factor: .totp)) : .finished("session \(count)")
    }

    mutating func poll(unlessBoundBy bound: RecoveryError?) async throws -> SignInStep<String> {
        if let bound { throw bound }
        try await send("poll")
        return .finished("polled")
    }

    mutating func choose(_ factor: Factor) async throws -> SignInStep<String> { .ask(Challenge(factor: factor)) }

    mutating func resend(_ factor: Factor, waitingAtMost limit: Duration?) async throws -> SignInStep<String> {
        .ask(Challenge(factor: factor))
    }

    mutating func replace(_ factor: Factor, after refusal: RecoveryError?) async throws -> SignInStep<String> {
        .choose([])
    }

    mutating func abandon() async throws { try await send("abandon") }
}

/// A store that stands for one outside the process, and can stop to answer.
private final class FrozenStore: MemoryBackedStore {
    private enum State { case answers, frozen, fails }

    private let memory: InMemoryRecoveryStore
    private let state = Locked(State.answers)
    let name = "frozen"

    init(_ memory: InMemoryRecoveryStore) { self.memory = memory }

    func freeze() { state.withLock { $0 = .frozen } }
    func fail() { state.withLock { $0 = .fails } }
    func thaw() { state.withLock { $0 = .answers } }

    /// A frozen store loses what it is told.
    func asked<Value>(_ body: (InMemoryRecoveryStore) async -> Value) async throws -> Value {
        switch state.withLock({ $0 }) {
        case .answers: return await body(memory)
        case .frozen, .fails: throw SharedState.StoreError("does not answer")
        }
    }
}
