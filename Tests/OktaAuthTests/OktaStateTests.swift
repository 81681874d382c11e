import AuthRecovery
import HTTPRecovery
import HTTPRecoveryTesting
import HTTPTypes
import OktaAuth
import Testing

@Suite("Okta's states and their steps")
struct OktaStateTests {
    private func state(_ body: String) async throws -> (state: OktaState, bench: OktaBench) {
        let bench = try OktaBench([.answer(body)])
        return (try await bench.okta.resume(stateToken: "00st1"), bench)
    }

    /// Each status, and the steps that it offers with the links that it can have.
    static let statuses: [(status: String, links: [String], token: String?)] = [
        ("UNAUTHENTICATED", [OktaJSON.link("next", "", name: "authenticate")], "00st1"),
        (
            "PASSWORD_WARN", [OktaJSON.link("next", "/c", name: "changePassword"), OktaJSON.link("skip", "/skip")],
            "00st1"
        ),
        ("PASSWORD_RESET", [OktaJSON.link("next", "/c", name: "password")], "00st1"),
        ("RECOVERY", [OktaJSON.link("next", "/a", name: "answer")], "00st1"),
        ("RECOVERY_CHALLENGE", [OktaJSON.link("next", "/v", name: "verify")], "00st1"),
        ("MFA_ENROLL", [OktaJSON.link("skip", "/skip")], "00st1"),
        ("MFA_ENROLL_ACTIVATE", [OktaJSON.link("next", "/a", name: "activate"), OktaJSON.previous], "00st1"),
        ("MFA_REQUIRED", [], "00st1"),
        ("MFA_CHALLENGE", [OktaJSON.link("next", "/v", name: "verify"), OktaJSON.previous], "00st1"),
        ("SUCCESS", [], nil), ("OF_TOMORROW", [], "00st1"),
    ]

