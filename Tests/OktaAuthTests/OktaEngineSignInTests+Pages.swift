import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

/// Other pages, other forms.
extension OktaEngineSignInTests {
    private static let google =
        #"{"name":"redirect-idp","type":"GOOGLE","idp":{"id":"0oa9","name":"Google"},"href":"https://example.okta.com/sso/idps/0oa9?stateToken=02","method":"GET"}"#

    @Test func anIdentityProviderIsVisited() async throws {
        let bench = try OktaBench.engine([.ion(Self.google), .tokens])
        var flow = bench.okta.signInFlow(identifier: nil)
        guard case .ask(let question) = try await flow.step(.begin).step else {
            Issue.record("no question")
            return
        }
        #expect(
            question.key == .redirect && question.url?.reveal().hasPrefix("https://example.okta.com/sso/idps") == true
        )
        let state = FormFields(parsing: bench.transport.received[0].body)["state"].first?.reveal() ?? ""
        var other = flow
        await #expect(throws: RecoveryError.self) {
            _ = try await other.step(.answer(.text("com.example:/callback?interaction_code=IC&state=foreign")))
        }
        let back = Secret("com.example:/callback?interaction_code=IC&state=\(state)")
        guard case .finished = try await flow.step(.answer(.text(back))).step else {
            Issue.record("not finished")
            return
        }
        #expect(bench.steps.last == "/oauth2/v1/token")
    }

    @Test func anIdentityProviderMayNotBeEnough() async throws {
        let bench = try OktaBench.engine([
            .ion(Self.google), .ion(Ion.answer, more: Ion.current("google_otp", "otp")), .interactionCode, .tokens,
        ])
        var flow = bench.okta.signInFlow(identifier: nil)
        _ = try await flow.step(.begin)
        let state = FormFields(parsing: bench.transport.received[0].body)["state"].first?.reveal() ?? ""
        let back = Secret("com.example:/callback?error=interaction_required&state=\(state)")
        guard case .ask(let question) = try await flow.step(.answer(.text(back))).step else {
            Issue.record("no question")
            return
        }
        #expect(question.key == .totp && bench.steps.last == "introspect {stateToken:H}")
    }

    /// Whoever wants Okta Verify on their device asked is shown its address, and is polled for; it is not asked by itself.
    @Test func oktaVerifyIsOpenedIfSomebodyWantsThat() async throws {
        let both = Ion.form("identify", "identify", Ion.field("identifier"), Ion.passcode)
        let launch = Ion.form("launch-authenticator", "authenticators/okta-verify/launch")
        let poll = Ion.form("device-challenge-poll", "authenticators/poll", more: #","refresh":2000"#)
        let device =
            #""authenticatorChallenge":{"value":{"challengeMethod":"CUSTOM_URI","href":"com.verify.okta://open","cancel":\#(Ion.form("cancel-polling", "authenticators/poll/cancel"))}}"#
        let bench = try OktaBench.engine([
            .ion(both, launch), .ion(poll, more: device), .ion(poll, more: device), .interactionCode, .tokens,
        ])
        let person = Person([.password: [.useAnotherFactor]], choosing: "launch-authenticator")
        _ = try await bench.signIn(nil, person)
        #expect(person.shown.map { $0.url?.reveal() } == ["com.verify.okta://open"])
        #expect(
            bench.steps.dropFirst(2) == [
                "authenticators/okta-verify/launch", "authenticators/poll", "authenticators/poll", "/oauth2/v1/token",
            ]
        )
        // A wrong password leads nobody there.
        let wrong = ScriptedTransport.Step.ion(
            both,
            launch,
            more: Ion.message("authfactor.challenge.suspended_factor"),
            status: 403
        )
        let other = try OktaBench.engine([.ion(both, launch), wrong])
        let error = await #expect(throws: RecoveryError.self) { try await other.signIn() }
        #expect(error?.kind == .factorUnavailable && other.transport.received.count == 3)
    }

    @Test func aCodeMayComeAsALink() async throws {
        let bench = try OktaBench.engine([
            .ion(Ion.identify), .ion(Ion.answer, more: Ion.current("okta_email", "email")), .interactionCode, .tokens,
        ])
        var flow = bench.okta.signInFlow(identifier: OktaBench.identifier)
        _ = try await flow.step(.begin)
        let state = FormFields(parsing: bench.transport.received[0].body)["state"].first?.reveal() ?? ""
        // One of another sign-in is not sent.
        let foreign = Secret("https://app.test/cb?otp=118204&state=foreign")
        guard case .ask(let again) = try await flow.step(.answer(.text(foreign))).step else {
            Issue.record("not asked")
            return
        }
        #expect(again.previousFailure?.kind == .challengeIncorrect && bench.transport.received.count == 3)
        _ = try await flow.step(.answer(.text(Secret("https://app.test/cb?otp=118204&state=\(state)"))))
        #expect(bench.steps[3] == "challenge/answer {credentials:{passcode:118204}}")
    }

    /// The link was opened in another client: where the flow stands is read, without a code.
    @Test func aLinkThatWasOpenedElsewhereIsSeen() async throws {
        let bench = try OktaBench.engine([
            .ion(Ion.identify), .ion(Ion.answer, more: Ion.current("okta_email", "email")), .interactionCode, .tokens,
        ])
        var flow = bench.okta.signInFlow(identifier: OktaBench.identifier)
        guard case .ask(let question) = try await flow.step(.begin).step, question.key == .emailCode,
            case .finished = try await flow.step(.resync).step
        else {
            Issue.record("not finished")
            return
        }
        #expect(bench.steps[3] == "introspect {stateToken:H}")
    }

    @Test func aFormThatNobodyKnowsIsAskedForInTheServersWords() async throws {
        let form = Ion.form(
            "form-of-tomorrow",
            "tomorrow",
            Ion.object(
                "userProfile",
                Ion.field("firstName", #""label":"First name""#),
                Ion.field("age", #""label":"Age","type":"integer""#)
            ),
            #"{"name":"fixed","value":7,"mutable":false}"#,
            #"{"name":"optional"}"#
        )
        let bench = try OktaBench.engine([.ion(form), .interactionCode, .tokens])
        let person = Person([.text: [.text("Ada"), .text("36")]])
        _ = try await bench.signIn("hunter2", person)
        #expect(person.questions.map(\.prompt) == ["First name", "Age"])
        #expect(bench.steps[2] == "tomorrow {userProfile:{firstName:Ada,age:36},fixed:7}")
    }

    @Test func whatNobodyCanGoOnFromIsToldByItsName() async throws {
        let bench = try OktaBench.engine([.ion(Ion.form("form-of-tomorrow", "tomorrow"))])
        let error = await #expect(throws: RecoveryError.self) { try await bench.signIn() }
        #expect(error?.kind == .unknown && error?.outcome.code == "form-of-tomorrow")
    }

    @Test func whatIsOptionalIsSkippedUnlessItIsWanted() async throws {
        let enroll = Ion.select("select-authenticator-enroll", ("aut1", "otp", "$.authenticators.value[0]"))
        let offered = #""authenticators":{"value":[{"type":"app","key":"google_otp","id":"aut1"}]}"#
        let bench = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(enroll, Ion.skip, more: offered), .interactionCode, .tokens,
        ])
        _ = try await bench.signIn()
        #expect(bench.steps[4] == "skip")
        let activation =
            #""currentAuthenticator":{"value":{"type":"app","key":"google_otp","methods":[{"type":"otp"}],"contextualData":{"sharedSecret":"KEY"}}}"#
        let wanting = try OktaBench.engine([
            .ion(Ion.identify), Self.asked, .ion(enroll, Ion.skip, more: offered),
            .ion(Ion.form("enroll-authenticator", "challenge/answer", Ion.passcode), more: activation),
            .interactionCode,
            .tokens,
        ]) { $0.enrollsOptionalFactors = true }
        let person = Person([.totp: "1"])
        _ = try await wanting.signIn("hunter2", person)
        #expect(person.questions.first?.setup == "KEY")
        #expect(wanting.steps[4] == "credential/enroll {authenticator:{id:aut1,methodType:otp}}")
    }

    /// Whatever the server answers, and however often it says the same, a sign-in ends.
    @Test func aFlowThatGoesRoundInCirclesEnds() async throws {
        for answer in [ScriptedTransport.Step.ion(Ion.identify), .ion(Ion.skip), Self.asked, Self.waiting()] {
            let bench = try OktaBench.engine(Array(repeating: answer, count: 400))
            await #expect(throws: (any Error).self) { try await bench.signIn() }
            #expect(bench.steps.filter { $0 == Self.typed }.count <= 1)
        }
    }

    @Test func theFlowIsEndedAtTheServer() async throws {
        let cancel = #""cancel":\#(Ion.form("cancel", "cancel"))"#
        let bench = try OktaBench.engine([.ion(Ion.identify, more: cancel), .ion(Ion.identify)])
        var flow = bench.okta.signInFlow(identifier: nil)
        _ = try await flow.step(.begin)
        try await flow.abandon()
        #expect(bench.steps.last == "cancel")
    }
}
