import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import OktaAuth
import SignInSupport
import Testing

@testable import AuthSandbox

/// The code of a mail is asked for, and its link looked after: what comes first goes on.
@Suite("Okta: mails with a code and a link")
struct OktaEmailLinkTests {
    private static func bench(_ polls: Bool = true) throws -> OktaSandboxBench {
        try OktaSandboxBench(
            { $0.okta.factors = [.init("email")] },
            settings: { ($0.okta.pollsEmail, $0.okta.emailWindow) = (polls, 0) }
        )
    }

    @Test func aLinkThatIsOpenedElsewhereGoesOn() async throws {
        let bench = try Self.bench()
        let person = Opener(bench)
        _ = try await bench.signIn(person)
        #expect(person.asked.withLock { $0.map(\.key) } == [.emailCode])
        #expect(bench.counters.codes == 1 && bench.counters.codeAttempts == 0)
        #expect(bench.count("challenge/poll") >= 1 && bench.count("challenge/answer") == 1)
    }

    /// A wrong code brings a new proof of the flow, which is what is looked with then.
    @Test func aLinkAfterAWrongCode() async throws {
        let bench = try Self.bench()
        let person = Opener(bench, first: ["1"])
        _ = try await bench.signIn(person)
        let asked = person.asked.withLock { $0 }
        #expect(asked.map(\.round) == [1, 2] && asked.last?.previousFailure?.kind == .challengeIncorrect)
        #expect(bench.counters.codeAttempts == 1 && bench.counters.codes == 1)
    }

    /// After a look whose answer was lost, where the flow stands is read.
    @Test func aLookThatIsLost() async throws {
        let bench = try Self.bench()
        bench.losses.withLock { $0 = ["challenge/poll"] }
        _ = try await bench.signIn(Opener(bench))
        #expect(bench.count("introspect") == 2 && bench.counters.codes == 1)
    }

    @Test func aCodeIsTakenAsEver() async throws {
        let bench = try Self.bench()
        _ = try await bench.okta.signIn(
            identifier: OktaSandboxBench.eva,
            password: Secret(OktaSandboxBench.password),
            answering: Reader(bench)
        )
        #expect(bench.count("challenge/poll") == 0 && bench.counters.codeAttempts == 1)
    }

    /// Where the org offers no look, there is none.
    @Test func anOrgWithoutLooks() async throws {
        let bench = try Self.bench(false)
        var flow = bench.okta.signInFlow(
            identifier: OktaSandboxBench.eva,
            password: Secret(OktaSandboxBench.password)
        )
        guard case .ask(let question) = try await flow.step(.begin).step else { return #expect(Bool(false)) }
        #expect(question.key == .emailCode && question.poll == nil)
    }

    @Test func aWebBackendLooksBetweenRequests() async throws {
        let bench = try Self.bench()
        let signIns = SuspendedSignIns(bench.client, sealing: MarkingSealing())
        let flow = bench.okta.signInFlow(
            identifier: OktaSandboxBench.eva,
            password: Secret(OktaSandboxBench.password)
        )
        let first = try await signIns.begin(flow)
        guard case .ask(let question) = first.step else { return #expect(Bool(false)) }
        #expect(question.poll == SignInContext.Pause(.seconds(4)))
        bench.clock.advance(by: .seconds(4))
        let same = try await signIns.step(try #require(first.ticket), .poll, at: bench.okta)
        guard case .ask(let again) = same.step else { return #expect(Bool(false)) }
        #expect(again == question && same.ticket == first.ticket)
        Opener(bench).open()
        bench.clock.advance(by: .seconds(4))
        guard case .finished = try await signIns.step(try #require(same.ticket), .poll, at: bench.okta).step else {
            return #expect(Bool(false))
        }
        #expect(bench.counters.codeAttempts == 0)
    }
}

/// Somebody who types nothing, but opens the link that was sent, perhaps after wrong codes.
private final class Opener: ChallengeResponder {
    let asked = Locked<[Challenge]>([])
    private let bench: OktaSandboxBench
    private let codes: Locked<[Secret]>

    init(_ bench: OktaSandboxBench, first codes: [Secret] = []) {
        self.bench = bench
        self.codes = Locked(codes)
    }

    func answer(_ challenge: Challenge) async throws -> Challenge.Answer {
        asked.withLock { $0.append(challenge) }
        let code = codes.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let code { return .text(code) }
        open()
        let (never, _) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        throw CancellationError()
    }

    func open() {
        let order = Array(#"{"user":"\#(OktaSandboxBench.eva)"}"#.utf8)
        _ = bench.world.withLock { harness in
            harness.send(
                SandboxRequest(method: "POST", target: "/_sandbox/okta/open_link", headers: [], body: order)
            )
        }
    }
}
