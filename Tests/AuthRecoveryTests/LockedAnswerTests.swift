import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import Testing

@testable import AuthRecovery

/// What becomes of an answer that a lock has held back which was there before it.
@Suite struct LockedAnswerTests {
    @Test(arguments: [
        (Factor.Key.password, 1, true), (.securityAnswer, 1, true), (.totp, 1, false), (.emailCode, 1, false),
        (.backupCode, 2, false), (.password, 2, true),
    ])
    func whatIsGoodForAWhileIsNotSentAfterTheWait(key: Factor.Key, round: Int, isSent: Bool) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport()
        let client = RecoveringClient(transport: transport, runtime: .manual(clock)) { Recovery { LockoutWait() } }
        let account = SharedState.Gate.Key(scope: .account, origin: Bench.origin, name: "ada")
        let opensAt = client.runtime.time.wallTime.advanced(by: .seconds(60))
        await client.runtime.state.close(SharedState.Gate(key: account, reason: .accountLocked, opensAt: opensAt))
        var question = Challenge(factor: Factor(key: key, providerName: key.rawValue))
        question.round = round
        let rule = LockedAnswer(question)
        let post = HTTPRequest(method: .post, scheme: "https", authority: "api.example.com", path: "/answer")
        func send() async throws -> HTTPResponse.Status {
            try await clock.skippingWaits {
                try await client.operation { operation in
                    let operation = rule.map { operation.held(by: $0) } ?? operation
                    return try await client.within(operation).send(post, options: RequestOptions(account: "ada")).status
                }
            }
        }
        if isSent {
            #expect(try await send() == .ok)
        } else {
            let error = await #expect(throws: RecoveryError.self) { try await send() }
            #expect(error?.reason == .lockoutOver && error?.outcome.lockout == .remaining(.zero))
        }
        #expect(clock.now.offset >= .seconds(60), "it was waited out")
        #expect(transport.received.count == (isSent ? 1 : 0))
    }
}