    @Test(arguments: statuses.indices)
    func aStateOffersWhatItsLinksAllow(index: Int) async throws {
        let (status, links, token) = Self.statuses[index]
        let (full, _) = try await state(OktaJSON.state(status, links: links, token: token))
        let (bare, _) = try await state(#"{"stateToken":"00st1","status":"\#(status)"}"#)
        #expect(full.transaction.status.rawValue == status)
        #expect(full.transaction.login == "ada@example.com")
        let (offered, none) = (Self.steps(full), Self.steps(bare))
        #expect(offered.count == links.count, "\(status): \(offered)")
        #expect(none.isEmpty, "\(status): \(none)")
    }

    /// The steps that a state offers, but for its cancellation.
    private static func steps(_ state: OktaState) -> [String] {
        func names(_ steps: (String, Any?)...) -> [String] { steps.compactMap { $0.1 == nil ? nil : $0.0 } }
        return switch state {
        case .unauthenticated(let state): names(("authenticate", state.authenticate))
        case .passwordWarning(let state): names(("change", state.changePassword), ("skip", state.skip))
        case .passwordExpired(let state): names(("change", state.changePassword))
        case .passwordReset(let state): names(("reset", state.resetPassword))
        case .recovery(let state): names(("answer", state.answer), ("redeem", state.redeem))
        case .recoveryChallenge(let state): names(("verify", state.verify), ("resend", state.resend))
        case .lockedOut(let state): names(("unlock", state.unlock))
        case .enrolling(let state): names(("skip", state.skip))
        case .activating(let state):
            names(("activate", state.activate), ("poll", state.poll), ("previous", state.previous))
        case .factorRequired: []
        case .factorChallenge(let state):
            names(("verify", state.verify), ("poll", state.poll), ("previous", state.previous))
        case .success(let state): names(("redirect", state.redirect))
        case .unknown: []
        }
    }

    @Test func anUnknownStateCanBeCancelledWithoutALink() async throws {
        let (state, bench) = try await state(#"{"stateToken":"00st1","status":"OF_TOMORROW","x":[1]}"#)
        guard case .unknown(let unknown) = state else {
            Issue.record("known: \(state)")
            return
        }
        #expect(unknown.transaction.body["x"]?[0]?.number?.saturatedInt == 1)
        bench.transport.append([.answer(#"{"relayState":""}"#)])
        #expect(try await unknown.cancel?() == nil)
        #expect(bench.sent.last == "/authn/cancel")
        #expect(bench.transport.received.last?.text == #"{"stateToken":"00st1"}"#)
    }

    @Test func linksKeepTheirQueryAndGetTheDevicesWish() async throws {
        let factor = OktaJSON.factor("push").replacing("/verify\"", with: "/verify?x=1\"")
        let (state, bench) = try await state(OktaJSON.state("MFA_REQUIRED", embedded: #","factors":[\#(factor)]"#))
        guard case .factorRequired(let required) = state, let step = required.factors.first.flatMap(required.verify)
        else {
            Issue.record("no factor: \(state)")
            return
        }
        bench.transport.append([.success()])
        var answer = OktaFactorAnswer.start
        answer.remembersDevice = true
        _ = try await step(answer)
        #expect(
            bench.transport.received.last?.request.path == "/api/v1/authn/factors/f1/verify?x=1&rememberDevice=true"
        )
    }

    /// Shapes that real servers send and that have to be read.
    static let shapes: [String] = [
        #"{"stateToken":"t","expiresAt":"2030-01-01T00:05:00Z","status":"MFA_CHALLENGE","_embedded":{"factor":[{"id":"1","factorType":"webauthn"}],"challenge":{"challenge":"aGk"}}}"#,
        #"{"stateToken":"t","status":"MFA_ENROLL","_embedded":{"factor":[{"factorType":"sms"}]}}"#,
        #"{"stateToken":"t","status":"PASSWORD_EXPIRED","_embedded":{"policy":{"complexity":{"excludeUsername":"true"}}}}"#,
        #"{"stateToken":"t","status":"PASSWORD_EXPIRED","_embedded":{"policy":{"complexity":{"excludeUsername":true}}}}"#,
        #"{"stateToken":"t","status":"MFA_CHALLENGE","_links":{"next":{"href":"https://example.okta.com/v"}}}"#,
        #"{"stateToken":"t","status":"MFA_CHALLENGE","_links":{"resend":{"name":"sms","href":"https://example.okta.com/r"}}}"#,
        #"{"stateToken":7,"status":"RECOVERY_CHALLENGE","_links":[],"_embedded":null}"#,
    ]

    @Test(arguments: shapes)
    func whatRealServersSendIsRead(body: String) async throws {
        let (state, _) = try await state(body)
        if body.contains("excludeUsername") { #expect(state.transaction.passwordPolicy?.excludesUsername == true) }
        if body.contains("factorType") { #expect(state.transaction.factors.count == 1) }
        if body.contains("05:00Z") { #expect(state.transaction.expiresAt?.rfc3339 == "2030-01-01T00:05:00Z") }
    }

    @Test func tokensOfLinksAreRedeemedOnce() async throws {
        let bench = try OktaBench([.expired("PASSWORD_RESET"), .error(105)])
        _ = try await bench.okta.redeem(recoveryToken: "rt1")
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.okta.authenticate(activationToken: "at1")
        }
        #expect(error?.kind == .challengeExpired)
        #expect(bench.sent == ["/authn/recovery/token {recoveryToken:rt1}", "/authn {token:at1}"])
    }

    @Test func aLockoutIsAStateThatCanBeUnlocked() async throws {
        let bench = try OktaBench([.lockedOut])
        let error = await #expect(throws: RecoveryError.self) {
            try await bench.okta.authenticate(OktaCredentials(username: "ada", password: "p"))
        }
        guard let error, case .lockedOut(let locked) = OktaState(after: error, continuing: bench.okta) else {
            Issue.record("no lockout")
            return
        }
        bench.transport.append([
            .answer(#"{"status":"RECOVERY_CHALLENGE","factorType":"EMAIL","factorResult":"WAITING"}"#)
        ])
        let next = try await locked.unlock?(OktaRecoveryRequest(username: "ada", via: .email))
        guard case .recoveryChallenge(let challenge) = next else {
            Issue.record("no challenge")
            return
        }
        #expect(challenge.isByMail)
        #expect(challenge.cancel == nil)
        #expect(bench.sent.last == "/authn/recovery/unlock {username:ada,factorType:EMAIL}")
    }

    @Test(arguments: ["https://evil.example/x", "//evil.example/x", "http://example.okta.com/x", "ftp://x", "::"])
    func aLinkElsewhereIsRefused(href: String) async throws {
        let (state, bench) = try await state(
            #"{"stateToken":"00st1","status":"PASSWORD_WARN","_links":{"skip":{"href":"\#(href)"}}}"#
        )
        guard case .passwordWarning(let warning) = state, let skip = warning.skip else {
            Issue.record("no step")
            return
        }
        let error = await #expect(throws: RecoveryError.self) { try await skip() }
        #expect(error?.cause is OktaLinkError)
        #expect(bench.transport.received.count == 1)
    }

    // MARK: Sending

    @Test(arguments: [
        (OktaFactorType.sms, Secret?.some("+15551234567"), "sms {profile:{phoneNumber:+15551234567}}"),
        (.sms, nil, "sms"), (.email, nil, "email"),
    ])
    func anActivationIsSentAsThePersonWants(type: OktaFactorType, number: Secret?, sent: String) async throws {
        let path = "\(OktaJSON.org)/factors/f9/lifecycle/activate"
        let links = ["sms", "email"].map { #"{"name":"\#($0)","href":"\#(path)/\#($0)","hints":{"allow":["POST"]}}"# }
        let factor =
            #","factor":{"id":"f9","factorType":"push","provider":"OKTA","_embedded":{"activation":{"factorResult":"WAITING","_links":{"send":[\#(links.joined(separator: ","))]}}}}"#
        let (state, bench) = try await state(OktaJSON.state("MFA_ENROLL_ACTIVATE", embedded: factor))
        guard case .activating(let activating) = state else {
            Issue.record("\(state)")
            return
        }
        #expect(activating.send(via: .call)?.link == nil)
        let send = try #require(activating.send(via: type, to: number))
        bench.transport.append([.answer("{}")])
        #expect(try await send()?.transaction.status == nil)
        #expect(bench.sent.last == "/authn/factors/f9/lifecycle/activate/\(sent)")
    }

    @Test func whatAnAppWantsGoesAlongWithNameAndPassword() async throws {
        let whole =
            "/authn {username:ada,password:p,audience:app1,relayState:back,context:{deviceToken:26q43Ak9Eh04p7H6Nnx0m69JqYOrfVBY}}"
        let configuration = OktaConfiguration(
            audience: "app1",
            relayState: "back",
            contextDeviceToken: "26q43Ak9Eh04p7H6Nnx0m69JqYOrfVBY"
        )
        let bench = try OktaBench([.success(), .success(), .session], configuration: configuration)
        _ = try await bench.okta.authenticate(OktaCredentials(username: "ada", password: "p"))
        _ = try await bench.okta.signIn(identifier: "ada", password: "p", answering: Person())
        #expect(bench.sent.prefix(2) == [whole, whole])
        let own = OktaCredentials(username: "ada", password: "p", audience: "app2", relayState: "r", deviceToken: "d")
        let bare = try OktaBench([.success()])
        _ = try await bare.okta.authenticate(own)
        #expect(
            bare.sent == ["/authn {username:ada,password:p,audience:app2,relayState:r,context:{deviceToken:d}}"]
        )
    }
}
