import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Refusals at the identity engine")
struct OktaEngineRefusalTests {
    private static let typed = "challenge/answer {credentials:{passcode:hunter2}}"
    private static let asked = ScriptedTransport.Step.ion(Ion.answer, more: Ion.password)

    /// The policy may send a push by itself behind the password: what becomes of it is no fault of the password's.
    @Test func aPushBehindThePasswordIsAskedAboutAlone() async throws {
        let push = Ion.current("okta_verify", "push", Ion.resend)
        let waiting = ScriptedTransport.Step.ion(
            Ion.form("challenge-poll", "authenticators/poll", more: #","refresh":2000"#),
            more: push
        )
        let over = ScriptedTransport.Step.ion(
            Ion.form("challenge-poll", "authenticators/poll"),
            more: "\(push),\(Ion.message("core.system.transaction_resource_not_found"))",
            status: 404
        )
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, waiting, over, waiting, .interactionCode, .tokens,
        ])
        let person = Person([.push: [.resend]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.push] && bench.steps.filter { $0 == Self.typed }.count == 1)
        #expect(bench.steps.filter { $0 == "challenge/resend" }.count == 1)
    }

    /// A word that nobody knows, beside the form that still stands: the person reads the text, and answers anew.
    @Test func anAnswerThatIsRefusedInAnUnknownWordIsAskedForAgain() async throws {
        let app = Ion.current("google_otp", "otp")
        let refused = ScriptedTransport.Step.ion(
            Ion.answer,
            more: "\(app),\(Ion.message("key.of.tomorrow"))",
            status: 400
        )
        let steps = [ScriptedTransport.Step.ion(Ion.identify), .ion(Ion.answer, more: app), refused]
        let bench = try OktaBench.engine(steps + [.interactionCode, .tokens])
        let person = Person([.totp: [.text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.keys == [.totp, .totp] && person.texts == ["Told."])
        let ever = try OktaBench.engine(steps + [refused, refused, refused])
        let error = await #expect(throws: RecoveryError.self) {
            try await ever.signIn("hunter2", Person([.totp: (1...9).map { .text(Secret("\($0)")) }]))
        }
        #expect(error?.kind == .unknown && error?.outcome.code == "key.of.tomorrow")
        #expect(ever.steps.filter { $0.hasPrefix("challenge/answer") }.count == 3)
    }

    /// Another beginning would be a second sign-in beside the one that goes on in the other tab.
    @Test func whatHasGoneOnElsewhereIsNotBegunAgain() async throws {
        let elsewhere = ScriptedTransport.Step.ion(more: Ion.message("idx.transferred.to.new.tab", "INFO"))
        let bench = try OktaBench.engine([.ion(Ion.identify), Self.asked, elsewhere])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn("hunter2", Person()) }
        #expect(error?.kind == .flowExpired && error?.outcome.code == "idx.transferred.to.new.tab")
        #expect(bench.transport.received.count == 4)
    }

    @Test func aReusedCodeWaitsForTheNextWindow() async throws {
        let app = Ion.current("google_otp", "otp")
        let used = "\(app),\(Ion.message("authfactor.challenge.soft_token.used_passcode"))"
        let bench = try OktaBench.engine([
            .ion(Ion.identify), .ion(Ion.answer, more: app), .ion(Ion.answer, more: used, status: 401),
            .interactionCode, .tokens,
        ])
        bench.clock.advance(by: .seconds(10))
        let person = Person([.totp: [.text("1"), .text("2")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(bench.events.words.contains("wait challenge_incorrect 20.0"))
        #expect(person.questions.map(\.round) == [1, 2])
    }
}
