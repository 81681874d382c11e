import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import OktaAuth
import Testing

/// A state token that has expired by the org's own word is not presented.
@Suite struct OktaTransactionLifeTests {
    private static let totp = OktaJSON.factor("token:software:totp")

    /// What is presented by a person who takes six minutes for a code that a transaction of five minutes wants.
    private static func sent(date: String?) async throws -> [String] {
        let begun = ScriptedTransport.Step.status(
            200,
            date.map { ["date": $0] } ?? [:],
            body: OktaJSON.state("MFA_REQUIRED", embedded: #","factors":[\#(totp)]"#)
        )
        let bench = try OktaBench([begun, .success(), .session])
        let state = try await bench.okta.authenticate(
            OktaCredentials(username: OktaBench.identifier, password: "hunter2")
        )
        guard case .factorRequired(let required) = state, let factor = required.factors.first,
            let verify = required.verify(factor)
        else { return [] }
        bench.clock.advance(by: .seconds(360))
        do {
            _ = try await verify(.passCode("123456"))
        } catch let error as RecoveryError {
            #expect(error.kind == .flowExpired && error.remedies == [.restartFlow])
        }
        return bench.sent
    }

    @Test func aCodeIsNotPresentedToATransactionThatIsOver() async throws {
        #expect(try await Self.sent(date: "Tue, 01 Jan 2030 00:00:00 GMT").count == 1)
    }

    /// By the org's clock the transaction lives on.
    @Test func itIsPresentedToOneThatLives() async throws {
        #expect(try await Self.sent(date: "Mon, 31 Dec 2029 23:55:00 GMT").count == 2)
    }

    @Test func anEndThatWasOverWhenItWasStatedCountsForNothing() async throws {
        #expect(try await Self.sent(date: "Tue, 01 Jan 2030 00:06:00 GMT").count == 2)
    }
}
